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
            assert!(tree.pointer(&field.pointer).is_some(), "{}: {}", template.handle, field.pointer);
        }
    }
}

#[test]
fn a_form_that_is_sent_as_it_is_edits_nothing() {
    let all = templates().iter().map(|it| read(it.text).unwrap()).chain([base()]);
    for base in all {
        let edited = Edited::of(&base, Vec::new()).unwrap();
        let again = Edited::with_form(&base, &[], &form(&edited), None).unwrap();
        assert_eq!((again.edits, again.scenario == base), (Vec::new(), true), "{}", base.name);
    }
}

#[test]
fn blocks_and_spend_are_added_with_their_fields_and_removed() {
    let base = base();
    let adds = ["/option/0/place/0/blocks", "/option/0/spend", "/option/0/place/0/spend_rate"];
    let adds = adds.map(|it| Edit::Add(it.to_owned())).to_vec();
    let added = Edited::of(&base, adds).unwrap();
    let option = &added.scenario.options[0];
    assert_eq!(option.places[0].blocks[0].hours, 168);
    assert!(option.spend.is_some() && option.places[0].spend_rate.is_some());
    let again = Edited::with_form(&base, &added.edits, &form(&added), None).unwrap();
    assert_eq!(again.edits, added.edits);
    // A path is one text.
    let path = "/option/0/place/0/blocks/0/rate/path";
    let stepped = typed(&added, path, "12:0.80, 24: 0.6");
    let stepped = Edited::with_form(&base, &added.edits, &stepped, None).unwrap();
    assert_eq!(stepped.edits.last(), Some(&set(path, "12: 0.8, 24: 0.6")));
    let block = &stepped.scenario.options[0].places[0].blocks[0];
    assert_eq!(block.rate.path, "12: 0.8, 24: 0.6".parse().unwrap());
    let gone = ["/option/0/place/0/blocks/0", "/option/0/spend", "/option/0/place/0/spend_rate"];
    let edits = added.edits.into_iter().chain(gone.map(|it| Edit::Remove(it.to_owned())));
    assert_eq!(Edited::of(&base, edits.collect()).unwrap().scenario, base);
}

#[test]
fn what_differs_is_what_an_address_says() {
    let base = base();
    let none = Edited::of(&base, Vec::new()).unwrap();
    let price = "/option/0/place/0/on_demand/price";
    let first = Edited::with_form(&base, &[], &typed(&none, price, "5.20"), None).unwrap();
    assert_eq!(first.edits, [set(price, "5.2")]);
    let unclear = Edited::with_form(&base, &first.edits, &typed(&first, "/cost_of_capital", "12,5"), None);
    assert_eq!(unclear.unwrap().misread[0].text, "12,5", "what means nothing stays as it was typed");
    // A share is typed in percent and kept as one of 1.
    let second = typed(&first, "/cost_of_capital", "12.5 %");
    let second = Edited::with_form(&base, &first.edits, &second, None).unwrap();
    assert_eq!(second.edits, [set("/cost_of_capital", "0.125"), set(price, "5.2")]);
    // And back.
    let third = Edited::with_form(&base, &second.edits, &typed(&second, price, "6.88"), None).unwrap();
    assert_eq!(third.edits, [set("/cost_of_capital", "0.125")]);
}

#[test]
fn structure_is_edited_in_order_and_fields_follow() {
    let base = base();
    let copied = Edited::with_form(&base, &[], &[], Some(Edit::Copy("/option/0".to_owned()))).unwrap();
    let names: Vec<&str> = copied.scenario.options.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["On demand", "On demand (2)", "Our own"]);
    let price = "/option/1/place/0/on_demand/price";
    let cheaper = Edited::with_form(&base, &copied.edits, &typed(&copied, price, "3"), None).unwrap();
    let remove = Some(Edit::Remove("/option/0".to_owned()));
    let removed = Edited::with_form(&base, &cheaper.edits, &form(&cheaper), remove).unwrap();
    assert_eq!(removed.edits.len(), 3);
    assert_eq!(removed.scenario.options[0].name, "On demand (2)");
    assert_eq!(removed.scenario.options[0].places[0].on_demand.as_ref().unwrap().price, 3.into());
    // The address alone gives the same.
    assert_eq!(Edited::of(&base, removed.edits.clone()).unwrap().scenario, removed.scenario);
}

#[test]
fn ways_of_paying_come_with_a_listed_price_and_go() {
    let base = base();
    for way in ["committed", "spot", "owned", "others"] {
        let add = Edit::Add(format!("/option/0/place/0/{way}"));
        let added = Edited::of(&base, vec![add]).unwrap();
        let compared = added.scenario.compare();
        assert!(compared.is_ok(), "{way}: {compared:?}");
    }
    let option = Edited::of(&base, vec![Edit::Add("/option".to_owned())]).unwrap();
    let rate = option.scenario.options[2].places[0].on_demand.clone().unwrap();
    assert!(rate.price > Decimal::ZERO && rate.date.is_some() && !rate.source.is_empty());
    let gone = Edited::of(&base, vec![Edit::Remove("/option/1/place/0/on_demand".to_owned())]).unwrap();
    assert_eq!(gone.scenario.options[1].places[0].on_demand, None);
    let work = Edited::of(&base, vec![Edit::Add("/work".to_owned())]).unwrap();
    assert_eq!(work.scenario.work[1].name, "work 2");
}

#[test]
fn a_kind_brings_fields_of_its_own() {
    let base = base();
    let none = Edited::of(&base, Vec::new()).unwrap();
    for (pointer, kinds) in [
        ("/work/0/demand/shape", &["between", "swinging"][..]),
        ("/option/1/place/0/owned/machines/housing/in", &["colocation"]),
    ] {
        for kind in kinds {
            let changed = Edited::with_form(&base, &[], &typed(&none, pointer, kind), None).unwrap();
            assert_eq!(changed.edits, [set(pointer, kind)]);
            assert!(changed.scenario.compare().is_ok(), "{kind}");
            let back = Edited::with_form(&base, &changed.edits, &form(&changed), None).unwrap();
            assert_eq!(back.edits, changed.edits);
        }
    }
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
        assert!(Edited::of(&base, vec![edit.clone()]).is_err(), "{edit:?}");
    }
}
