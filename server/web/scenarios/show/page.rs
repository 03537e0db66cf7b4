//! The page: what it shows of a scenario, and what its forms take along.

use askama::Template;
use serde_json::Value;

use super::super::super::layout::Layout;
use super::super::super::words::term;
use super::super::super::{filters, paths};
use super::super::address::{Base, FROM_LEDGER};
use super::super::answer::Answer;
use super::super::charts::{Charts, draw};
use super::super::edit::{Edit, Edited, tree};
use super::super::field::{Field, Section, Takes, sections};
use super::super::ledger::FromLedger;
use super::super::prices::Choice;
use super::super::{below, words};
use super::made::{left_out, not_counted, paid_on};
use super::notes::{Note, capital, id, note, note_id, oddities, section_id};
use crate::accounts::Person;
use crate::economics::comparison::Scenario;
use crate::economics::owning::Term;
use crate::economics::published_figures::{PublishedFigure, published_figures};
use crate::economics::template::published_figures_about;
use crate::economics::uncertainty::{Input, inputs};
use crate::money::Currency;
use crate::saved_scenarios::{self, Share, may_change};

/// Numbers that paper has room for.
const ON_PAPER: usize = 24;

#[derive(Template)]
#[template(path = "scenarios/show.html")]
pub(in crate::web::scenarios) struct Page {
    pub layout: Layout,
    pub(super) base: Base,
    pub(super) edited: Edited,
    /// The document as it is edited, and before.
    now: Value,
    pub(super) before: Value,
    pub(super) sections: Vec<Section>,
    pub(super) notes: Vec<Note>,
    answer: Option<(Answer, Charts)>,
    may_change: bool,
    shares: Vec<Share>,
    /// Why what was sent was not done.
    pub problem: Option<String>,
}

impl Page {
    /// A page with its answer, or why there is none. Takes long: never on a thread that answers.
    pub(in crate::web::scenarios) fn of(
        layout: Layout,
        base: Base,
        edited: Edited,
        shares: Vec<Share>,
        person: &Person,
    ) -> Self {
        let sections = sections(&edited.scenario);
        let mut notes: Vec<Note> = edited
            .misread
            .iter()
            .map(|it| Note { pointer: it.pointer.clone(), sentence: capital(it.expected), is_refusal: true })
            .collect();
        let mut answered = None;
        let is_understood = notes.is_empty();
        if edited.scenario.name.trim().is_empty() {
            // It is computed all the same: only to be kept it has to be called something.
            let sentence = "Enter a name to save it.".to_owned();
            notes.push(Note { pointer: "/name".to_owned(), sentence, is_refusal: true });
        }
        if is_understood {
            match Answer::of(&edited.scenario) {
                Ok(found) => {
                    notes.extend(found.comparison.warnings.iter().map(|it| note(it, &sections, false)));
                    let odd = edited.prices.findings(&edited.scenario);
                    notes.extend(odd.iter().map(|it| note(it, &sections, false)));
                    let charts = draw(&edited.scenario, &found);
                    answered = Some((found, charts));
                }
                Err(refused) => notes.extend(refused.0.iter().map(|it| note(it, &sections, true))),
            }
        }
        let may_change = match &base {
            Base::Kept(kept) => kept.removed_at.is_none() && may_change(person, kept.owner_id),
            Base::Template(..) | Base::Ledger(_) => false,
        };
        let (now, before) = (tree(&edited.scenario), tree(base.scenario()));
        Self {
            layout,
            base,
            edited,
            now,
            before,
            sections,
            notes,
            answer: answered,
            may_change,
            shares,
            problem: None,
        }
    }

    pub(super) fn scenario(&self) -> &Scenario {
        &self.edited.scenario
    }

    fn kept(&self) -> Option<&saved_scenarios::Kept> {
        match &self.base {
            Base::Kept(kept) => Some(kept),
            Base::Template(..) | Base::Ledger(_) => None,
        }
    }

    /// What others print about the situation of a template, and what is right.
    fn claims(&self) -> Vec<PublishedFigure> {
        let Base::Template(template, _) = &self.base else { return Vec::new() };
        let about = published_figures_about(template.handle);
        let mut claims = published_figures();
        claims.retain(|it| about.contains(&it.id));
        claims
    }

    fn path(&self) -> String {
        self.base.path()
    }

    fn file(&self, suffix: &str) -> String {
        self.base.at(suffix, &self.edited.edits, self.revision())
    }

    fn unedited(&self) -> String {
        self.base.at("", &[], self.revision())
    }

    /// Of the list of prices.
    pub(super) fn revision(&self) -> i64 {
        self.edited.prices.revision()
    }

    fn is_edited(&self) -> bool {
        !self.edited.edits.is_empty()
    }

    /// What forms take along: the version and everything that was edited.
    fn state(&self) -> Vec<(String, String)> {
        self.base.state(self.kept().map(|it| it.version), &self.edited.edits, self.revision())
    }

