//! `/scenarios/new?from=2026-Q3&team=nlp`: a scenario of what the ledger says was used and paid.
//!
//! Its address is a question to the ledger, as spend takes it, and then whatever was edited. Every link of the page says
//! what it was made as of: the version of the ledger, and the revisions of the list of prices and of the asset register. Options
//! are left out where no price is known and edits name them by their places, so that what is edited stays what it was.

use crate::changes::{self, Document as _};
use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::PgConnection;

use super::prices::Prices;
use crate::accelerator::{self, Model, find_instance, find_model};
use crate::accounts::{Person, Viewer};
use crate::allocation;
use crate::billing::usage_tags;
use crate::compute::compute;
use crate::economics::check;
use crate::economics::comparison::Scenario;
use crate::economics::measured::{Described, HowPaid, Machines, Measured, Used, Way};
use crate::economics::owning::{Draw, Fabric, Owning, Tenure};
use crate::enum_words::{words, written_as_str};
use crate::exchange;
use crate::ledger;
use crate::money::arithmetic::product;
use crate::money::{Currency, Decimal};
use crate::onprem::{self, AssetRegister, systems};
use crate::period::{BillingMonth, Period};
use crate::price_catalogue::Catalogue;
use crate::report::{self, Answers, Grouping, Hourly, Instance, Question, Unconverted};
use crate::telemetry::GpuUse;
use crate::web::error::{Error, Result};
use crate::web::question::Asked;

/// Months that hours are read of at most.
const LONGEST: u32 = 36;
/// Of a question, what chooses among figures and not among charges.
const NOT_TAKEN: [&str; 10] = ["by", "then", "cost", "limit", "find", "sort", "over", "page", "pick", "do"];
/// What a dimension's name leads to a filter by; in words of a refusal.
const TAKES: &str = "from, currency, in, sequence, prices, register and the filters of spend";
/// GPUs of a machine where nobody says.
const OF_A_NODE: u32 = 8;
/// A scenario of the ledger, and what it was made of.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FromLedger {
    /// What asks for it: the period, filters, the step.
    #[serde(skip)]
    pub pairs: Vec<(String, String)>,
    #[serde(skip)]
    pub scenario: Scenario,
    /// `Team: nlp`.
    pub whose: String,
    pub sequence: i64,
    /// Of the asset register, where it was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "register_revision")]
    pub asset_register_revision: Option<i64>,
    /// Of the list of prices.
    pub prices_revision: i64,
    pub currency: Currency,
    /// As spend says for the same question.
    pub accelerator_hours: Decimal,
    pub owned_hours: Decimal,
    pub cost: Decimal,
    /// Hours and cost of that which came by way of shared costs.
    pub shared_hours: Decimal,
    pub shared_cost: Decimal,
    /// What runs our own machines, beyond what is charged for their hours here: it is in the price of these.
    pub running: Decimal,
    /// Whatever else was paid: storage, network, support, tax, credits.
    pub besides: Decimal,
    /// The same by kind, the dearest first; they sum to it.
    pub besides_by_kind: Vec<(String, Decimal)>,
    /// Hours whose hour of the day no bill names.
    pub spread_hours: Decimal,
    pub other_currencies: Vec<Currency>,
    pub unconverted: Vec<Unconverted>,
    #[serde(flatten)]
    pub described: Described,
    /// The same question in spend.
    #[serde(skip)]
    pub spend: String,
}

/// There is nothing to make a scenario of.
pub(super) struct Nothing {
    pub whose: String,
    pub period: Period,
    pub spend: String,
    /// Whether anything was paid at all.
    pub is_billed: bool,
}

/// What an address asks for.
struct Wish {
    asked: Asked,
    period: Period,
    /// The revision of the asset register; none: the current one.
    asset_register: Option<i64>,
}

impl Wish {
    async fn read(
        db: &mut PgConnection,
        answers: &Answers,
        pairs: &[(String, String)],
        viewer: &Viewer,
        today: NaiveDate,
    ) -> Result<Self> {
        let (own, rest): (Vec<_>, Vec<_>) =
            pairs.iter().cloned().partition(|(name, _)| ["from", "register"].contains(&name.as_str()));
        if let Some((name, _)) = rest.iter().find(|(name, _)| NOT_TAKEN.contains(&name.as_str())) {
            return Err(Error::BadRequest(format!("{name} cannot be used in this address. Use {TAKES}.")));
        }
        let asked = Asked::read(rest)?;
        let period = match once(&own, "from")? {
            Some(text) => text
                .parse::<Period>()
                .map_err(|error| Error::BadRequest(format!("from: found “{text}”, {error}.")))?,
            None => usual_period(db, answers, viewer, today).await?,
        };
        if period.length() > LONGEST {
            let months = period.length();
            return Err(Error::BadRequest(format!("from: found {months} months. Choose at most {LONGEST}.")));
        }
        let asset_register = once(&own, "register")?.map(|text| revision("register", text)).transpose()?;
        Ok(Self { asked, period, asset_register })
    }

