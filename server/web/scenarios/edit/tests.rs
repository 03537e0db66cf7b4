use super::*;
use crate::money::Decimal;
use crate::scenario::file::read;
use crate::scenario::template::templates;

const TEXT: &str = r#"
name = "two ways"
months = 12
[[work]]
name = "training"
accelerator = "nvidia-h100-sxm"
demand = { shape = "flat", gpus = 64, hours_per_day = 18 }
[[option]]
name = "On demand"
place = [{ supplier = "AWS", on_demand = { price = 6.88 } }]
[[option]]
name = "Our own"
[[option.place]]
owned = { gpus = "best", machines = { node_price = 375_000 } }
on_demand = { price = 6.88 }
"#;

fn base() -> Scenario {
    read(TEXT).unwrap()
}

fn of(base: &Scenario, edits: Vec<Edit>) -> Result<Edited> {
    Edited::of(base, edits, &Arc::default())
}

fn with_form(
    base: &Scenario,
    edits: &[Edit],
    form: &[(String, String)],
    act: Option<Edit>,
) -> Result<Edited> {
    Edited::with_form(base, edits, form, act, &Arc::default())
}

fn set(pointer: &str, text: &str) -> Edit {
    Edit::Set(pointer.to_owned(), text.to_owned())
}

/// What a browser sends of the form as the page shows it.
fn form(edited: &Edited) -> Vec<(String, String)> {
    let tree = tree(&edited.scenario);
    fields(&edited.scenario).iter().map(|it| (it.pointer.clone(), edited.text(it, &tree))).collect()
}

fn typed(edited: &Edited, pointer: &str, text: &str) -> Vec<(String, String)> {
    let mut form = form(edited);
    text.clone_into(&mut form.iter_mut().find(|(name, _)| name == pointer).unwrap().1);
    form
}

#[test]
fn every_field_of_every_template_has_a_place_in_its_document() {
    for template in templates() {
        let scenario = read(template.text).unwrap();
        let tree = tree(&scenario);
        for field in fields(&scenario) {
            // What a dollar is worth stands in documents in other currencies.
            let is_of_dollar = field.pointer.starts_with("/dollar/");
            let has_place = tree.pointer(&field.pointer).is_some();
            assert!(has_place || is_of_dollar, "{}: {}", template.handle, field.pointer);
        }
    }
}

#[test]
fn a_form_that_is_sent_as_it_is_edits_nothing() {
    let all = templates().iter().map(|it| read(it.text).unwrap()).chain([base()]);
    for base in all {
        let edited = of(&base, Vec::new()).unwrap();
        let again = with_form(&base, &[], &form(&edited), None).unwrap();
        assert_eq!((again.edits, again.scenario == base), (Vec::new(), true), "{}", base.name);
    }
}

#[test]
fn blocks_and_spend_are_added_with_their_fields_and_removed() {
    let base = base();
    let adds = ["/option/0/place/0/blocks", "/option/0/spend", "/option/0/place/0/spend_rate"];
    let adds = adds.map(|it| Edit::Add(it.to_owned())).to_vec();
    let added = of(&base, adds).unwrap();
    let option = &added.scenario.options[0];
    assert_eq!(option.places[0].blocks[0].hours, 168);
    assert!(option.spend.is_some() && option.places[0].spend_rate.is_some());
    let again = with_form(&base, &added.edits, &form(&added), None).unwrap();
    assert_eq!(again.edits, added.edits);
    // A path is one text.
    let path = "/option/0/place/0/blocks/0/rate/path";
    let stepped = typed(&added, path, "12:0.80, 24: 0.6");
    let stepped = with_form(&base, &added.edits, &stepped, None).unwrap();
    assert_eq!(stepped.edits.last(), Some(&set(path, "12: 0.8, 24: 0.6")));
    let block = &stepped.scenario.options[0].places[0].blocks[0];
    assert_eq!(block.rate.path, "12: 0.8, 24: 0.6".parse().unwrap());
    let gone = ["/option/0/place/0/blocks/0", "/option/0/spend", "/option/0/place/0/spend_rate"];
    let edits = added.edits.into_iter().chain(gone.map(|it| Edit::Remove(it.to_owned())));
    assert_eq!(of(&base, edits.collect()).unwrap().scenario, base);
}

