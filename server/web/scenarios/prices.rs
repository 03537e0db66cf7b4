//! Prices that a rate of the form can take: of the list that holds, or held when an address was made, and what the organization itself paid.

use crate::changes;
use std::sync::{Arc, LazyLock};

use chrono::NaiveDate;
use sqlx::PgConnection;

use super::ledger::known;
use crate::accelerator;
use crate::accounts::Person;
use crate::economics::check::{Findings, prices as check_prices};
use crate::economics::comparison::Scenario;
use crate::exchange::{self, Rates, Used};
use crate::ledger;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;
use crate::price_catalogue::{Catalogue, Price, Tier};
use crate::report::{Answers, PaidPrices};
use crate::web::error::Result;
use crate::web::filters;
use crate::web::prices::last_quarter;

/// Offers of a rate that are shown, the cheapest first.
const SHOWN: usize = 12;
/// Instead of the id of an offer: what the organization paid.
const OURS: &str = "ours";

/// Months whose exchange rates are looked at: what is older is no rate of today.
const RATES_OF: u32 = 24;

static SHIPPED: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(Catalogue::shipped().clone()));

#[derive(Clone, Debug)]
pub(super) struct Prices {
    /// Of the list, for addresses.
    revision: i64,
    list: Arc<Catalogue>,
    /// None where nothing was asked of the ledger.
    paid: Option<PaidPrices>,
    pub(super) exchange: Exchange,
    /// When they are looked at. The first of 1970 where nobody looks.
    today: NaiveDate,
}

/// Exchange rates of the last months.
#[derive(Clone, Debug, Default)]
pub(super) struct Exchange {
    rates: Rates,
    /// The newest first.
    months: Vec<BillingMonth>,
}

impl Default for Prices {
    fn default() -> Self {
        Self {
            revision: 0,
            list: Arc::clone(&SHIPPED),
            paid: None,
            exchange: Exchange::default(),
            today: NaiveDate::default(),
        }
    }
}

/// A price that a rate can take.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// `AWS p5.48xlarge, us-east-1: 6.88, Jul 20, 2026`.
    pub label: String,
    /// Of the button: `take:/option/0/place/0/on_demand=…`.
    pub act: String,
    /// What it sets, by pointer.
    pub texts: Vec<(String, String)>,
    offer: String,
}

impl Exchange {
    pub(super) async fn load(db: &mut PgConnection, today: NaiveDate) -> sqlx::Result<Self> {
        let month = BillingMonth::of(today);
        let months: Vec<BillingMonth> = (0..RATES_OF).map(|ago| month.minus(ago)).collect();
        let sequence = ledger::sequence(&mut *db).await?;
        let rates = exchange::rates(db, month.minus(RATES_OF), month, sequence).await?;
        Ok(Self { rates, months })
    }

    /// What a currency was worth in another in the newest month that says so.
    pub(super) fn newest(&self, from: &Currency, into: &Currency) -> Option<Used> {
        self.months.iter().find_map(|month| self.rates.find(*month, from, into))
    }
}

impl Prices {
    /// The list as of a revision; none: the current one.
    pub(super) async fn of_list(
        db: &mut PgConnection,
        answers: &Answers,
        revision: Option<i64>,
        today: NaiveDate,
    ) -> Result<Self> {
        let current = changes::Kind::Prices.version(&mut *db).await?;
        let revision = known("prices", revision, current)?;
        let list = answers.list(&mut *db, revision).await?;
        Ok(Self { revision, list, paid: None, exchange: Exchange::load(db, today).await?, today })
    }

    /// The same, and what whoever looks paid in the last quarter that is over, as far as they see it.
    pub(super) async fn with_paid(
        self,
        db: &mut PgConnection,
        answers: &Answers,
        person: &Person,
        currency: &Currency,
    ) -> Result<Arc<Self>> {
        let quarter = last_quarter(self.today);
        let paid = answers.paid_prices(db, quarter, currency, person.viewer()).await?;
        Ok(Arc::new(Self { paid: Some(paid), ..self }))
    }

    pub(super) fn today(&self) -> NaiveDate {
        self.today
    }

    pub(super) fn revision(&self) -> i64 {
        self.revision
    }

    pub(super) fn list(&self) -> &Catalogue {
        &self.list
    }

    /// What is odd about a scenario's prices beside the list.
    pub(super) fn findings(&self, scenario: &Scenario) -> Findings {
        check_prices(scenario, &self.list, self.today)
    }

    /// What the rate that this field is the price of can take; nothing of any other field.
    pub(super) fn choices(&self, scenario: &Scenario, pointer: &str) -> Vec<Choice> {
        let rate = pointer.strip_suffix("/price").and_then(|at| Rate::of(scenario, at));
        let Some(rate) = rate else { return Vec::new() };
        let ours = self.ours(scenario, &rate);
        let listed = self
            .list
            .of(&rate.accelerator)
            .filter(|it| rate.tiers.contains(&it.tier) && it.currency == scenario.currency);
        let mut listed: Vec<&Price> = listed.collect();
        // A term by its price alone; what many hosts sell after what one does.
        listed.sort_by_key(|it| (it.tier == Tier::Marketplace, it.amount));
        ours.into_iter().chain(listed.into_iter().take(SHOWN).map(|price| rate.listed(price))).collect()
    }