    /// A team that somebody may not see is not there.
    async fn check_teams(&self, db: &mut PgConnection, answers: &Answers, viewer: &Viewer) -> Result<()> {
        if *viewer == Viewer::Everything {
            return Ok(());
        }
        let now = ledger::sequence(&mut *db).await?;
        let configuration =
            answers.configuration(&mut *db, self.asked.sequence.unwrap_or(now).min(now)).await?;
        let today = answers.configuration(&mut *db, now).await?;
        let of_teams =
            self.asked.filters.iter().filter(|it| it.dimension == Grouping::Team && !it.leaves_out);
        for team in of_teams.flat_map(|it| &it.values) {
            if report::seen_team(&configuration, &today, viewer, team, self.period).is_none() {
                return Err(Error::NotFound);
            }
        }
        Ok(())
    }

    /// Whom it is about.
    fn whose(&self, viewer: &Viewer) -> String {
        let chips = self.asked.chips(|_| String::new());
        let parts: Vec<String> = chips.into_iter().map(|(text, _)| text).collect();
        match (parts.is_empty(), viewer) {
            (false, _) => parts.join(", "),
            (true, Viewer::Everything) => "Everything".to_owned(),
            (true, Viewer::Teams(_)) => "Our teams".to_owned(),
        }
    }

    /// The same question as of a step.
    fn as_of(&self, sequence: i64) -> Asked {
        Asked { sequence: Some(sequence), ..self.asked.clone() }
    }

    /// What owning costs here is no lead's to see, whatever an address says that somebody else sent them.
    async fn asset_register(
        &self,
        db: &mut PgConnection,
        viewer: &Viewer,
    ) -> Result<Option<(i64, AssetRegister)>> {
        if *viewer != Viewer::Everything {
            return Ok(None);
        }
        let current = changes::Kind::AssetRegister.version(&mut *db).await?;
        let revision = known("register", self.asset_register, current)?;
        Ok(Some((revision, onprem::AssetRegister::as_of(db, revision).await?)))
    }
}

/// What an address says of a name, which it says once.
fn once<'a>(pairs: &'a [(String, String)], name: &str) -> Result<Option<&'a str>> {
    let mut said = pairs.iter().filter(|(it, _)| it == name).map(|(_, text)| text.as_str());
    match (said.next(), said.next()) {
        (Some(first), Some(second)) => {
            Err(Error::BadRequest(format!("{name}: found “{first}” and “{second}”. Enter one.")))
        }
        (first, _) => Ok(first),
    }
}

/// A revision of an address.
pub(super) fn revision(name: &str, text: &str) -> Result<i64> {
    text.parse().map_err(|_| Error::BadRequest(format!("{name}: found “{text}”. Enter a revision number.")))
}

/// The revision that is asked for, where it is there already; else the current one. Of one that is still to come the
/// same address would have another answer tomorrow.
pub(super) fn known(name: &str, asked: Option<i64>, current: i64) -> Result<i64> {
    match asked {
        None => Ok(current),
        Some(asked) if (0..=current).contains(&asked) => Ok(asked),
        Some(asked) => {
            Err(Error::BadRequest(format!("{name}: found {asked}. Enter a revision from 0 to {current}.")))
        }
    }
}

/// The last quarter that is over and whose bills are there; before there is one, the latest month.
pub(super) async fn usual_period(
    db: &mut PgConnection,
    answers: &Answers,
    viewer: &Viewer,
    today: NaiveDate,
) -> Result<Period> {
    let over = BillingMonth::of(today).previous();
    let Some(latest) = answers.latest_month(&mut *db, viewer).await? else {
        return Ok(Period::quarter_of(over.minus(2)));
    };
    let last = latest.min(over);
    let mut quarter = Period::quarter_of(last);
    if quarter.last() > last {
        quarter = quarter.previous();
    }
    let question = Question { by: Grouping::Month, ..Question::of(quarter, viewer.clone()) };
    let has_any = answers.spend(db, &question).await?.total.is_some();
    Ok(if has_any { quarter } else { latest.into() })
}

