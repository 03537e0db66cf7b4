//! Settles what an answer is counted in, and finds what no rate converts into it.

use std::collections::BTreeSet;

use sqlx::{PgConnection, Postgres, QueryBuilder, Row};

use super::compared::SameDays;
use super::compared_period::{ComparedPeriod, first_together, whole_until};
use super::denomination::{Denomination, Unconverted};
use super::snapshot::{AsOf, Snapshot};
use super::sql::{Measure, Rows, Source, source_of};
use super::{Grouping, Question};
use crate::accounts::Viewer;
use crate::exchange::Used;
use crate::money::Currency;
use crate::period::BillingMonth;

/// The currencies of a question's period and what its answer is counted in; `None` where nothing was billed.
pub(super) struct Denominated {
    pub denomination: Option<Denomination>,
    /// Currencies of the period that are not in the total.
    pub others: Vec<Currency>,
    /// Whether something of it, or of what it is compared with, may have no rate.
    pub lacks_rates: bool,
}

/// Looks at the currencies of the months that are compared, and settles what the answer is counted in.
pub(super) async fn denominate(db: &mut PgConnection, asked: AsOf<'_>) -> sqlx::Result<Denominated> {
    let AsOf { question, snapshot, sequence } = asked;
    let billed = if question.viewer == Viewer::Everything && question.filters.is_empty() {
        every_currency(db, question, sequence).await?
    } else {
        currencies(db, question, snapshot).await?
    };
    // What days are compared with may be of other months, and billed in other currencies.
    let of_days_before = match question.days_before() {
        Some(before) => currencies(db, &before.asked, snapshot).await?,
        None => Vec::new(),
    };
    // Filters that leave nothing leave an amount of zero, in the currency that there would be without them.
    let in_period = |(month, ..): &(BillingMonth, Currency, i64)| *month >= question.period.first();
    if !question.filters.is_empty() && !billed.iter().any(in_period) {
        let unfiltered = Question { filters: Vec::new(), ..question.clone() };
        let found = Box::pin(denominate(db, AsOf { question: &unfiltered, ..asked })).await?;
        return Ok(Denominated { others: Vec::new(), ..found });
    }
    let most_used = most_used(billed.iter().filter(|row| in_period(row)));
    let Some(into) = snapshot.into.clone() else {
        let chosen = question.currency.clone().filter(|chosen| most_used.contains(chosen));
        let chosen = chosen.or_else(|| question.currency.is_none().then(|| most_used.first().cloned())?);
        let others = most_used.into_iter().filter(|other| Some(other) != chosen.as_ref()).collect();
        return Ok(Denominated { denomination: chosen.map(Denomination::Only), others, lacks_rates: false });
    };
    if most_used.is_empty() {
        return Ok(Denominated { denomination: None, others: most_used, lacks_rates: false });
    }
    let is_asked = |currency: &Currency| question.currency.as_ref().is_none_or(|asked| asked == currency);
    let others = most_used.into_iter().filter(|currency| !is_asked(currency)).collect();
    // Nothing is to be converted where everything is in it already, which most ledgers are.
    let every = || billed.iter().chain(&of_days_before);
    if question.currency.is_none() && every().all(|(_, currency, _)| *currency == into) {
        let denomination = Some(Denomination::Only(into));
        return Ok(Denominated { denomination, others, lacks_rates: false });
    }
    let of_asked = every().filter(|(_, currency, _)| is_asked(currency));
    let pairs: BTreeSet<(BillingMonth, &Currency)> =
        of_asked.map(|(month, currency, _)| (*month, currency)).collect();
    let mut used: Vec<Used> =
        pairs.iter().filter_map(|(month, currency)| snapshot.rates.find(*month, currency, &into)).collect();
    let lacks_rates = used.len() < pairs.len();
    // A converted answer has a total even where no rate converts any of it: nothing, and what is missing. SQL wants
    // one rate at least to join.
    if used.is_empty() {
        used.extend(snapshot.rates.find(question.period.first(), &into, &into));
    }
    let denomination = Denomination::Into { into, rates: used, only: question.currency.clone() };
    Ok(Denominated { denomination: Some(denomination), others, lacks_rates })
}

fn most_used<'a>(billed: impl Iterator<Item = &'a (BillingMonth, Currency, i64)>) -> Vec<Currency> {
    let mut charges: Vec<(i64, &Currency)> = Vec::new();
    for (_, currency, count) in billed {
        match charges.iter_mut().find(|(_, known)| *known == currency) {
            Some((sum, _)) => *sum += count,
            None => charges.push((*count, currency)),
        }
    }
    charges.sort_by_key(|(count, currency)| (std::cmp::Reverse(*count), *currency));
    charges.into_iter().map(|(_, currency)| currency.clone()).collect()
}

