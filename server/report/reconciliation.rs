//! Whether the ledger agrees with the invoices: per billing account and month what the files stated, what the
//! ledger holds, what the invoices say.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row};

use super::Answers;
use super::as_of::{Error, as_of};
use super::cache::Remembered;
use super::snapshot::Allocation;
use super::sql::{Source, push_from, push_where};
use crate::cache::SizeInCache;
use crate::ledger::ActiveImports;
use crate::money::{Currency, Decimal, Money};
use crate::onprem;
use crate::period::{BillingMonth, Period};

/// An invoice of `12` says `12.00`; one may state more decimals, as some marketplaces do.
const CENTS: u8 = 2;

/// Every billing account, month and currency of a period beside its invoices.
#[derive(Clone, Debug, Serialize)]
pub struct Reconciliation {
    pub period: Period,
    pub sequence: i64,
    pub lines: Vec<ReconciledLine>,
    /// One a currency.
    pub totals: Vec<ReconciledTotal>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ReconciledLine {
    pub scope_id: i64,
    pub month: BillingMonth,
    pub provider: String,
    pub billing_account: String,
    /// Billed cost as it was summed while the files were read.
    pub in_files: Money,
    /// Billed cost of the active charges.
    pub in_ledger: Money,
    /// What of it is tax.
    pub tax: Money,
    /// Rows of the files that could not be read and were not corrected, whatever they cost.
    pub rejected_rows: i64,
    /// The files name no invoice for some charges yet.
    pub is_provisional: bool,
    pub invoices: Vec<Invoice>,
    /// Null while no invoice was entered; one may be for what is our own, too.
    pub invoiced: Option<Money>,
    /// What the invoices say beyond the ledger, which is rounded to the digits that they state.
    pub difference: Option<Money>,
    pub agreement: Agreement,
}

/// An invoice that someone entered.
#[derive(Clone, Debug, Serialize)]
pub struct Invoice {
    pub invoice_id: i64,
    pub number: String,
    pub amount: Decimal,
    pub entered_at: DateTime<Utc>,
    pub entered_by: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// Nothing to compare with.
    NoInvoice,
    /// Nor will there be: it is our own, and nobody sends an invoice for it.
    Own,
    /// Nor will there be: it is what was agreed on beside the bill.
    Adjustment,
    /// To the digits that the invoices state.
    Agrees,
    /// It does when the ledger's tax is left out: the invoices are without it.
    AgreesWithoutTax,
    /// It does with what is agreed on beside the bill: the invoices are a reseller's, which has taken its discount off.
    AgreesWithAdjustments,
    Differs,
}

/// Sums of a currency. Of the invoices and the difference, over the lines that have an invoice.
#[derive(Clone, Debug, Serialize)]
pub struct ReconciledTotal {
    pub in_files: Money,
    pub in_ledger: Money,
    pub tax: Money,
    pub invoiced: Money,
    pub difference: Money,
    pub lines: usize,
    pub lines_with_invoice: usize,
    /// Lines of our own without one, for which none is expected.
    pub lines_own: usize,
    /// The same of adjustments.
    pub lines_adjusted: usize,
}

/// Billed cost and tax of the active charges, by scope and currency.
type Booked = BTreeMap<(i64, Currency), (Decimal, Decimal)>;

#[derive(PartialEq, Eq, Hash)]
struct BookedOf(Period, Arc<ActiveImports>);

impl Remembered for BookedOf {
    type Answer = Booked;
}

impl SizeInCache for Booked {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.len() * 160
    }
}

impl Answers {
    /// A period beside its invoices, as the ledger stands or stood.
    pub async fn reconciliation(
        &self,
        db: &mut PgConnection,
        period: Period,
        sequence: Option<i64>,
    ) -> Result<Reconciliation, Error> {
        let sequence = as_of(db, sequence).await?;
        let visible = self.visible(db, period.first(), period.last(), sequence).await?;
        let key = BookedOf(period, Arc::clone(&visible));
        let booked = self.remember(key, booked_of(db, period, &visible)).await?;
        Ok(reconcile(db, period, &booked, sequence).await?)
    }
}

/// Compares what was booked in a period with its files and with the invoices that there are now.
async fn reconcile(
    db: &mut PgConnection,
    period: Period,
    booked: &Booked,
    sequence: i64,
) -> sqlx::Result<Reconciliation> {
    let mut lines = stated(db, period, sequence).await?;
    let mut invoices = invoices(db, period).await?;
    let beside = adjustments_of(db, period).await?;
    for line in &mut lines {
        let of_line = (line.scope_id, line.in_files.currency.clone());
        if let Some((billed, tax)) = booked.get(&of_line) {
            (line.in_ledger.amount, line.tax.amount) = (*billed, *tax);
        }
        let adjusted = beside.get(&line.scope_id).map(|scope| (*scope, line.in_files.currency.clone()));
        let adjusted = adjusted.and_then(|it| booked.get(&it)).map(|(billed, _)| *billed);
        line.compare(invoices.remove(&of_line).unwrap_or_default(), adjusted.unwrap_or_default());
    }
    let totals = totals(&lines);
    Ok(Reconciliation { period, sequence, lines, totals })
}

