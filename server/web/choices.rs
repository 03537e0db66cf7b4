//! What pages of figures let one choose between, and how they say what figures rest on.

use sqlx::PgConnection;

use super::format::File;
use super::question::Asked;
use crate::accounts::Person;
use crate::exchange;
use crate::money::Currency;
use crate::period::Period;
use crate::report::{Completeness, CostMetric, DataStatus};

/// What is written, where it leads, and whether it is shown now.
pub type Choice = (String, String, bool);

/// What a page of figures of a period was asked, what else it can be asked, and where that leads.
pub struct Choices {
    pub asked: Asked,
    period: Period,
    data_status: DataStatus,
    reporting_currency: Option<Currency>,
    address: Address,
}

/// The address of the page that asks this of a period. A page of one thing over all its months ignores the period, and offers
/// no others.
type Address = Box<dyn Fn(&Asked, Period) -> String + Send + Sync>;

impl Choices {
    pub async fn find(
        db: &mut PgConnection,
        mut asked: Asked,
        period: Period,
        data_status: &DataStatus,
        address: impl Fn(&Asked, Period) -> String + Send + Sync + 'static,
    ) -> sqlx::Result<Self> {
        keep_currency(&mut asked, data_status);
        let reporting_currency = exchange::reporting_currency(db).await?;
        let data_status = data_status.clone();
        Ok(Self { asked, period, data_status, reporting_currency, address: Box::new(address) })
    }

    /// Another question of the same period.
    pub fn at(&self, asked: &Asked) -> String {
        (self.address)(asked, self.period)
    }

    /// The same question of another period, from its first page on and in its usual steps.
    pub fn during(&self, period: Period) -> String {
        (self.address)(&Asked { page: 1, over: None, ..self.asked.clone() }, period)
    }

    /// The same with what the period is called.
    pub fn named(&self, period: Period) -> (String, String) {
        (period.name(), self.during(period))
    }

    pub fn periods(&self) -> Vec<Choice> {
        periods(self.period, |period| self.during(period))
    }

    pub fn file(&self, file: File) -> String {
        file.of(self.during(self.period))
    }

    pub fn costs(&self) -> Vec<Choice> {
        costs(&self.asked, |asked| self.at(asked))
    }

    pub fn currencies(&self) -> Vec<Choice> {
        currencies(&self.asked, &self.data_status, self.reporting_currency.as_ref(), |asked| self.at(asked))
    }

    pub fn chips(&self) -> Vec<(String, String)> {
        self.asked.chips(|asked| self.at(asked))
    }
}

pub fn costs(asked: &Asked, at: impl Fn(&Asked) -> String) -> Vec<Choice> {
    let choice = |cost: CostMetric| (cost.label(), at(&asked.cost(cost)), cost == asked.cost);
    CostMetric::ALL.into_iter().map(choice).collect()
}

/// From here on every link is about the same currency, whatever a filter makes the most used one: where nothing says what
/// to convert into, the one that is shown.
pub fn keep_currency(asked: &mut Asked, data_status: &DataStatus) {
    if asked.currency.is_none() && !data_status.is_converted && !data_status.other_currencies.is_empty() {
        asked.currency.clone_from(&data_status.currency);
    }
}

/// Each currency of the period alone, and all in one, where there are several.
pub fn currencies(
    asked: &Asked,
    data_status: &DataStatus,
    reporting: Option<&Currency>,
    at: impl Fn(&Asked) -> String,
) -> Vec<Choice> {
    let mut present: Vec<&Currency> = data_status.other_currencies.iter().collect();
    present.extend(data_status.rates.iter().map(|used| &used.currency));
    present.extend(data_status.unconverted.iter().map(|left_out| &left_out.cost.currency));
    present.extend(&data_status.currency);
    present.sort_unstable();
    present.dedup();
    // One that is not the one that was asked for is a way on.
    let is_one = present.len() < 2 && absent_currency(asked, data_status).is_none();
    if is_one && asked.convert_into.is_none() {
        return Vec::new();
    }
    let converted = &asked.convert_into;
    let shown = data_status.currency.as_ref();
    let alone = |currency: &&Currency| {
        let is_current = if data_status.is_converted {
            data_status.only.as_ref() == Some(currency)
        } else {
            shown == Some(currency)
        };
        (format!("{currency} only"), at(&asked.currency(currency)), is_current)
    };
    let all_in = |currency: &Currency| {
        let is_current = data_status.is_converted && data_status.only.is_none() && shown == Some(currency);
        (format!("All in {currency}"), at(&asked.convert_into(currency)), is_current)
    };
    let mut into: Vec<&Currency> = reporting.into_iter().chain(converted).collect();
    if into.is_empty() {
        into.extend(&present);
    }
    into.dedup();
    present.iter().map(alone).chain(into.into_iter().map(all_in)).collect()
}