/// The currencies that the viewer and the filters leave in each month of a period and the one before, with
/// how many charges have them.
async fn currencies(
    db: &mut PgConnection,
    question: &Question,
    snapshot: &Snapshot,
) -> sqlx::Result<Vec<(BillingMonth, Currency, i64)>> {
    let filtered = Question { by: Grouping::Month, then: None, ..question.clone() };
    let source = source_of(db, (filtered.dimensions(), &filtered.viewer), snapshot).await?;
    let rows = Rows {
        first: question.period.previous().first(),
        ..Rows::of_period(&filtered, snapshot, source, None)
    };
    let mut query = QueryBuilder::<Postgres>::new(
        "select c.billing_month, c.currency, sum(c.charges)::bigint as charges",
    );
    rows.push(&mut query, &[Measure::Charges], &[]);
    query.push(" group by 1, 2 order by 1, 2");
    let rows = query.build().fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            let month = BillingMonth::of(row.try_get("billing_month")?);
            Ok((month, Currency::exactly(row.try_get("currency")?), row.try_get("charges")?))
        })
        .collect()
}

/// The same where nothing is left out, from the deliveries' totals instead of a look at every key.
async fn every_currency(
    db: &mut PgConnection,
    question: &Question,
    sequence: i64,
) -> sqlx::Result<Vec<(BillingMonth, Currency, i64)>> {
    let rows = sqlx::query!(
        r#"select s.billing_month, t.currency, sum(t.charges)::bigint as "charges!"
           from delivery_totals t
           join visibility v using (delivery_id, scope_id)
           join scopes s using (scope_id)
           where s.billing_month >= $1 and s.billing_month <= $2
             and v.from_sequence <= $3 and (v.until_sequence is null or v.until_sequence > $3)
           group by 1, 2
           order by 1, 2"#,
        question.period.previous().first().first_day(),
        question.period.last().first_day(),
        sequence,
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (BillingMonth::of(row.billing_month), Currency::exactly(&row.currency), row.charges))
        .collect())
}

/// What a converted answer leaves out, because its month has no rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LeftOut {
    pub of_period: Vec<Unconverted>,
    /// Of the period it is compared with.
    pub of_previous: Vec<Unconverted>,
}

/// Looks for what no rate converts, in a question's period and in what that is compared with.
pub(super) async fn left_out(
    db: &mut PgConnection,
    question: &Question,
    snapshot: &Snapshot,
    denominated: &Denominated,
    source: Source,
) -> sqlx::Result<LeftOut> {
    let Some(Denomination::Into { rates, only, .. }) = &denominated.denomination else {
        return Ok(LeftOut::default());
    };
    if !denominated.lacks_rates {
        return Ok(LeftOut::default());
    }
    let first = question.period.first();
    let apart = ComparedPeriod::of(question, snapshot);
    let since = whole_until(question, apart.as_ref());
    let rows =
        Rows { first: first_together(question, since), ..Rows::of_period(question, snapshot, source, None) };
    let lacks_rate = |it: &Unconverted| {
        !rates.iter().any(|used| used.month == it.month && used.currency == it.cost.currency)
    };
    let mut found = LeftOut::default();
    for it in by_currency(db, &rows, None, only.as_ref()).await?.into_iter().filter(lacks_rate) {
        if it.month >= first {
            found.of_period.push(it);
        } else if it.month < since {
            found.of_previous.push(it);
        }
    }
    if let Some(apart) = apart {
        let source = source_of(db, (apart.dimensions(question), &question.viewer), snapshot).await?;
        let (rows, same_days) = apart.rows(question, snapshot, None, source);
        let of_previous = by_currency(db, &rows, same_days, only.as_ref()).await?;
        found.of_previous.extend(of_previous.into_iter().filter(lacks_rate));
    }
    Ok(found)
}

/// What rows cost in each month and currency, or in one.
async fn by_currency(
    db: &mut PgConnection,
    rows: &Rows<'_>,
    same_days: Option<&SameDays>,
    only: Option<&Currency>,
) -> sqlx::Result<Vec<Unconverted>> {
    let mut query = QueryBuilder::<Postgres>::new("select c.billing_month, c.currency, ");
    query.push(format!("sum({}) as cost", rows.amount("cost")));
    rows.push_up_to(&mut query, same_days, &[Measure::Cost], &[]);
    if let Some(only) = only {
        query.push(" and c.currency = ");
        query.push_bind(only.as_str().to_owned());
    }
    query.push(" group by 1, 2 order by 1, 2");
    query.build().fetch_all(db).await?.iter().map(Unconverted::read).collect()
}