impl ReconciledLine {
    fn compare(&mut self, invoices: Vec<Invoice>, adjusted: Decimal) {
        self.invoices = invoices;
        let currency = &self.in_ledger.currency;
        let money = |amount| Money { amount, currency: currency.clone() };
        if self.invoices.is_empty() {
            return;
        }
        let sum: Decimal = self.invoices.iter().map(|invoice| invoice.amount).sum();
        let (agreement, difference) = compare(sum, (self.in_ledger.amount, adjusted), self.tax.amount);
        self.agreement = agreement;
        self.difference = Some(money(difference));
        self.invoiced = Some(money(sum));
    }
}

/// Charges have more digits than an invoice: it agrees where rounding them, half to even, gives what it says. What
/// is left is the difference.
fn compare(invoiced: Decimal, (billed, adjusted): (Decimal, Decimal), tax: Decimal) -> (Agreement, Decimal) {
    let digits = invoiced.normalize().scale().max(CENTS);
    let difference = |amount: Decimal| invoiced - amount.round(digits);
    let whole = difference(billed);
    let agreement = if whole.is_zero() {
        Agreement::Agrees
    } else if difference(billed - tax).is_zero() {
        Agreement::AgreesWithoutTax
    } else if !adjusted.is_zero() && difference(billed + adjusted).is_zero() {
        Agreement::AgreesWithAdjustments
    } else {
        Agreement::Differs
    };
    (agreement, whole)
}

fn totals(lines: &[ReconciledLine]) -> Vec<ReconciledTotal> {
    let mut by_currency: BTreeMap<&Currency, Vec<&ReconciledLine>> = BTreeMap::new();
    for line in lines {
        by_currency.entry(&line.in_ledger.currency).or_default().push(line);
    }
    let total = |(currency, lines): (&Currency, Vec<&ReconciledLine>)| {
        let sum = |amount: fn(&ReconciledLine) -> Decimal| Money {
            amount: lines.iter().map(|line| amount(line)).sum(),
            currency: currency.clone(),
        };
        let of = |agreement| lines.iter().filter(|line| line.agreement == agreement).count();
        ReconciledTotal {
            in_files: sum(|line| line.in_files.amount),
            in_ledger: sum(|line| line.in_ledger.amount),
            tax: sum(|line| line.tax.amount),
            invoiced: sum(|line| or_zero(line.invoiced.as_ref())),
            difference: sum(|line| or_zero(line.difference.as_ref())),
            lines: lines.len(),
            lines_with_invoice: lines.iter().filter(|line| line.invoiced.is_some()).count(),
            lines_own: of(Agreement::Own),
            lines_adjusted: of(Agreement::Adjustment),
        }
    };
    by_currency.into_iter().map(total).collect()
}

fn or_zero(money: Option<&Money>) -> Decimal {
    money.map(|money| money.amount).unwrap_or_default()
}

/// What the files of the active deliveries stated; and accounts that have an invoice and no charge any more.
async fn stated(db: &mut PgConnection, period: Period, sequence: i64) -> sqlx::Result<Vec<ReconciledLine>> {
    let rows = sqlx::query!(
        r#"with counted as (
               select s.scope_id, t.currency, t.billed_cost, ds.is_provisional,
                   coalesce(m.missing, 0) as missing
               from scopes s
               join visibility v using (scope_id)
               join delivery_scopes ds on ds.scope_id = s.scope_id and ds.delivery_id = v.delivery_id
               join delivery_totals t on t.scope_id = s.scope_id and t.delivery_id = v.delivery_id
               left join missing_rows($3) m on m.delivery_id = v.delivery_id
               where s.billing_month >= $1 and s.billing_month <= $2
                 and v.from_sequence <= $3 and (v.until_sequence is null or v.until_sequence > $3)
               union all
               select i.scope_id, i.currency, 0, false, 0
               from invoices i
           )
           select s.scope_id, s.billing_month, s.provider, s.billing_account, s.adjusts is not null as "is_adjustment!",
               c.currency as "currency!",
               sum(c.billed_cost) as "billed!: Decimal",
               bool_or(c.is_provisional) as "is_provisional!",
               sum(c.missing)::bigint as "rejected!"
           from counted c
           join scopes s using (scope_id)
           where s.billing_month >= $1 and s.billing_month <= $2
             -- What divides machines amounts to nothing.
             and not s.is_usage
           group by s.scope_id, c.currency
           order by s.billing_month, s.provider, s.billing_account, c.currency"#,
        period.first().first_day(),
        period.last().first_day(),
        sequence,
    )
    .fetch_all(db)
    .await?;
    let lines = rows.into_iter().map(|row| {
        let currency = Currency::exactly(&row.currency);
        let nothing = Money { amount: Decimal::default(), currency: currency.clone() };
        let without_invoice = match row.provider.as_str() {
            _ if row.is_adjustment => Agreement::Adjustment,
            onprem::PROVIDER => Agreement::Own,
            _ => Agreement::NoInvoice,
        };
        ReconciledLine {
            scope_id: row.scope_id,
            month: BillingMonth::of(row.billing_month),
            provider: row.provider,
            billing_account: row.billing_account,
            in_files: Money { amount: row.billed, currency },
            in_ledger: nothing.clone(),
            tax: nothing,
            rejected_rows: row.rejected,
            is_provisional: row.is_provisional,
            invoices: Vec::new(),
            invoiced: None,
            difference: None,
            agreement: without_invoice,
        }
    });
    Ok(lines.collect())
}

