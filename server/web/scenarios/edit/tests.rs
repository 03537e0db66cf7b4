use super::*;
use crate::economics::file::read;
use crate::economics::template::templates;
use crate::economics::uncertainty::inputs;
use crate::money::Decimal;
use crate::web::scenarios::field::Takes;

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
            // A range is there once somebody states it, and what a dollar is worth in documents in other currencies.
            let is_there = tree.pointer(&field.pointer).is_some()
                || field.pointer.contains("/ranges/")
                || field.pointer.starts_with("/dollar/");
            assert!(is_there, "{}: {}", template.handle, field.pointer);
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
    base.work[0].demand = crate::economics::profile::Shape::Hours { gpus: vec![8.into(), 16.into()] };
    let none = of(&base, Vec::new()).unwrap();
    let shape = fields(&base).into_iter().find(|it| it.pointer == "/work/0/demand/shape").unwrap();
    assert_eq!(shape.unit, "2 measured hours, 12 GPUs on average");
    let same = with_form(&base, &[], &form(&none), None).unwrap();
    assert_eq!((same.edits, same.scenario == base), (Vec::new(), true));
    let typed = typed(&none, "/work/0/demand/shape", "flat");
    let flat = with_form(&base, &[], &typed, None).unwrap();
    assert!(flat.scenario.compare().is_ok());
}

fn ten_nodes() -> Scenario {
    read(templates().iter().find(|it| it.handle == "ten-nodes").unwrap().text).unwrap()
}

#[test]
fn another_currency_converts_every_amount_at_the_rate_that_was_entered() {
    let base = ten_nodes();
    let edits = vec![set("/currency", "JPY"), set("/dollar/worth", "150"), set("/dollar/date", "2026-10-31")];
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
    let back = of(&edited.scenario, vec![set("/currency", "USD")]).unwrap().scenario;
    assert_eq!((owned(&back).node_price.round(4), back.currency.as_str()), (375_000.into(), "USD"));
}

#[test]
fn without_a_rate_another_currency_asks_what_a_dollar_is_worth() {
    let base = ten_nodes();
    let edited = of(&base, vec![set("/currency", "JPY")]).unwrap();
    let asked: Vec<&str> = edited.misread.iter().map(|it| it.pointer.as_str()).collect();
    assert_eq!(asked, ["/currency", "/dollar/worth"]);
    assert!(edited.misread[1].expected.contains("built-in prices are in USD"));
    assert_eq!(edited.scenario, base, "nothing is yen that was dollars");
    let mut form = form(&edited);
    let worth = form.iter_mut().find(|(pointer, _)| pointer == "/dollar/worth").unwrap();
    worth.1 = "150".to_owned();
    let answered = with_form(&base, &edited.edits, &form, None).unwrap();
    assert_eq!((answered.misread.len(), answered.scenario.currency.as_str()), (0, "JPY"));
    let wrong = of(&base, vec![set("/currency", "dollars")]).unwrap();
    assert!(wrong.misread[0].expected.starts_with("enter an ISO 4217 currency"));
    // One that was written in yen without a rate asks for it, when something in dollars is added.
    let mut yen = base;
    yen.currency = crate::money::Currency::exactly("JPY");
    let added = of(&yen, vec![Edit::Add("/option/2/place/0/owned".to_owned())]).unwrap();
    assert_eq!(added.misread[0].pointer, "/dollar/worth");
    assert!(added.scenario.options[2].places[0].owned.is_none());
}

