//! The fields of a scenario that a form has, each by its pointer in the document, with unit and words.

use crate::scenario::comparison::{Alternative, Owned, Place, Scenario, Work};
use crate::scenario::owning::{Fabric, Housing, Residual};
use crate::scenario::profile::Shape;

/// A field of the form.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Its JSON pointer in the document, which is its name in the form, too.
    pub pointer: String,
    pub label: &'static str,
    pub unit: String,
    pub takes: Takes,
    pub hint: &'static str,
    /// Folded away: few change it.
    pub is_rare: bool,
}

/// What can be entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Text,
    Number,
    NumberOrNone,
    /// In the document a share of 1.
    Percent,
    PercentOrNone,
    Whole,
    /// A number, or as many as cost least.
    Gpus,
    DayOrNone,
    OneOf(&'static [(&'static str, &'static str)]),
}

/// Fields that belong together.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    pub title: String,
    pub fields: Vec<Field>,
    /// What can be done with it: a word for a button, and the edit, as `copy:/option/1`.
    pub acts: Vec<(String, String)>,
}

impl Part {
    pub(super) fn has_rare(&self) -> bool {
        self.fields.iter().any(|it| it.is_rare)
    }
}

/// What is folded and unfolded together: the question, a work, an option.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub title: String,
    pub pointer: String,
    pub parts: Vec<Part>,
}

const SHAPES: &[(&str, &str)] = &[
    ("flat", "so many, for some hours a day"),
    ("between", "anything between two numbers"),
    ("swinging", "up by day, down by night and at weekends"),
];
const HOUSINGS: &[(&str, &str)] =
    &[("own-room", "in a room of one’s own"), ("colocation", "in a colocation")];
const ENERGIES: &[(&str, &str)] = &[("included", "included in its price"), ("separate", "paid besides")];
const PER: &[(&str, &str)] = &[("once", "once"), ("month", "a month"), ("gpu-hour", "a GPU-hour of work")];

/// Every field there is.
pub(super) fn fields(scenario: &Scenario) -> Vec<Field> {
    sections(scenario).into_iter().flat_map(|it| it.parts).flat_map(|it| it.fields).collect()
}

/// The form, from top to bottom.
pub(super) fn sections(scenario: &Scenario) -> Vec<Section> {
    let money = scenario.currency.to_string();
    let mut sections = vec![Section {
        title: "The question".to_owned(),
        pointer: String::new(),
        parts: vec![question(scenario)],
    }];
    for (at, work) in scenario.work.iter().enumerate() {
        sections.push(of_work(at, work, scenario.work.len()));
    }
    for (at, option) in scenario.options.iter().enumerate() {
        sections.push(of_option(at, option, scenario, &money));
    }
    sections
}

struct Maker<'a> {
    at: String,
    money: &'a str,
    fields: Vec<Field>,
}

impl Maker<'_> {
    fn add(&mut self, name: &str, label: &'static str, takes: Takes, unit: &str, hint: &'static str) {
        let pointer = format!("{}/{name}", self.at);
        let unit = unit.replace("MONEY", self.money);
        self.fields.push(Field { pointer, label, unit, takes, hint, is_rare: false });
    }

    fn rare(&mut self, name: &str, label: &'static str, takes: Takes, unit: &str, hint: &'static str) {
        self.add(name, label, takes, unit, hint);
        if let Some(field) = self.fields.last_mut() {
            field.is_rare = true;
        }
    }

    /// A price and where it is from.
    fn rate(&mut self, under: &str, label: &'static str, hint: &'static str) {
        let name = |field: &str| format!("{under}{field}");
        self.add(&name("price"), label, Takes::Number, "MONEY a GPU-hour", hint);
        let change = "Expected change";
        self.rare(&name("yearly_change"), change, Takes::Percent, "% a year", "−20: a fifth less each year.");
        self.rare(&name("date"), "Read on", Takes::DayOrNone, "", "");
        self.rare(&name("source"), "Source", Takes::Text, "", "");
        self.rare(&name("region"), "Region", Takes::Text, "", "");
    }
}

fn question(scenario: &Scenario) -> Part {
    let money = scenario.currency.to_string();
    let mut of = Maker { at: String::new(), money: &money, fields: Vec::new() };
    of.add("name", "Name", Takes::Text, "", "");
    of.add("months", "Compared over", Takes::Whole, "months", "");
    of.add(
        "cost_of_capital",
        "Cost of capital",
        Takes::Percent,
        "% a year",
        "What money costs that is bound.",
    );
    of.rare("note", "What it is about", Takes::Text, "", "");
    of.rare("currency", "Currency", Takes::Text, "", "Of every amount; changing it converts nothing.");
    of.rare("seed", "Seed of the draws", Takes::Whole, "", "The same seed draws the same.");
    let acts = vec![
        ("Add work".to_owned(), "add:/work".to_owned()),
        ("Add an option".to_owned(), "add:/option".to_owned()),
    ];
    Part { title: String::new(), fields: of.fields, acts }
}