/// The scope of the adjustments of each bill that has some.
async fn adjustments_of(db: &mut PgConnection, period: Period) -> sqlx::Result<BTreeMap<i64, i64>> {
    let rows = sqlx::query!(
        r#"select adjusts as "bill!", scope_id
           from scopes
           where adjusts is not null and not is_usage and billing_month >= $1 and billing_month <= $2"#,
        period.first().first_day(),
        period.last().first_day(),
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| (row.bill, row.scope_id)).collect())
}

/// Sums a period by scope and currency.
async fn booked_of(db: &mut PgConnection, period: Period, visible: &ActiveImports) -> sqlx::Result<Booked> {
    let mut query = QueryBuilder::<Postgres>::new(
        "select c.scope_id, k.currency, sum(c.billed_cost) as billed, \
         coalesce(sum(c.billed_cost) filter (where k.category = 'Tax'), 0) as tax",
    );
    let everyones = Allocation::default();
    push_from(&mut query, Source::Totals, &everyones);
    push_where(&mut query, Source::Totals, (period.first(), period.last()), visible, &everyones);
    query.push(" group by 1, 2");
    let rows = query.build().fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            let currency = Currency::exactly(row.try_get("currency")?);
            Ok(((row.try_get("scope_id")?, currency), (row.try_get("billed")?, row.try_get("tax")?)))
        })
        .collect()
}

async fn invoices(
    db: &mut PgConnection,
    period: Period,
) -> sqlx::Result<BTreeMap<(i64, Currency), Vec<Invoice>>> {
    let rows = sqlx::query!(
        r#"select i.invoice_id, i.scope_id, i.currency, i.number, i.amount as "amount: Decimal",
               i.entered_at, i.entered_by
           from invoices i
           join scopes s using (scope_id)
           where s.billing_month >= $1 and s.billing_month <= $2
           order by i.invoice_id"#,
        period.first().first_day(),
        period.last().first_day(),
    )
    .fetch_all(db)
    .await?;
    let mut found: BTreeMap<_, Vec<Invoice>> = BTreeMap::new();
    for row in rows {
        found.entry((row.scope_id, Currency::exactly(&row.currency))).or_default().push(Invoice {
            invoice_id: row.invoice_id,
            number: row.number,
            amount: row.amount,
            entered_at: row.entered_at,
            entered_by: row.entered_by,
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invoice_of_a_reseller_agrees_with_what_its_discount_leaves() {
        let [invoiced, billed, discount, tax] =
            ["115.00", "124.997", "-10", "0"].map(|text| text.parse().unwrap());
        let agreement = compare(invoiced, (billed, discount), tax).0;
        assert_eq!(agreement, Agreement::AgreesWithAdjustments);
        assert_eq!(compare(invoiced, (billed, Decimal::ZERO), tax).0, Agreement::Differs);
    }

    #[test]
    fn an_invoice_agrees_when_the_charges_round_to_it() {
        for (invoiced, billed, tax, agreement, difference) in [
            ("12.35", "12.3467", "0", Agreement::Agrees, "0"),
            ("12.3467", "12.3467", "2", Agreement::Agrees, "0"),
            ("12.34", "12.3467", "0", Agreement::Differs, "-0.01"),
            ("12", "12.3467", "0", Agreement::Differs, "-0.35"),
            ("12.00", "12.0001", "0", Agreement::Agrees, "0"),
            ("12.34", "12.345", "0", Agreement::Agrees, "0"),
            ("10.35", "12.3467", "2.0", Agreement::AgreesWithoutTax, "-2"),
            ("-3.5", "-3.499", "0", Agreement::Agrees, "0"),
        ] {
            let [invoiced, billed, tax, difference] =
                [invoiced, billed, tax, difference].map(|text| text.parse().unwrap());
            let none = Decimal::ZERO;
            assert_eq!(
                compare(invoiced, (billed, none), tax),
                (agreement, difference),
                "{invoiced:?} {billed:?}"
            );
        }
    }
}