    /// What it was made of, of the ledger.
    fn made(&self) -> Option<&FromLedger> {
        if let Base::Ledger(it) = &self.base { Some(it) } else { None }
    }

    /// Of the ledger, in which other currencies something was billed, and the address that counts it, too.
    fn not_in_it(&self) -> Option<(String, String)> {
        let it = self.made().filter(|it| !it.other_currencies.is_empty())?;
        let names: Vec<&str> = it.other_currencies.iter().map(Currency::as_str).collect();
        let converted = ("in".to_owned(), it.currency.to_string());
        let pairs: Vec<(String, String)> = it.pairs.iter().cloned().chain([converted]).collect();
        Some((names.join(" and "), paths::with_query(paths::ScenarioNew, &pairs)))
    }

    /// Where it was made of a period that is not over, the same of one that is.
    fn of_months_that_are_over(&self) -> Option<String> {
        let it = self.made().filter(|it| self.edited.prices.today() < it.described.period.days().end)?;
        let pairs: Vec<(String, String)> =
            it.pairs.iter().filter(|(name, _)| name != "from").cloned().collect();
        Some(paths::with_query(paths::ScenarioNew, &pairs))
    }

    /// Which scenario is copied when it is kept under a name.
    fn from(&self) -> String {
        match &self.base {
            Base::Template(template, _) => format!("template:{}", template.handle),
            Base::Kept(kept) => format!("scenario:{}", kept.id),
            Base::Ledger(_) => FROM_LEDGER.to_owned(),
        }
    }

    /// The version that the next one follows.
    fn last_version(&self) -> i64 {
        self.kept().map_or(0, |it| it.last_version)
    }

    fn next_version(&self) -> i64 {
        self.last_version() + 1
    }

    fn is_last(&self) -> bool {
        self.base.version().is_none()
    }

    fn text(&self, field: &Field) -> String {
        self.edited.text(field, &self.now)
    }

    fn term(&self, of: &Term) -> String {
        term(of, &self.scenario().currency)
    }

    /// Whether a section was made or edited last, or something is wrong with what is folded away in it.
    fn is_open(&self, section: &Section) -> bool {
        let inside = format!("{}/", section.pointer);
        let is_here = |pointer: &str| format!("{pointer}/").starts_with(&inside);
        let last = self.edited.made().or_else(|| Some(self.edited.edits.last()?.pointer().to_owned()));
        section.pointer.is_empty()
            || last.is_some_and(|it| is_here(&it))
            || self.notes.iter().any(|it| it.is_refusal && it.pointer.starts_with(&inside))
    }

    /// Numbers that it was computed with, as paper says them: those that move the answer most first, and how many there
    /// are besides.
    fn inputs(&self) -> (Vec<(String, String)>, usize) {
        let cheapest_option = self.answer.as_ref().and_then(|(it, _)| it.cheapest_option.as_ref());
        let mut described: Vec<Input> =
            cheapest_option.iter().flat_map(|it| &it.sensitivities).map(|it| it.input.clone()).collect();
        for input in inputs(self.scenario()) {
            if !described.contains(&input) {
                described.push(input);
            }
        }
        let rest = described.len().saturating_sub(ON_PAPER);
        described.truncate(ON_PAPER);
        let pair = |it: Input| {
            let value = words::of_input(&it, &it.value);
            (it.label, value)
        };
        (described.into_iter().map(pair).collect(), rest)
    }

    /// Of what was just added, what it starts from.
    fn starts_from(&self, section: &Section) -> Option<String> {
        self.edited.made().filter(|it| *it == section.pointer)?;
        let scenario = self.scenario();
        match self.edited.edits.last()? {
            Edit::Copy(pointer) => {
                let original = self.sections.iter().find(|it| it.pointer == *pointer)?;
                Some(format!("Copied from {}.", original.whose()))
            }
            Edit::Add(list) if list == "/work" => Some("Starts with 8 GPUs, day and night.".to_owned()),
            _ => {
                let place = scenario.options.last()?.places.first()?;
                let rate = place.on_demand.as_ref()?;
                if rate.price.is_zero() {
                    let (model, currency) = (scenario.accelerator_of(place), &scenario.currency);
                    return Some(format!(
                        "Enter a price: no on-demand price is listed for {model} in {currency}."
                    ));
                }
                Some(format!(
                    "Starts from the cheapest listed on-demand price: {} from {}.",
                    filters::figure(rate.price, 2),
                    place.supplier
                ))
            }
        }
    }

    /// What a rate can take.
    fn offers(&self, field: &Field) -> Vec<Choice> {
        self.edited.prices.choices(self.scenario(), &field.pointer)
    }

    fn has_rare_refusal(&self, fields: &[Field]) -> bool {
        fields.iter().any(|it| it.is_rare && self.is_refused(&it.pointer))
    }
}