fn of_work(at: usize, work: &Work, count: usize) -> Section {
    let pointer = format!("/work/{at}");
    let mut of = Maker { at: pointer.clone(), money: "", fields: Vec::new() };
    of.add("name", "Name", Takes::Text, "", "");
    match &work.demand {
        Shape::Flat { .. } => {
            of.add("demand/shape", "Asks for", Takes::OneOf(SHAPES), "", "");
            of.add("demand/gpus", "GPUs", Takes::Number, "", "");
            of.add("demand/hours_per_day", "Hours of each day", Takes::Whole, "", "");
        }
        Shape::Between { .. } => {
            of.add("demand/shape", "Asks for", Takes::OneOf(SHAPES), "", "");
            of.add("demand/low", "At least", Takes::Number, "GPUs", "");
            of.add("demand/high", "At most", Takes::Number, "GPUs", "");
        }
        Shape::Swinging { .. } => {
            of.add("demand/shape", "Asks for", Takes::OneOf(SHAPES), "", "");
            of.add("demand/base", "On average of a working day", Takes::Number, "GPUs", "");
            of.add("demand/day_swing", "Up and down by", Takes::Percent, "%", "");
            of.add("demand/weekend", "At weekends", Takes::Percent, "% of a working day", "");
            of.rare(
                "demand/noise",
                "Noise",
                Takes::Number,
                "",
                "Standard deviation of its logarithm; 0: none.",
            );
        }
        Shape::Levels { levels } => {
            for level in 0..levels.len() {
                of.add(&format!("demand/levels/{level}/gpus"), "GPUs", Takes::Number, "", "");
                of.add(&format!("demand/levels/{level}/share"), "In so many hours", Takes::Percent, "%", "");
            }
        }
        // Measured hours are not typed.
        Shape::Hours { .. } => {}
    }
    of.add("interruptible", "Can be interrupted", Takes::Percent, "%", "What may run on spot.");
    of.add("productive", "Does work", Takes::Percent, "% of the hours it holds a GPU", "");
    of.rare("monthly_growth", "Grows by", Takes::Percent, "% a month", "");
    of.rare(
        "availability",
        "Has to be there",
        Takes::PercentOrNone,
        "% of the time",
        "Empty: no need is stated.",
    );
    of.rare("accelerator", "Accelerator", Takes::Text, "", "By its id in the catalog: nvidia-h100-sxm.");
    let mut acts = vec![("Copy".to_owned(), format!("copy:{pointer}"))];
    if count > 1 {
        acts.push(("Remove".to_owned(), format!("remove:{pointer}")));
    }
    let part = Part { title: String::new(), fields: of.fields, acts };
    Section { title: format!("Work: {}", work.name), pointer, parts: vec![part] }
}

fn of_option(at: usize, option: &Alternative, scenario: &Scenario, money: &str) -> Section {
    let pointer = format!("/option/{at}");
    let mut of = Maker { at: pointer.clone(), money, fields: Vec::new() };
    of.add("name", "Name", Takes::Text, "", "");
    let mut acts = vec![("Copy".to_owned(), format!("copy:{pointer}"))];
    if scenario.options.len() > 1 {
        acts.push(("Remove".to_owned(), format!("remove:{pointer}")));
    }
    let head = Part { title: String::new(), fields: of.fields, acts };
    let mut parts = vec![head];
    for (n, place) in option.places.iter().enumerate() {
        parts.extend(of_place(&format!("{pointer}/place/{n}"), (n, option.places.len()), place, money));
    }
    Section { title: option.name.clone(), pointer, parts }
}

