//! The form of a budget, and what becomes of a wish to change one.

use serde::Deserialize;
use sqlx::PgConnection;

use crate::allocation::{Budget, BudgetOf, BudgetPeriod, Configuration, Edit, Entry, Months};
use crate::audit::Act;
use crate::changes::{self, About, Outcome, Problem, Right};
use crate::money::Currency;
use crate::period::BillingMonth;
use crate::report::{Answers, Error, Unconverted};
use crate::web::filters;
use crate::web::form::{Fields, amount};

const THRESHOLDS: &str = "50, 80, 100";

#[derive(Deserialize)]
pub struct BudgetForm {
    /// `team:vision`; of a budget that is changed its own.
    #[serde(default)]
    of: String,
    every: String,
    first: String,
    last: String,
    amount: String,
    currency: String,
    thresholds: String,
    #[serde(default)]
    pub reason: String,
}

/// What became of it.
pub enum Done {
    /// As this change of the configuration, which can be undone.
    Written(i64),
    /// It was so already.
    Nothing,
    /// Why nothing was written.
    Refused(Vec<Problem>),
}

impl BudgetForm {
    pub fn fields(&self) -> Fields {
        Fields::new([
            ("of", &self.of),
            ("every", &self.every),
            ("first", &self.first),
            ("last", &self.last),
            ("amount", &self.amount),
            ("currency", &self.currency),
            ("thresholds", &self.thresholds),
            ("reason", &self.reason),
        ])
    }

    /// A new one.
    pub fn read(&self, configuration: &Configuration, fields: &mut Fields) -> Option<Budget> {
        let found = owners(configuration).into_iter().find(|(of, _)| name(of) == self.of);
        let of = fields.check("of", found.map(|(of, _)| of).ok_or("Choose a team, project or cost center."));
        let budget = self.read_of(of.clone().unwrap_or_else(|| BudgetOf::Team(String::new())), fields)?;
        Some(Budget { of: of?, ..budget })
    }

    /// One of this owner.
    pub fn read_of(&self, of: BudgetOf, fields: &mut Fields) -> Option<Budget> {
        let every = self.every.parse::<BudgetPeriod>().ok();
        let every = fields.check("every", every.ok_or("Choose month, quarter or year."));
        let first = month(&self.first).and_then(|first| first.ok_or(EXPECTED_MONTH));
        let first = fields.check("first", first);
        let last = fields.check("last", month(&self.last));
        if let (Some(first), Some(Some(last))) = (first, last)
            && last < first
        {
            fields.refuse("last", "The last month is before the first month.");
        }
        let amount = amount(&self.amount).filter(|amount| !amount.is_zero() && !amount.is_negative());
        let amount = fields.check("amount", amount.ok_or("Enter an amount above zero, such as 12000."));
        let currency = Currency::parse(&self.currency).filter(Currency::is_money);
        let currency = fields.check("currency", currency.ok_or("Enter a currency such as USD."));
        let thresholds = fields.check("thresholds", thresholds(&self.thresholds));
        if fields.is_refused() {
            return None;
        }
        Some(Budget {
            of,
            period: every?,
            months: Months { first, last: last? },
            amount: amount?,
            currency: currency?,
            thresholds: thresholds?,
        })
    }
}

/// The fields of a budget that is new.
pub fn empty(currency: Option<&Currency>, first: BillingMonth) -> Fields {
    Fields::new([
        ("every", "month"),
        ("first", &first.to_string()),
        ("currency", currency.map_or("", Currency::as_str)),
        ("thresholds", THRESHOLDS),
    ])
}

/// The fields of one that there is.
pub fn filled(budget: &Budget) -> Fields {
    let text = |month: Option<BillingMonth>| month.map(|month| month.to_string()).unwrap_or_default();
    let thresholds: Vec<String> = budget.thresholds.iter().map(ToString::to_string).collect();
    Fields::new([
        ("every", budget.period.as_str()),
        ("first", &text(budget.months.first)),
        ("last", &text(budget.months.last)),
        ("amount", &budget.amount.to_string()),
        ("currency", budget.currency.as_str()),
        ("thresholds", &thresholds.join(", ")),
    ])
}

/// Everyone who can have a budget, with what people call them.
pub fn owners(configuration: &Configuration) -> Vec<(BudgetOf, String)> {
    let of = |entry: &Entry| match entry {
        Entry::Team(it) => Some(BudgetOf::Team(it.handle.clone())),
        Entry::Project(it) => Some(BudgetOf::Project(it.handle.clone())),
        Entry::CostCentre(it) => Some(BudgetOf::CostCentre(it.handle.clone())),
        _ => None,
    };
    let mut owners: Vec<BudgetOf> = configuration.entries.values().filter_map(of).collect();
    owners.sort();
    owners.dedup();
    owners.into_iter().map(|of| (of.clone(), configuration.owner_name(&of))).collect()
}