#[test]
fn another_currency_converts_the_ranges_of_amounts_and_of_nothing_else() {
    let mut base = ten_nodes();
    let place = &mut base.options[2].places[0];
    let stated = |low: &str, high: &str| {
        let [low, high] = [low, high].map(|it| Some(it.parse().unwrap()));
        crate::economics::comparison::Stated { low, high, source: "who sells it".to_owned() }
    };
    place.ranges.insert("on_demand.price".to_owned(), stated("5", "9"));
    place.ranges.insert("performance".to_owned(), stated("0.8", "1.2"));
    let edited = of(&base, vec![set("/currency", "JPY"), set("/dollar/worth", "150")]).unwrap();
    let ranges = &edited.scenario.options[2].places[0].ranges;
    assert_eq!(ranges["on_demand.price"], stated("750", "1350"));
    assert_eq!(ranges["performance"], stated("0.8", "1.2"));
}

#[test]
fn a_range_is_entered_beside_its_number_and_goes_with_it() {
    let base = base();
    let low = "/option/0/place/0/ranges/on_demand.price/low";
    let high = low.replace("/low", "/high");
    let none = of(&base, Vec::new()).unwrap();
    assert_eq!(none.text(fields(&base).iter().find(|it| it.pointer == low).unwrap(), &tree(&base)), "");
    let stated = with_form(&base, &[], &typed(&none, low, "5"), None).unwrap();
    assert_eq!(stated.edits, [set(low, "5")]);
    let stated = with_form(&base, &stated.edits, &typed(&stated, &high, "9"), None).unwrap();
    let range = &stated.scenario.options[0].places[0].ranges["on_demand.price"];
    assert_eq!((range.low, range.high), (Some(5.into()), Some(9.into())));
    assert!(stated.scenario.compare().unwrap().warnings.is_empty());
    // What says nothing any more is none, and what it is of takes it along.
    let empty = with_form(&base, &stated.edits, &typed(&stated, low, ""), None).unwrap();
    let empty = with_form(&base, &empty.edits, &typed(&empty, &high, ""), None).unwrap();
    assert_eq!((empty.edits.len(), empty.scenario == base), (0, true));
    let edits = stated.edits.iter().cloned().chain([
        Edit::Add("/option/0/place/0/spot".to_owned()),
        Edit::Remove("/option/0/place/0/on_demand".to_owned()),
    ]);
    let gone = of(&base, edits.collect()).unwrap();
    assert!(gone.scenario.options[0].places[0].ranges.is_empty());
}

#[test]
fn ranges_of_a_list_move_with_its_items() {
    let base = base();
    let committed = "/option/0/place/0/committed";
    let range = |n: usize| format!("/option/0/place/0/ranges/committed.{n}.rate.price/high");
    let adds = [Edit::Add(committed.to_owned()), Edit::Add(committed.to_owned())];
    let edits = adds.into_iter().chain([
        set(&format!("{committed}/0/rate/price"), "3"),
        set(&format!("{committed}/1/rate/price"), "4"),
        set(&range(0), "5"),
        set(&range(1), "6"),
        Edit::Remove(format!("{committed}/0")),
    ]);
    let edited = of(&base, edits.collect()).unwrap();
    let place = &edited.scenario.options[0].places[0];
    let ranges: Vec<(&str, Option<Decimal>)> =
        place.ranges.iter().map(|(key, it)| (key.as_str(), it.high)).collect();
    assert_eq!(ranges, [("committed.0.rate.price", Some(6.into()))]);
}