/// What a scenario is made of, as an address asks for it.
pub(super) struct Found {
    wish: Wish,
    whose: String,
    hours: Hourly,
    currency: Currency,
    worth: BTreeMap<Currency, Decimal>,
    asset_register: Option<(i64, AssetRegister)>,
    prices: Prices,
}

/// What an address asks the ledger for, or why there is nothing.
pub(super) async fn ask(
    db: &mut PgConnection,
    answers: &Answers,
    pairs: &[(String, String)],
    person: &Person,
    prices: &Prices,
) -> Result<Result<Found, Nothing>> {
    let viewer = person.viewer();
    let wish = Wish::read(&mut *db, answers, pairs, &viewer, prices.today()).await?;
    wish.check_teams(&mut *db, answers, &viewer).await?;
    let question = wish.asked.question(wish.period, viewer.clone());
    let hours = answers.hourly(&mut *db, &question).await?;
    let whose = wish.whose(&viewer);
    let asset_register = wish.asset_register(&mut *db, &viewer).await?;
    let Some(currency) = hours.spend.currency.clone() else {
        let spend = spend_of(&wish.asked, wish.period);
        return Ok(Err(Nothing { whose, period: wish.period, spend, is_billed: false }));
    };
    let of_asset_register =
        asset_register.iter().flat_map(|(_, it)| it.assets()).map(|(_, it)| it.currency.clone());
    let needed = of_asset_register.chain([Currency::exactly(DOLLAR)]).collect();
    let worth = worth(db, wish.period, hours.spend.sequence, (needed, &currency)).await?;
    Ok(Ok(Found { wish, whose, hours, currency, worth, asset_register, prices: prices.clone() }))
}

/// The same question in spend.
fn spend_of(asked: &Asked, period: Period) -> String {
    asked.link(crate::web::paths::Spend { period })
}

impl Found {
    pub(super) fn currency(&self) -> &Currency {
        &self.currency
    }

    /// A scenario of it, beside the threads that answer requests; or why there is none.
    pub(super) async fn made(self) -> Result<Result<FromLedger, Nothing>> {
        Ok(compute(move || self.make()).await?)
    }

    fn make(self) -> Result<FromLedger, Nothing> {
        let Self { wish, whose, hours: found, currency, worth, asset_register, prices } = self;
        let dollar = worth.get(&Currency::exactly(DOLLAR)).copied();
        let end = wish.period.days().end;
        let around = Around {
            list: prices.list(),
            currency: &currency,
            dollar,
            worth: &worth,
            asset_register: asset_register.as_ref().map(|(_, asset_register)| asset_register),
            on: end.pred_opt().unwrap_or(end),
        };
        let measured = Measured {
            whose: whose.clone(),
            period: wish.period,
            models: models(&found, &around),
            dollar,
            currency: currency.clone(),
        };
        let of_models: Decimal = measured.models.iter().map(|it| it.cost() + it.unused).sum();
        let Some(made) = measured.scenario() else {
            let spend = spend_of(&wish.asked, wish.period);
            return Err(Nothing { whose, period: wish.period, spend, is_billed: true });
        };
        let asked = wish.as_of(found.spend.sequence);
        let asset_register_revision = asset_register.map(|(revision, _)| revision);
        let mut pairs = asked.scenario_pairs(wish.period);
        pairs.extend(asset_register_revision.map(|it| ("register".to_owned(), it.to_string())));
        let total = |spend: &report::Spend| spend.total.as_ref().map_or(Decimal::ZERO, |it| it.amount);
        let hours = |spend: &report::Spend| spend.accelerator_hours + spend.owned_hours;
        let besides = total(&found.direct) + found.running - of_models;
        Ok(FromLedger {
            pairs,
            scenario: made.scenario,
            whose,
            sequence: found.spend.sequence,
            asset_register_revision,
            prices_revision: prices.revision(),
            accelerator_hours: found.spend.accelerator_hours,
            owned_hours: found.spend.owned_hours,
            cost: total(&found.spend),
            shared_hours: hours(&found.spend) - hours(&found.direct),
            shared_cost: total(&found.spend) - total(&found.direct),
            running: found.running,
            besides,
            besides_by_kind: by_kind(&found.ways.besides, besides),
            spread_hours: accelerator::accelerator_hours(found.ways.spread, 6).normalize(),
            other_currencies: found.spend.other_currencies,
            unconverted: found.spend.unconverted,
            described: made.described,
            spend: spend_of(&asked, wish.period),
            currency,
        })
    }
}