#[test]
fn what_differs_is_what_an_address_says() {
    let base = base();
    let none = of(&base, Vec::new()).unwrap();
    let price = "/option/0/place/0/on_demand/price";
    let first = with_form(&base, &[], &typed(&none, price, "5.20"), None).unwrap();
    assert_eq!(first.edits, [set(price, "5.2")]);
    let unclear = with_form(&base, &first.edits, &typed(&first, "/cost_of_capital", "12,5"), None);
    assert_eq!(unclear.unwrap().misread[0].text, "12,5", "what means nothing stays as it was typed");
    // A share is typed in percent and kept as one of 1.
    let second = typed(&first, "/cost_of_capital", "12.5 %");
    let second = with_form(&base, &first.edits, &second, None).unwrap();
    assert_eq!(second.edits, [set("/cost_of_capital", "0.125"), set(price, "5.2")]);
    // And back.
    let third = with_form(&base, &second.edits, &typed(&second, price, "6.88"), None).unwrap();
    assert_eq!(third.edits, [set("/cost_of_capital", "0.125")]);
}

#[test]
fn structure_is_edited_in_order_and_fields_follow() {
    let base = base();
    let copied = with_form(&base, &[], &[], Some(Edit::Copy("/option/0".to_owned()))).unwrap();
    let names: Vec<&str> = copied.scenario.options.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["On demand", "On demand (2)", "Our own"]);
    let price = "/option/1/place/0/on_demand/price";
    let cheaper = with_form(&base, &copied.edits, &typed(&copied, price, "3"), None).unwrap();
    let remove = Some(Edit::Remove("/option/0".to_owned()));
    let removed = with_form(&base, &cheaper.edits, &form(&cheaper), remove).unwrap();
    assert_eq!(removed.edits.len(), 3);
    assert_eq!(removed.scenario.options[0].name, "On demand (2)");
    assert_eq!(removed.scenario.options[0].places[0].on_demand.as_ref().unwrap().price, 3.into());
    // The address alone gives the same.
    assert_eq!(of(&base, removed.edits.clone()).unwrap().scenario, removed.scenario);
}

#[test]
fn ways_of_paying_come_with_a_listed_price_and_go() {
    let base = base();
    for way in ["committed", "spot", "owned", "others", "moved", "porting"] {
        let add = Edit::Add(format!("/option/0/place/0/{way}"));
        let added = of(&base, vec![add]).unwrap();
        let compared = added.scenario.compare();
        assert!(compared.is_ok(), "{way}: {compared:?}");
    }
    let option = of(&base, vec![Edit::Add("/option".to_owned())]).unwrap();
    let added = &option.scenario.options[2];
    let rate = added.places[0].on_demand.clone().unwrap();
    assert!(rate.price > Decimal::ZERO && rate.date.is_some() && !rate.source.is_empty());
    // Called by who asks that price.
    let supplier = added.places[0].supplier.as_str();
    assert!(!supplier.is_empty() && rate.source.starts_with(supplier), "{}", rate.source);
    assert_eq!(added.name, format!("On demand, {supplier}"));
    let twice = of(&base, vec![Edit::Add("/option".to_owned()); 2]).unwrap();
    assert_eq!(twice.scenario.options[3].name, format!("On demand, {supplier} (2)"));
    let gone = of(&base, vec![Edit::Remove("/option/1/place/0/on_demand".to_owned())]).unwrap();
    assert_eq!(gone.scenario.options[1].places[0].on_demand, None);
    let work = of(&base, vec![Edit::Add("/work".to_owned())]).unwrap();
    assert_eq!(work.scenario.work[1].name, "work 2");
}

#[test]
fn what_was_made_last_is_known() {
    let made = |edits: Vec<Edit>| of(&base(), edits).unwrap().made();
    assert_eq!(made(vec![Edit::Add("/option".to_owned())]).as_deref(), Some("/option/2"));
    assert_eq!(made(vec![Edit::Copy("/option/0".to_owned())]).as_deref(), Some("/option/1"));
    let spot = "/option/0/place/0/spot";
    assert_eq!(made(vec![Edit::Add(spot.to_owned())]).as_deref(), Some(spot));
    let block = Edit::Add("/option/0/place/0/blocks".to_owned());
    assert_eq!(made(vec![block.clone()]).as_deref(), Some("/option/0/place/0/blocks/0"));
    assert_eq!(made(vec![block, set("/months", "24")]), None);
}