fn of_place(pointer: &str, (at, count): (usize, usize), place: &Place, money: &str) -> Vec<Part> {
    let maker = |under: &str| Maker { at: format!("{pointer}{under}"), money, fields: Vec::new() };
    let part = |title: &str, of: Maker<'_>, acts: Vec<(String, String)>| Part {
        title: title.to_owned(),
        fields: of.fields,
        acts,
    };
    let removal = |under: &str| vec![("Remove".to_owned(), format!("remove:{pointer}{under}"))];
    let mut of = maker("");
    of.add("supplier", "Supplier", Takes::Text, "", "");
    of.rare("accelerator", "Accelerator", Takes::Text, "", "By its id in the catalog; empty: as the work’s.");
    of.rare(
        "performance",
        "Worth of an hour here",
        Takes::Number,
        "hours of the work’s accelerator",
        "As measured. 1: it is the same.",
    );
    of.rare("rework", "Hours for a useful one", Takes::Number, "", "Checkpoints, restarts. 1: none.");
    of.rare("gpus_per_node", "GPUs of a node", Takes::Whole, "", "What capacity comes in.");
    of.rare("availability", "Promised", Takes::PercentOrNone, "% of the time", "Empty: nothing is.");
    of.rare("support", "Support", Takes::Percent, "% of what is paid to the supplier", "");
    let mut acts = Vec::new();
    for (is_there, under, word) in [
        (place.on_demand.is_some(), "on_demand", "Add on demand"),
        (false, "committed", "Add a reservation"),
        (place.spot.is_some(), "spot", "Add spot"),
        (place.owned.is_some(), "owned", "Add machines of our own"),
        (false, "others", "Add another cost"),
    ] {
        if !is_there {
            acts.push((word.to_owned(), format!("add:{pointer}/{under}")));
        }
    }
    if count > 1 {
        acts.push(("Remove this place".to_owned(), format!("remove:{pointer}")));
    }
    let title = if count > 1 { format!("Place {}", at + 1) } else { "Where".to_owned() };
    let mut parts = vec![part(&title, of, acts)];
    if let Some(owned) = &place.owned {
        let mut of = maker("/owned");
        of_owned(&mut of, owned);
        parts.push(part("Machines of our own", of, removal("/owned")));
    }
    for n in 0..place.committed.len() {
        let under = format!("/committed/{n}");
        let mut of = maker(&under);
        of.rate("rate/", "Price, used or not", "Paid for every hour of the term.");
        of.add("months", "Term", Takes::Whole, "months", "");
        of.add("gpus", "GPUs", Takes::Gpus, "", "A number, or best: as many as cost least.");
        of.rare("upfront", "Upfront", Takes::Number, "MONEY a GPU and term", "Besides its hours.");
        parts.push(part("Reserved", of, removal(&under)));
    }
    if place.spot.is_some() {
        let mut of = maker("/spot");
        of.rate("rate/", "Price while it lasts", "");
        of.add("gpus", "At most", Takes::NumberOrNone, "GPUs", "Empty: as many as are asked for.");
        of.rare(
            "rework",
            "Hours for a useful one",
            Takes::NumberOrNone,
            "",
            "Empty: as follows from how often it is taken away.",
        );
        of.rare("interruptions/restart_minutes", "Until it goes on", Takes::Number, "minutes", "");
        of.rare("interruptions/pause_minutes", "A checkpoint takes", Takes::Number, "minutes", "");
        parts.push(part("Spot", of, removal("/spot")));
    }
    if place.on_demand.is_some() {
        let mut of = maker("/on_demand");
        of.rate("", "Price of use", "Paid for hours that are used.");
        parts.push(part("On demand", of, removal("/on_demand")));
    }
    for n in 0..place.others.len() {
        let under = format!("/others/{n}");
        let mut of = maker(&under);
        of.add("name", "What", Takes::Text, "", "");
        of.add("amount", "Amount", Takes::Number, "MONEY", "");
        of.add("per", "Paid", Takes::OneOf(PER), "", "");
        parts.push(part("Another cost", of, removal(&under)));
    }
    parts
}

fn of_owned(of: &mut Maker<'_>, owned: &Owned) {
    of.add("gpus", "GPUs", Takes::Gpus, "", "A number, or best: as many as cost least.");
    of.add("machines/node_price", "Price of a node", Takes::Number, "MONEY", "");
    let unit = match owned.machines.fabric {
        Fabric::Node { .. } => "MONEY a node",
        Fabric::Port { .. } => "MONEY a port",
    };
    of.add("machines/fabric/price", "Network", Takes::Number, unit, "");
    of.add("machines/life_years", "Replaced after", Takes::Number, "years", "");
    if matches!(owned.machines.residual, Residual::Share { .. }) {
        of.add("machines/residual/share", "Worth then", Takes::Percent, "% of its price", "");
    }
    of.add("machines/maintenance_share", "Maintenance", Takes::Percent, "% of the price a year", "");
    of.add(
        "machines/staff/loaded_cost",
        "A person a year",
        Takes::Number,
        "MONEY",
        "Full-time, with everything.",
    );
    of.add("machines/tariff", "Energy", Takes::Number, "MONEY a kWh", "");
    of.add("machines/pue", "PUE", Takes::Number, "", "What the room draws for a kW of machines.");
    of.add("machines/housing/in", "They stand", Takes::OneOf(HOUSINGS), "", "");
    if matches!(owned.machines.housing, Housing::Colocation { .. }) {
        of.add("machines/housing/price", "Colocation", Takes::Number, "MONEY a kW and month", "");
        let unit = "kW";
        of.rare(
            "machines/housing/contracted_kw",
            "Contracted",
            Takes::NumberOrNone,
            unit,
            "Empty: as rated.",
        );
        of.add("machines/housing/energy", "Energy is", Takes::OneOf(ENERGIES), "", "");
    }
    of.rare("machines/gpus_per_node", "GPUs of a node", Takes::Whole, "", "");
    of.rare("machines/spare_share", "Spare nodes", Takes::Percent, "%", "Rounded up to whole nodes.");
    of.rare("machines/unavailability", "Downtime", Takes::Percent, "% of hours", "");
    of.rare("machines/storage", "Storage", Takes::Number, "MONEY once", "");
    of.rare("machines/installation", "Installation", Takes::Number, "MONEY once", "");
    of.rare("machines/building", "Room", Takes::Number, "MONEY once", "");
    of.rare("machines/demand_charge", "Demand charge", Takes::Number, "MONEY a kW and month", "");
    of.rare("machines/software_per_gpu", "Software", Takes::Number, "MONEY a GPU and year", "");
    of.rare("machines/staff/months_before", "People before it runs", Takes::Number, "months", "");
}