/// How the form names an owner.
pub fn name(of: &BudgetOf) -> String {
    match of {
        BudgetOf::Team(handle) => format!("team:{handle}"),
        BudgetOf::Project(handle) => format!("project:{handle}"),
        BudgetOf::CostCentre(handle) => format!("cost-centre:{handle}"),
    }
}

/// `team`.
pub fn kind(of: &BudgetOf) -> &'static str {
    match of {
        BudgetOf::Team(_) => "team",
        BudgetOf::Project(_) => "project",
        BudgetOf::CostCentre(_) => "cost center",
    }
}

/// The same for scripts.
pub fn kind_in_files(of: &BudgetOf) -> &'static str {
    match of {
        BudgetOf::CostCentre(_) => "cost centre",
        BudgetOf::Team(_) | BudgetOf::Project(_) => kind(of),
    }
}

/// Refuses a currency that nothing of what the owner is billed in converts into.
pub async fn check_currency(
    answers: &Answers,
    db: &mut PgConnection,
    budget: &Budget,
    fields: &mut Fields,
) -> Result<(), Error> {
    let Some(first) = budget.months.first else { return Ok(()) };
    let missing = answers.without_rate(db, &budget.of, first, &budget.currency).await?;
    if !missing.is_empty() {
        fields.refuse("currency", lacking(&missing, &budget.currency));
    }
    Ok(())
}

/// `No exchange rate to USD for EUR in August 2026, September 2026. …`
fn lacking(missing: &[Unconverted], into: &Currency) -> String {
    let mut currencies: Vec<&Currency> = missing.iter().map(|it| &it.cost.currency).collect();
    currencies.sort_unstable();
    currencies.dedup();
    let of = |currency: &Currency| {
        let mut months: Vec<BillingMonth> =
            missing.iter().filter(|it| it.cost.currency == *currency).map(|it| it.month).collect();
        months.sort_unstable();
        months.dedup();
        let months: Vec<String> = months.into_iter().map(BillingMonth::name).collect();
        format!("{currency} in {}", months.join(", "))
    };
    let lacking: Vec<String> = currencies.into_iter().map(of).collect();
    format!(
        "No exchange rate to {into} for {}. Enter the rates first, or choose the currency of the bills.",
        lacking.join("; ")
    )
}

/// Writes an entry as it shall be.
pub async fn write(
    db: &mut PgConnection,
    edits: Vec<Edit>,
    about: impl Into<About<'_>>,
    act: Act<'_>,
) -> sqlx::Result<Done> {
    Ok(match changes::change::<Configuration>(db, edits, about, Right::Apply, act).await? {
        Outcome::At { change, .. } => Done::Written(change),
        Outcome::Nothing | Outcome::Waits(_) | Outcome::Decided => Done::Nothing,
        Outcome::Refused(problems) => Done::Refused(problems),
        Outcome::Conflict(_) => Done::Refused(vec![Problem {
            of: "this budget".to_owned(),
            message: "it was edited by somebody else; reload the page and try again".to_owned(),
        }]),
    })
}

/// `The budget of team Vision is 12,000.00 USD a month from 2026-09 now.`
pub fn in_words(configuration: &Configuration, budget: &Budget) -> String {
    format!(
        "budget of {} {}: {} {} a {} {}",
        kind(&budget.of),
        configuration.owner_name(&budget.of),
        filters::figure(budget.amount, 2),
        budget.currency,
        budget.period.as_str(),
        budget.months.in_words(),
    )
    .trim_end()
    .to_owned()
}

const EXPECTED_MONTH: &str = "Enter a month such as 2026-09.";

/// `None` for an empty field.
fn month(text: &str) -> Result<Option<BillingMonth>, &'static str> {
    match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| EXPECTED_MONTH),
    }
}

fn thresholds(text: &str) -> Result<Vec<u32>, &'static str> {
    let parts = text.split([',', ';', ' ']).map(|part| part.trim().trim_end_matches('%'));
    let numbers: Result<Vec<u32>, _> = parts.filter(|part| !part.is_empty()).map(str::parse).collect();
    let mut numbers = numbers.ok().filter(|numbers| numbers.iter().all(|n| (1..=1000).contains(n)));
    if let Some(numbers) = &mut numbers {
        numbers.sort_unstable();
        numbers.dedup();
    }
    numbers.ok_or("Enter percentages from 1 to 1000, separated by commas, such as 50, 80, 100.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read_as_people_write_them() {
        assert_eq!(thresholds("100, 50 80%;80"), Ok(vec![50, 80, 100]));
        assert_eq!(thresholds(" "), Ok(Vec::new()));
        for wrong in ["0", "1001", "-5", "much", "12.5"] {
            assert!(thresholds(wrong).is_err(), "{wrong}");
        }
    }
}