/// What was paid besides by kind; what is of none, such as models that are unknown, is “other”.
fn by_kind(known: &BTreeMap<String, Decimal>, besides: Decimal) -> Vec<(String, Decimal)> {
    let mut kinds: BTreeMap<String, Decimal> = known.clone();
    let rest = besides - kinds.values().copied().sum::<Decimal>();
    *kinds.entry("Other".to_owned()).or_default() += rest;
    let mut kinds: Vec<(String, Decimal)> = kinds.into_iter().filter(|(_, cost)| !cost.is_zero()).collect();
    kinds.sort_by_key(|(_, cost)| std::cmp::Reverse(cost.abs()));
    kinds
}

/// What prices of machines are listed in.
const DOLLAR: &str = "USD";

/// What currencies were worth at the end of the period, so far as it is known.
async fn worth(
    db: &mut PgConnection,
    period: Period,
    sequence: i64,
    (currencies, into): (BTreeSet<Currency>, &Currency),
) -> Result<BTreeMap<Currency, Decimal>> {
    let rates = exchange::rates(db, period.first(), period.last(), sequence).await?;
    let mut months: Vec<BillingMonth> = period.months().collect();
    months.reverse();
    let of = |currency: Currency| {
        let rate = months.iter().find_map(|month| rates.find(*month, &currency, into))?.rate;
        Some((currency, rate))
    };
    Ok(currencies.into_iter().filter_map(of).collect())
}

/// What a model's machines and prices follow from, besides its hours.
struct Around<'a> {
    list: &'a Catalogue,
    currency: &'a Currency,
    dollar: Option<Decimal>,
    /// What each currency of the asset register is worth in that of the question.
    worth: &'a BTreeMap<Currency, Decimal>,
    asset_register: Option<&'a AssetRegister>,
    on: NaiveDate,
}

/// Every model that was used, the dearest first.
fn models(found: &Hourly, around: &Around<'_>) -> Vec<Used> {
    let mut by_name: BTreeMap<&str, Vec<Way>> = BTreeMap::new();
    for (way, &cost) in found.ways.all.iter().zip(&found.costs) {
        let supplier = way.provider.clone();
        let (paid, hours) = (HowPaid::of(&way.pricing), way.hours.clone());
        by_name.entry(&way.accelerator).or_default().push(Way { supplier, paid, hours, cost });
    }
    for name in found.ways.unused.keys() {
        by_name.entry(name).or_default();
    }
    let of_name = |(name, ways): (&str, Vec<Way>)| {
        let (model, gpus_per_node) = model_of(name, &found.ways.instances)?;
        let unused = found.ways.unused.get(name).copied().unwrap_or_default();
        Some(Used {
            accelerator: model.id,
            name: name.to_owned(),
            gpus_per_node,
            ways,
            unused,
            listed: around.list.of(model.id).cloned().collect(),
            machines: around.machines(model),
        })
    };
    let mut models: Vec<Used> = by_name.into_iter().filter_map(of_name).collect();
    models.sort_by_key(|it| std::cmp::Reverse(it.cost()));
    models
}

/// The model that most hours of a name were of, and how many of it came in a machine.
fn model_of(name: &str, instances: &[Instance]) -> Option<(&'static Model, u32)> {
    let of_name = instances.iter().filter(|it| it.accelerator == name);
    let most = of_name.max_by_key(|it| it.part_seconds);
    let instance = most.and_then(|it| find_instance(&it.provider, &it.instance_type));
    let of_instance = instance.map(|it| it.model).filter(|it| it.name == name);
    let written = most.and_then(|it| find_model(&it.instance_type)).filter(|it| it.name == name);
    let named = || accelerator::models().iter().find(|it| it.name == name);
    let model = of_instance.or(written).or_else(|| find_model(name)).or_else(named)?;
    let gpus = instance.and_then(|it| it.accelerators.to_string().parse().ok());
    Some((model, gpus.unwrap_or(OF_A_NODE)))
}