/// Each way to pay, beside an option that stays as it is.
const KINDS: [(&str, &str); 13] = [
    ("on demand", "support = 0.1, availability = 0.999, obtainable = 0.9, on_demand = { price = 6 }"),
    (
        "reserved",
        "on_demand = { price = 6 }, committed = [{ months = 2, gpus = \"best\", upfront = 90, rate = { price = 3, path = { by = \"decline\", yearly = 0.5 } } }]",
    ),
    (
        "in blocks",
        "on_demand = { price = 6 }, blocks = [{ gpus = 8, hours = 100, every_months = 1, first_month = 1, starts_at_hour = 9, rate = { price = 2 } }]",
    ),
    ("spot", "on_demand = { price = 6 }, spot = { rate = { price = 2 }, gpus = 4 }"),
    ("cheaper hours", "on_demand = { price = 6 }, cheaper_hours = { from = 20, until = 6, factor = 0.5 }"),
    ("by the token", "per_million_tokens = { price = 15 }"),
    (
        "under a spend commitment",
        "on_demand = { price = 6 }, spend_rate = { price = 4, path = { by = \"decline\", yearly = 0.5 } }",
    ),
    ("owned", "on_demand = { price = 6 }, owned = { gpus = \"best\" }"),
    (
        "owned, of other kinds",
        "on_demand = { price = 6 }, owned = { gpus = 24, refresh = { price_ratio = 1.1, performance_ratio = 1.5 }, machines = { life_years = 0.2, demand_charge = 5, fabric = { by = \"port\", price = 1250, per_node = 8 }, draw = { of = \"gpu\", idle_kw = 0.1, load_kw = 0.7, node_factor = 1.8 }, residual = { by = \"share\", share = 0.3 } } }",
    ),
    (
        "leased",
        "on_demand = { price = 6 }, owned = { gpus = 16, machines = { tenure = { nodes = \"leased\", price = 9000 } } }",
    ),
    (
        "in a colocation",
        "on_demand = { price = 6 }, owned = { gpus = 16, machines = { housing = { in = \"colocation\", price = 200, energy = \"included\" } } }",
    ),
    (
        "ported",
        "performance = 0.8, on_demand = { price = 4 }, porting = { releases_per_year = 2, ported_anew = 0.1, months_of_both = 1, meanwhile = { price = 6 } }",
    ),
    (
        "moved, and others",
        "on_demand = { price = 6 }, moved = [{ name = \"d\", rates = { of = \"aws\" }, gigabytes = 9000, every = \"month\", other_gigabytes = 500 }], others = [{ name = \"o\", amount = 5, per = \"month\" }]",
    ),
];

/// What changes nothing where it does not apply, and why the form offers it all the same.
const APPLIES_ELSEWHERE: [(&str, &str); 9] = [
    ("/seed", "draws begin with it; the exact answer has none"),
    ("/interruptible", "is of the work: it may run on spot, and move to cheaper hours"),
    ("/within_hours", "is of the work: it may move to cheaper hours"),
    ("/unserved_cost", "is of the work: it counts where hours may be missing"),
    ("/tokens_per_hour", "is of the work: it counts where it is paid by the token"),
    ("/demand/noise", "is of the work: a little noise is rounded away"),
    ("/staff/one_more_per", "counts beyond the last step of people"),
    ("/up_to_gpus", "a step of people that the machines do not reach"),
    ("/people", "a step of people that the machines do not reach"),
];

/// All that is computed, without what only names something.
fn figures(scenario: &Scenario) -> Option<Value> {
    fn without_names(value: &mut Value) {
        match value {
            Value::Object(entries) => {
                for name in ["name", "supplier", "serves", "formula", "warnings", "currency"] {
                    entries.remove(name);
                }
                entries.values_mut().for_each(without_names);
            }
            Value::Array(items) => items.iter_mut().for_each(without_names),
            _ => {}
        }
    }
    let ranges: Vec<_> = inputs(scenario).into_iter().map(|it| (it.low, it.high)).collect();
    let mut all = serde_json::to_value((scenario.compare().ok()?, ranges)).unwrap();
    without_names(&mut all);
    Some(all)
}