#[test]
fn a_kind_brings_fields_of_its_own() {
    let base = base();
    let none = of(&base, Vec::new()).unwrap();
    for (pointer, kinds) in [
        ("/work/0/demand/shape", &["between", "swinging", "levels", "runs"][..]),
        ("/option/1/place/0/owned/machines/housing/in", &["colocation"]),
        ("/option/1/place/0/owned/machines/residual/by", &["share"]),
        ("/option/1/place/0/owned/machines/fabric/by", &["port"]),
        ("/option/1/place/0/owned/machines/draw/of", &["gpu"]),
    ] {
        for kind in kinds {
            let changed = with_form(&base, &[], &typed(&none, pointer, kind), None).unwrap();
            assert_eq!(changed.edits, [set(pointer, kind)]);
            assert!(changed.scenario.compare().is_ok(), "{kind}");
            let back = with_form(&base, &changed.edits, &form(&changed), None).unwrap();
            assert_eq!(back.edits, changed.edits);
        }
    }
}

#[test]
fn a_lease_asks_what_a_month_costs() {
    let base = base();
    let machines = "/option/1/place/0/owned/machines/tenure";
    let leased = set(&format!("{machines}/nodes"), "leased");
    let asked = of(&base, vec![leased.clone()]).unwrap().scenario.compare().unwrap_err().to_string();
    assert!(asked.contains("owned.machines.tenure.price"), "{asked}");
    let priced = of(&base, vec![leased, set(&format!("{machines}/price"), "9500")]).unwrap();
    let compared = priced.scenario.compare().unwrap();
    assert!(compared.options[1].lines.iter().any(|it| it.name == "Lease of nodes"));
}

#[test]
fn what_is_not_there_is_not_edited() {
    let base = base();
    for edit in [
        set("/nothing", "1"),
        set("/option/7/name", "x"),
        set("/work/0/demand/shape", "hours"),
        Edit::Copy("/option/2".to_owned()),
        Edit::Copy("/months".to_owned()),
        Edit::Remove("/option/0/place/0/spot".to_owned()),
        Edit::Remove("/months".to_owned()),
        Edit::Remove("/work/0/demand".to_owned()),
        Edit::Add("/option/0/place/0/on_demand".to_owned()),
        Edit::Add("/months".to_owned()),
        Edit::Add(String::new()),
    ] {
        assert!(of(&base, vec![edit.clone()]).is_err(), "{edit:?}");
    }
}

#[test]
fn an_offer_sets_a_rate_with_its_source_and_is_set_once() {
    let base = base();
    let none = of(&base, Vec::new()).unwrap();
    let rate = "/option/0/place/0/on_demand";
    let choices = none.prices.choices(&base, &format!("{rate}/price"));
    let offer = |supplier: &str| {
        let found = choices.iter().find(|it| it.label.starts_with(supplier)).unwrap();
        found.act.rsplit_once('=').unwrap().1.to_owned()
    };
    assert!(choices.len() > 5);
    let taken = none.with_offer(&base, rate, &offer("CoreWeave")).unwrap();
    let of_rate = |edited: &Edited| edited.scenario.options[0].places[0].on_demand.clone().unwrap();
    assert_eq!(of_rate(&taken).price.to_string(), "6.155");
    assert_eq!(of_rate(&taken).date, Some("2026-09-20".parse().unwrap()));
    assert!(of_rate(&taken).source.starts_with("CoreWeave HGX H100, north-america"));
    assert_eq!((of_rate(&taken).region.as_str(), taken.edits.len()), ("north-america", 5));
    assert_eq!(taken.scenario.options[0].places[0].supplier, "CoreWeave");
    // An option that is called by who sells it is called by who sells it now.
    let named =
        of(&base, vec![set("/option/0/name", "On demand, AWS"), set("/option/0/place/0/supplier", "AWS")]);
    let taken_by_name = named.unwrap().with_offer(&base, rate, &offer("CoreWeave")).unwrap();
    assert_eq!(taken_by_name.scenario.options[0].name, "On demand, CoreWeave");
    let again = taken.with_offer(&base, rate, &offer("Google Cloud")).unwrap();
    assert_eq!((of_rate(&again).region.as_str(), again.edits.len()), ("us-central1", 5));
    assert!(again.with_offer(&base, rate, "0123456789abcdef").is_err());
    assert!(of(&base, Vec::new()).unwrap().with_offer(&base, "/months", &offer("Lambda")).is_err());
}