/// The currency that was asked for, where the period has others only.
pub fn absent_currency<'a>(asked: &'a Asked, data_status: &DataStatus) -> Option<&'a Currency> {
    let is_alone = asked.convert_into.is_none() && data_status.currency.is_none();
    asked.currency.as_ref().filter(|_| is_alone && !data_status.other_currencies.is_empty())
}

/// Periods around one that people ask for.
pub fn periods(period: Period, during: impl Fn(Period) -> String) -> Vec<Choice> {
    period.around().into_iter().map(|it| (it.name(), during(it), it == period)).collect()
}

/// As somebody sees it: not everybody sees which billing account pays.
pub fn completeness_for(person: &Person, mut completeness: Vec<Completeness>) -> Vec<Completeness> {
    if !person.may_see_billing_accounts() {
        completeness.iter_mut().for_each(Completeness::hide_billing_account);
    }
    completeness
}

/// Who bills it, distinguished by whether it may still change. What names its invoices and still lacks days of its month
/// says so, since a bill can be called final too early.
pub fn publishers(completeness: &[Completeness], is_provisional: bool) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for provider in completeness.chunk_by(|a, b| a.provider == b.provider) {
        let matching = provider.iter().filter(|scope| scope.is_provisional == is_provisional).count();
        let mut remarks = Vec::new();
        if matching < provider.len() {
            remarks.push(format!("{matching} of {}", provider.len()));
        }
        if !is_provisional {
            remarks.extend(provider.iter().filter_map(|scope| short(scope, provider.len() > 1)));
        }
        if matching > 0 && remarks.is_empty() {
            names.push(provider[0].provider.clone());
        } else if matching > 0 {
            names.push(format!("{} ({})", provider[0].provider, remarks.join("; ")));
        }
    }
    names
}

/// `billed until September 28`: of a bill that is final and lacks days at the end of its month.
fn short(scope: &Completeness, is_named: bool) -> Option<String> {
    let day = scope.last_day.filter(|_| !scope.is_provisional)?;
    let is_short = day.succ_opt().is_some_and(|next| next < scope.month.days().end);
    let is_named = is_named && !scope.billing_account.is_empty();
    let account = if is_named { format!("{} ", scope.billing_account) } else { String::new() };
    is_short.then(|| format!("{account}billed until {}", day.format("%B %-d")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_final_bill_that_lacks_days_says_until_when_it_is_stated() {
        let scope = |account: &str, is_provisional, day: &str| Completeness {
            provider: "NeoCloud".into(),
            billing_account: account.into(),
            month: "2026-09".parse().unwrap(),
            is_provisional,
            last_day: day.parse().ok(),
            delivered_at: None,
            rejected_rows: 0,
            deliveries: Vec::new(),
        };
        let described = |scopes: &[Completeness]| publishers(scopes, false).join(", ");
        assert_eq!(described(&[scope("a", false, "2026-09-28")]), "NeoCloud (billed until September 28)");
        assert_eq!(described(&[scope("a", false, "2026-09-30")]), "NeoCloud");
        assert_eq!(described(&[scope("a", false, "")]), "NeoCloud", "it states no days");
        assert_eq!(
            described(&[scope("a", false, "2026-09-28"), scope("b", true, "2026-09-20")]),
            "NeoCloud (1 of 2; a billed until September 28)"
        );
    }
}