/// Other values that a field takes.
fn others(field: &Field, text: &str) -> Vec<String> {
    let number = |text: &str| text.parse::<Decimal>().ok();
    if field.pointer.contains("/ranges/") && field.takes != Takes::Text {
        // Lower and higher than anything that is entered above, as far as it can be so.
        return ["0.01", "1.001", "0.99", "900000"].map(str::to_owned).to_vec();
    }
    match field.takes {
        Takes::OneOf(words) => {
            words.iter().map(|(word, _)| (*word).to_owned()).filter(|it| it != text).collect()
        }
        Takes::Path => vec!["-30 %".to_owned(), "1: 0.5".to_owned()],
        Takes::Gpus => vec!["8".to_owned(), "40".to_owned(), "best".to_owned()],
        Takes::Text | Takes::Names | Takes::DayOrNone => Vec::new(),
        Takes::Whole | Takes::WholeOrNone => {
            let own = text.parse::<u32>().unwrap_or(0);
            [own + 1, own + 3, own / 2, own * 4].iter().map(ToString::to_string).collect()
        }
        Takes::Number | Takes::NumberOrNone | Takes::Percent | Takes::PercentOrNone => {
            let own = number(text).unwrap_or_default();
            let times = |tenths| own.multiply(Decimal::new(tenths, 1)).normalize().to_string();
            vec![times(13), times(7), "0.5".to_owned(), "1.5".to_owned(), "3".to_owned()]
        }
    }
}

#[test]
fn each_field_changes_a_figure_or_says_that_it_has_no_effect() {
    let kind_of = |pointer: &str| -> String {
        pointer.split('/').filter(|it| it.parse::<usize>().is_err()).collect::<Vec<_>>().join("/")
    };
    let (mut idle, mut works) = (Vec::new(), std::collections::BTreeSet::new());
    for (kind, place) in KINDS {
        let spend = if kind.contains("spend") { "spend = { per_hour = 40, months = 2 }" } else { "" };
        let text = format!(
            r#"
months = 3
[[work]]
name = "w"
demand = {{ shape = "swinging", base = 20, day_swing = 0.5, weekend = 0.4, noise = 0.2, seed = 3 }}
interruptible = 0.4
within_hours = 12
unserved_cost = 9
availability = 0.99
tokens_per_hour = 300_000
[[option]]
name = "Asked about"
{spend}
place = [{{ {place} }}]
[[option]]
name = "As it is"
place = [{{ availability = 0.999, on_demand = {{ price = 5 }} }}]
"#
        );
        let base = read(&text).unwrap_or_else(|wrong| panic!("{kind}: {wrong:?}"));
        let (before, tree) = (figures(&base).unwrap(), tree(&base));
        for field in fields(&base).iter().filter(|it| !it.pointer.starts_with("/option/1")) {
            let own = field.text_in(&tree);
            let others = others(field, &own);
            if others.is_empty() {
                continue;
            }
            let counts = others.iter().filter(|it| **it != own).any(|other| {
                let Ok(edited) = of(&base, vec![set(&field.pointer, other)]) else { return true };
                if !edited.misread.is_empty() {
                    return false;
                }
                let said = field.pointer.trim_start_matches('/').replace('/', ".");
                // Another kind may ask for a field of its own.
                let beside = said.rsplit_once('.').map_or(said.as_str(), |it| it.0);
                match edited.scenario.compare() {
                    Err(refused) => refused.0.iter().any(|it| it.field.starts_with(beside)),
                    Ok(compared) => {
                        let is_warned = |it: &crate::economics::Finding| {
                            it.field == said && it.message.contains("no effect")
                        };
                        compared.warnings.iter().any(is_warned)
                            || figures(&edited.scenario).as_ref() != Some(&before)
                    }
                }
            });
            if counts {
                works.insert(kind_of(&field.pointer));
            } else {
                idle.push((kind, field.pointer.clone()));
            }
        }
    }
    let applies = |pointer: &str| APPLIES_ELSEWHERE.iter().any(|(end, _)| pointer.ends_with(end));
    let silent: Vec<_> = idle.iter().filter(|(_, pointer)| !applies(pointer)).collect();
    assert!(silent.is_empty(), "these change nothing, and nothing says so: {silent:#?}");
    for (end, why) in APPLIES_ELSEWHERE.iter().filter(|(end, _)| *end != "/seed") {
        assert!(works.iter().any(|it| it.ends_with(end)), "{end} never changes anything, but {why}");
    }
}