impl Around<'_> {
    /// Machines of a model of our own: as in the asset register, where we have some, else as they are sold.
    fn machines(&self, model: &Model) -> Option<Machines> {
        self.registered(model).or_else(|| self.sold(model))
    }

    fn registered(&self, model: &Model) -> Option<Machines> {
        let asset_register = self.asset_register?;
        let is_its = |text: &str| find_model(text).is_some_and(|it| it.id == model.id);
        let assets =
            asset_register.assets().filter(|(_, it)| it.bears_accelerators() && is_its(&it.accelerator));
        let clusters = assets.filter_map(|(_, it)| asset_register.cluster(&it.cluster));
        let of_cluster = |cluster: &onprem::Cluster| {
            let (owning, currency) = self.worth.iter().find_map(|(currency, rate)| {
                let owning = onprem::owning(asset_register, &cluster.handle, self.on, currency)?;
                Some((owning.at_rate(*rate), currency))
            })?;
            let is_leased = matches!(owning.tenure, Tenure::Leased { .. });
            let is_whole = owning.gpus > 0 && (is_leased || owning.node_price > Decimal::ZERO);
            let is_fine = is_whole && check::owning(&owning).warnings_or_refused().is_ok();
            let name = format!("Our own, as {}", cluster.name);
            let converted = if currency == self.currency {
                String::new()
            } else {
                format!(", converted from {currency}")
            };
            let source = format!("what the asset register says of {}{converted}", cluster.name);
            is_fine.then_some(Machines { owning, name, source })
        };
        clusters.filter_map(of_cluster).max_by_key(|it| it.owning.gpus)
    }

    fn sold(&self, model: &Model) -> Option<Machines> {
        let dollar = self.dollar?;
        let is_its = |text: &str| find_model(text).is_some_and(|it| it.id == model.id);
        let system = systems().iter().find(|it| is_its(&it.accelerator))?;
        let money = |amount: Decimal| product(&[amount, dollar]).normalize();
        let mut owning = Owning {
            gpus_per_node: system.accelerators,
            node_price: money(system.price),
            fabric: Fabric::Node { price: money(system.network_price) },
            draw: Draw::Node { idle_kw: system.idle_kw, load_kw: system.load_kw },
            rated_kw: system.rated_kw,
            ..Owning::default()
        };
        owning.tariff = money(owning.tariff);
        owning.staff.loaded_cost = money(owning.staff.loaded_cost);
        let name = format!("Our own, {}", system.name);
        Some(Machines { owning, name, source: format!("{}. {}", system.name, system.price_source) })
    }
}

/// The address that asks for a team, or for everything: where the form of the list of scenarios leads.
pub(super) fn of_form(pairs: &[(String, String)]) -> Option<Vec<(String, String)>> {
    let (own, mut asked): (Vec<_>, Vec<_>) =
        pairs.iter().cloned().partition(|(name, _)| ["whose", "hours"].contains(&name.as_str()));
    if own.is_empty() {
        return None;
    }
    for (name, value) in own {
        match name.as_str() {
            "whose" if !value.is_empty() => asked.push(("team".to_owned(), allocation::handle_of(&value))),
            // A word that is none of them is of no form, and is refused as it stands.
            "hours" if !value.is_empty() => asked.extend(value.parse::<WhichHours>().ok()?.filters()),
            _ => {}
        }
    }
    Some(asked)
}

words! {
    /// Which hours are the work of a scenario.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum WhichHours: as_str, label {
        All = "all", "All, used or not";
        Held = "held", "Held by jobs";
        Used = "used", "Measured at work";
    }
}
written_as_str!(WhichHours);

impl WhichHours {
    /// What keeps these alone.
    fn filters(self) -> Vec<(String, String)> {
        let uses: &[GpuUse] = match self {
            Self::All => &[],
            Self::Held => &[GpuUse::Used, GpuUse::Idle, GpuUse::Unmeasured],
            Self::Used => &[GpuUse::Used],
        };
        let by_use = Grouping::Tag(usage_tags::USE.to_owned()).to_string();
        uses.iter().map(|it| (by_use.clone(), it.as_str().to_owned())).collect()
    }
}

/// The teams that somebody sees at the end of a period, by handle and name.
pub(super) async fn teams(
    db: &mut PgConnection,
    answers: &Answers,
    viewer: &Viewer,
    period: Period,
) -> Result<Vec<(String, String)>> {
    let now = ledger::sequence(&mut *db).await?;
    let configuration = answers.configuration(db, now).await?;
    let of_month = configuration.of_month(period.last());
    let is_seen =
        |handle: &str| report::seen_team(&configuration, &configuration, viewer, handle, period).is_some();
    let seen = of_month.teams.iter().filter(|it| is_seen(&it.handle));
    Ok(seen.map(|it| (it.handle.clone(), it.name.clone())).collect())
}