#[test]
fn an_offer_of_a_term_sets_the_term() {
    let add = Edit::Add("/option/0/place/0/committed".to_owned());
    let base = base();
    let edited = of(&base, vec![add]).unwrap();
    let rate = "/option/0/place/0/committed/0/rate";
    let of_year = edited.prices.choices(&edited.scenario, &format!("{rate}/price"));
    let of_year = of_year.iter().find(|it| it.label.contains("1 year")).unwrap().act.clone();
    let taken = edited.with_offer(&base, rate, of_year.rsplit_once('=').unwrap().1).unwrap();
    let committed = &taken.scenario.options[0].places[0].committed[0];
    assert_eq!((committed.months, committed.rate.price.to_string().as_str()), (12, "7.67"));
}

/// The scenario after edits, each of which has to leave one that can be computed with.
fn after(edits: &[Edit]) -> Edited {
    for until in 1..=edits.len() {
        let edited = of(&base(), edits[..until].to_vec()).unwrap();
        assert!(edited.misread.is_empty() && edited.scenario.compare().is_ok(), "{:?}", edits[until - 1]);
    }
    of(&base(), edits.to_vec()).unwrap()
}

#[test]
fn data_that_moves_is_added_priced_and_taken_away() {
    let moved = "/option/0/place/0/moved";
    let edits = [
        Edit::Add(moved.to_owned()),
        Edit::Set(format!("{moved}/0/gigabytes"), "500000".to_owned()),
        Edit::Set(format!("{moved}/0/every"), "once".to_owned()),
        Edit::Set(format!("{moved}/0/rates/of"), "flat".to_owned()),
        Edit::Set(format!("{moved}/0/rates/price"), "0.08".to_owned()),
    ];
    let edited = after(&edits);
    let line = |edited: &Edited| {
        let compared = edited.scenario.compare().unwrap();
        compared.options[0].lines.iter().find(|it| it.name == "Data 1").map(|it| it.cost)
    };
    assert_eq!(line(&edited), Some(40_000.into()));
    let away: Vec<Edit> = edits.into_iter().chain([Edit::Remove(format!("{moved}/0"))]).collect();
    assert_eq!(line(&after(&away)), None);
}

#[test]
fn people_are_counted_by_steps_that_are_added_and_removed() {
    let steps = "/option/1/place/0/owned/machines/staff/steps";
    let edits = [Edit::Add(steps.to_owned()), Edit::Set(format!("{steps}/3/people"), "6".to_owned())];
    let people = |edited: &Edited| {
        let owned = edited.scenario.options[1].places[0].owned.clone().unwrap();
        [256, 512].map(|gpus| owned.machines.staff.people(gpus).to_string())
    };
    assert_eq!(people(&after(&edits)), ["3.5", "6"]);
    let gone = after(&[Edit::Remove(format!("{steps}/2"))]);
    assert_eq!(people(&gone)[0], "3.5", "one more for each 256 beyond the last step");
}

#[test]
fn a_place_does_the_works_that_are_named() {
    let work = Edit::Add("/work".to_owned());
    let place = Edit::Add("/option/0/place".to_owned());
    let serves = |place: usize, names: &str| set(&format!("/option/0/place/{place}/serves"), names);
    let edits = vec![work, place, serves(0, "training"), serves(1, " work 2 ,")];
    let edited = of(&base(), edits).unwrap();
    assert!(edited.scenario.compare().is_ok());
    assert_eq!(edited.scenario.options[0].places[1].serves, ["work 2"]);
    // As the form shows it nothing is edited.
    let again = with_form(&base(), &edited.edits, &form(&edited), None).unwrap();
    assert_eq!(again.scenario, edited.scenario);
}

#[test]
fn tokens_are_entered_with_the_price_of_a_million() {
    let edits = vec![
        Edit::Remove("/option/0/place/0/on_demand".to_owned()),
        Edit::Add("/option/0/place/0/per_million_tokens".to_owned()),
        set("/option/0/place/0/per_million_tokens/price", "2"),
        set("/work/0/tokens_per_hour", "1,000,000"),
    ];
    let edited = of(&base(), edits).unwrap();
    let compared = edited.scenario.compare().unwrap();
    // 64 GPUs for 18 hours of each day of 12 months of 730 hours: a million tokens each, at 2.00.
    assert_eq!(compared.options[0].total, compared.work[0].gpu_hours.times(2));
}