    pub(super) fn choice(&self, scenario: &Scenario, at: &str, offer: &str) -> Option<Choice> {
        self.choices(scenario, &format!("{at}/price")).into_iter().find(|it| it.offer == offer)
    }

    fn ours(&self, scenario: &Scenario, rate: &Rate) -> Option<Choice> {
        let paid = self.paid.as_ref().filter(|it| it.currency == scenario.currency)?;
        let model = accelerator::model(&rate.accelerator)?;
        let price = paid.of(model, *rate.tiers.first()?)?;
        let amount = price.per_hour.round(6).normalize();
        let until = paid.period.days().end.pred_opt()?;
        let label = format!(
            "your price in {}{}: {}",
            paid.period.name(),
            paid.converted(),
            filters::figure(amount, 2)
        );
        let texts = rate.texts(amount, until, &paid.source(), "");
        Some(Choice { label, act: rate.act(OURS), texts, offer: OURS.to_owned() })
    }
}

/// A rate of a scenario.
struct Rate {
    /// Its pointer, without what stands in it.
    at: String,
    accelerator: String,
    tiers: &'static [Tier],
    /// The term beside it.
    months: Option<String>,
    /// Who sells it, where nothing else is bought in the place: who asks the price that is taken.
    supplier: Option<String>,
    /// The option's name and where it stands, where it names that supplier.
    named: Option<(String, String)>,
    sold_by: String,
}

impl Rate {
    fn of(scenario: &Scenario, at: &str) -> Option<Self> {
        let parts: Vec<&str> = at.split('/').collect();
        let ["", "option", option, "place", place, rest @ ..] = parts.as_slice() else { return None };
        let option = scenario.options.get(option.parse::<usize>().ok()?)?;
        let place = option.places.get(place.parse::<usize>().ok()?)?;
        let (tiers, months): (&'static [Tier], _) = match rest {
            ["on_demand"] => (&[Tier::OnDemand, Tier::Marketplace], None),
            ["spot", "rate"] => (&[Tier::Spot, Tier::Marketplace], None),
            ["committed", _, "rate"] => {
                let months = at.strip_suffix("/rate").map(|it| format!("{it}/months"));
                (&[Tier::OneYear, Tier::ThreeYears], months)
            }
            _ => return None,
        };
        let others = [place.on_demand.is_some(), place.spot.is_some(), place.owned.is_some()];
        let bought = others.into_iter().filter(|it| *it).count() + place.committed.len() + place.blocks.len();
        let supplier = (bought == 1).then(|| format!("{}/supplier", parts[..5].join("/")));
        let accelerator = scenario.accelerator_of(place).to_owned();
        let sold_by = place.supplier.clone();
        let is_named = supplier.is_some() && !sold_by.is_empty() && option.name.contains(&sold_by);
        let named = is_named.then(|| (format!("{}/name", parts[..3].join("/")), option.name.clone()));
        Some(Self { at: at.to_owned(), accelerator, tiers, months, supplier, named, sold_by })
    }

    fn act(&self, offer: &str) -> String {
        format!("take:{}={offer}", self.at)
    }

    fn listed(&self, price: &Price) -> Choice {
        let what = price.what();
        let name =
            if what.is_empty() { price.supplier.clone() } else { format!("{} {what}", price.supplier) };
        let amount = filters::figure(price.amount, 2);
        let label = format!("{name}: {amount} {}, {}", price.tier.name(), price.date.format("%b %-d, %Y"));
        let source = format!("{name}, {}", price.source);
        let mut texts = self.texts(price.amount, price.date, &source, &price.region);
        let term = self.months.clone().zip(price.term_months);
        texts.extend(term.map(|(pointer, months)| (pointer, months.to_string())));
        texts.extend(self.supplier.clone().map(|pointer| (pointer, price.supplier.clone())));
        let renamed = |(pointer, name): &(String, String)| {
            (pointer.clone(), name.replace(&self.sold_by, &price.supplier))
        };
        texts.extend(self.named.iter().map(renamed));
        let offer = price.offer();
        Choice { label, act: self.act(&offer), texts, offer }
    }

    fn texts(&self, amount: Decimal, date: NaiveDate, source: &str, region: &str) -> Vec<(String, String)> {
        let field = |name: &str, text: String| (format!("{}/{name}", self.at), text);
        vec![
            field("price", amount.normalize().to_string()),
            field("date", date.to_string()),
            field("source", source.to_owned()),
            field("region", region.to_owned()),
        ]
    }
}