#[test]
fn measured_hours_stay_until_a_shape_takes_their_place() {
    let mut base = base();
    base.work[0].demand = crate::scenario::profile::Shape::Hours { gpus: vec![8.into(), 16.into()] };
    let none = of(&base, Vec::new()).unwrap();
    let shape = fields(&base).into_iter().find(|it| it.pointer == "/work/0/demand/shape").unwrap();
    assert_eq!(shape.unit, "2 measured hours, 12 GPUs on average");
    let same = with_form(&base, &[], &form(&none), None).unwrap();
    assert_eq!((same.edits, same.scenario == base), (Vec::new(), true));
    let typed = typed(&none, "/work/0/demand/shape", "flat");
    let flat = with_form(&base, &[], &typed, None).unwrap();
    assert!(flat.scenario.compare().is_ok());
}

fn set_edit(pointer: &str, text: &str) -> Edit {
    Edit::Set(pointer.to_owned(), text.to_owned())
}

fn ten_nodes() -> Scenario {
    read(templates().iter().find(|it| it.handle == "ten-nodes").unwrap().text).unwrap()
}

#[test]
fn another_currency_converts_every_amount_at_the_rate_that_was_entered() {
    let base = ten_nodes();
    let edits = vec![
        set_edit("/currency", "JPY"),
        set_edit("/dollar/worth", "150"),
        set_edit("/dollar/date", "2026-10-31"),
    ];
    let edited = of(&base, edits).unwrap();
    assert_eq!((edited.misread.len(), edited.scenario.currency.as_str()), (0, "JPY"));
    let owned = |scenario: &Scenario| scenario.options[0].places[0].owned.clone().unwrap().machines;
    assert_eq!(owned(&edited.scenario).node_price, owned(&base).node_price.times(150));
    assert_eq!(owned(&edited.scenario).staff.loaded_cost, owned(&base).staff.loaded_cost.times(150));
    let on_demand = edited.scenario.options[2].places[0].on_demand.clone().unwrap();
    assert_eq!(on_demand.price, "1032".parse().unwrap(), "6.88 dollars");
    assert!(on_demand.source.ends_with("converted from USD at 150 of 2026-10-31"), "{}", on_demand.source);
    // The same work costs 150 times as much, and the same option least.
    let [dollars, yen] = [&base, &edited.scenario].map(|it| it.compare().unwrap());
    assert_eq!(yen.cheapest, dollars.cheapest);
    for (dollars, yen) in dollars.options.iter().zip(&yen.options) {
        assert_eq!(yen.total.round(2), dollars.total.times(150).round(2));
    }
    // Machines that are added are converted, too; and a form that is sent as it is edits nothing more.
    let added = of(
        &edited.scenario,
        vec![
            Edit::Remove("/option/0/place/0/owned".to_owned()),
            Edit::Add("/option/0/place/0/owned".to_owned()),
        ],
    );
    assert_eq!(owned(&added.unwrap().scenario).node_price, 56_250_000.into());
    let again = with_form(&base, &edited.edits, &form(&edited), None).unwrap();
    assert_eq!(again.scenario, edited.scenario);
    // And back, at the same rate.
    let back = of(&edited.scenario, vec![set_edit("/currency", "USD")]).unwrap().scenario;
    assert_eq!((owned(&back).node_price.round(4), back.currency.as_str()), (375_000.into(), "USD"));
}

#[test]
fn without_a_rate_another_currency_asks_what_a_dollar_is_worth() {
    let base = ten_nodes();
    let edited = of(&base, vec![set_edit("/currency", "JPY")]).unwrap();
    let asked: Vec<&str> = edited.misread.iter().map(|it| it.pointer.as_str()).collect();
    assert_eq!(asked, ["/currency", "/dollar/worth"]);
    assert!(edited.misread[1].expected.contains("375,000 USD of 2025-03"));
    assert_eq!(edited.scenario, base, "nothing is yen that was dollars");
    let mut form = form(&edited);
    let worth = form.iter_mut().find(|(pointer, _)| pointer == "/dollar/worth").unwrap();
    worth.1 = "150".to_owned();
    let answered = with_form(&base, &edited.edits, &form, None).unwrap();
    assert_eq!((answered.misread.len(), answered.scenario.currency.as_str()), (0, "JPY"));
    let wrong = of(&base, vec![set_edit("/currency", "dollars")]).unwrap();
    assert!(wrong.misread[0].expected.starts_with("expected a currency of ISO 4217"));
    // One that was written in yen without a rate asks for it, when something in dollars is added.
    let mut yen = base;
    yen.currency = crate::money::Currency::exactly("JPY");
    let added = of(&yen, vec![Edit::Add("/option/2/place/0/owned".to_owned())]).unwrap();
    assert_eq!(added.misread[0].pointer, "/dollar/worth");
    assert!(added.scenario.options[2].places[0].owned.is_none());
}
