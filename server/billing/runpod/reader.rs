//! Turns records into charges: one of each amount that is stated of a bucket.

use std::any::Any;

use chrono::{DateTime, NaiveTime, Utc};

use super::bucket::{Beginnings, Bucket};
use super::product::{BESIDE, Part, Product, Service};
use super::{AMOUNT, CURRENCY, MANDATORY, PROVIDER, START, UNNAMED_ACCOUNT, is_divided, metadata};
use crate::billing::Mandatory;
use crate::billing::billing_period::month_of;
use crate::billing::charge::{Charge, ChargeCategory, PricingCategory, is_negation};
use crate::billing::date_order::{DateColumns, DateOrder};
use crate::billing::header::{Header, key_of};
use crate::billing::row::{Column, Outcome, Problem, ReadRow, Row};
use crate::billing::rows::Members;
use crate::billing::value::TimeColumn;
use crate::money::Decimal;
use crate::period::{BillingMonth, ChargePeriod};

/// What is less than a millionth of a dollar between amounts that should be equal, binary floats all of them.
pub(super) fn noise() -> Decimal {
    Decimal::new(1, 6)
}

const NOTHING_BILLED: &str = "every amount is 0: nothing was billed";
const CROSSES: &str =
    "the bucket begins in one month and ends in another: it counts in the month in which it begins";
const REST: &str = "the amounts of the record do not add up to totalAmount: the rest is a charge of its own";
const ADDED: &str = "highPerformanceStorageAmount counts beside amount, as its own charge";
const ALONE: &str = "only the start of the bucket is stated, and there is no other: it is read as a day at midnight, else as an hour";

const MS_PER_HOUR: i64 = 3_600_000;
/// Decimals of hours.
const PLACES: u8 = 20;

pub(super) struct Reader {
    product: Product,
    is_divided: bool,
    at: At,
    times: [TimeColumn; 2],
    beginnings: Beginnings,
    last_needed: usize,
    identity: Vec<usize>,
    key_columns: Vec<usize>,
    /// The charges of the record that is being read, and which of them is.
    pieces: Vec<Piece>,
    piece: usize,
    /// What they have in common.
    common: Common,
    /// The total of all records so far; `None` where that has too many digits.
    billed: Option<Decimal>,
}

/// Where the members are.
struct At {
    start: Column,
    end: Column,
    amount: Column,
    beside: Column,
    time_billed: Column,
    gpu_type: Column,
    ids: Vec<Column>,
    parts: Vec<(Column, &'static Part)>,
}

/// An amount that is a charge.
struct Piece {
    share: Share,
    meter: &'static str,
    service: &'static Service,
    amount: Decimal,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    Whole,
    Part,
    /// What the parts lack to the total.
    Rest,
}

#[derive(Default)]
struct Common {
    period: ChargePeriod,
    month: BillingMonth,
    resource: String,
}

impl Reader {
    pub fn new(header: &Header) -> Self {
        let product = Product::of(header);
        let find = |name: &str| header.find(&key_of(name).0);
        let at = At {
            start: header.find_any(START),
            end: header.find("endtime"),
            amount: header.find_any(AMOUNT),
            beside: find(BESIDE.member),
            time_billed: header.find("timebilledms"),
            gpu_type: header.find("gputypeid"),
            ids: product.ids().iter().map(|id| header.find(id)).collect(),
            parts: product.parts().iter().map(|part| (find(part.member), part)).collect(),
        };
        let is_divided = is_divided(header);
        let id = at.ids.iter().flatten().copied().find(|id| header.has(&key_of(header.name(*id)).0));
        // What records of version 1 are grouped by is not stated.
        let is_named = is_divided && (id.is_some() || product.is_one_record_a_bucket());
        let named = id.into_iter().chain(at.start).chain(at.end);
        Self {
            product,
            is_divided,
            times: Default::default(),
            beginnings: Beginnings::default(),
            last_needed: Mandatory::last(MANDATORY, header),
            identity: if is_named { named.collect() } else { Vec::new() },
            key_columns: at.gpu_type.into_iter().collect(),
            pieces: Vec::new(),
            piece: 0,
            common: Common::default(),
            billed: Some(Decimal::ZERO),
            at,
        }
    }

    /// Whether a charge is the time of a machine.
    fn is_timed(&self, piece: &Piece) -> bool {
        piece.share == Share::Whole && self.product.is_timed() && !self.is_divided
    }

    fn period(&mut self, row: &mut Row<'_>) -> Result<ChargePeriod, Problem> {
        if !row.is_null(self.at.end) {
            return row.period([self.at.start, self.at.end], &mut self.times);
        }
        let start = row.time(self.at.start, &mut self.times[0])?;
        let (bucket, remark) = self.bucket(start);
        row.remark(remark);
        Ok(ChargePeriod { start, end: bucket.end(start) })
    }

    fn bucket(&self, start: DateTime<Utc>) -> (Bucket, &'static str) {
        if self.beginnings.are_several() {
            let bucket = self.beginnings.bucket();
            return (bucket, bucket.remark());
        }
        let mut alone = Beginnings::default();
        alone.add(start);
        (alone.bucket(), ALONE)
    }

    /// The amounts of a record that are charges.
    fn divide(&mut self, row: &mut Row<'_>) -> Result<(), Problem> {
        let Self { at, product, pieces, is_divided, .. } = self;
        pieces.clear();
        let total = row.needed_amount(at.amount)?;
        let whole =
            |share, amount| Piece { share, meter: product.meter(), service: product.service(), amount };
        if !*is_divided {
            pieces.push(whole(Share::Whole, total));
            if let Some(amount) = row.amount(at.beside)?.filter(|amount| !amount.is_zero()) {
                row.remark(ADDED);
                pieces.push(Piece {
                    share: Share::Part,
                    meter: BESIDE.meter,
                    service: BESIDE.service,
                    amount,
                });
            }
            return Ok(());
        }
        let mut rest = total;
        let mut is_stated = false;
        for (column, part) in &at.parts {
            let Some(amount) = row.amount(*column)? else { continue };
            is_stated = true;
            rest = rest.checked_sub(amount).map_err(|error| row.problem(*column, error.to_string()))?;
            if !amount.is_zero() {
                pieces.push(Piece { share: Share::Part, meter: part.meter, service: part.service, amount });
            }
        }
        if !is_stated && !total.is_zero() {
            pieces.push(whole(Share::Whole, total));
        } else if rest.abs() >= noise() {
            row.remark(REST);
            pieces.push(Piece { meter: "Rest of the total", ..whole(Share::Rest, rest) });
        } else if rest.is_zero() {
            return Ok(());
        } else if let Some(largest) = pieces.iter_mut().max_by_key(|piece| piece.amount.abs()) {
            // What binary floats lose when they are added up.
            largest.amount = largest
                .amount
                .checked_add(rest)
                .map_err(|error| row.problem(at.amount, error.to_string()))?;
        } else {
            pieces.push(whole(Share::Whole, rest));
        }
        Ok(())
    }

    fn fill(&self, row: &Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Some(piece) = self.pieces.get(self.piece) else { return Ok(()) };
        charge.period = self.common.period;
        charge.billing_month = self.common.month;
        charge.resource_id.push_str(&self.common.resource);
        charge.key_cells.extend_from_slice(piece.meter.as_bytes());
        for cost in [
            &mut charge.billed_cost,
            &mut charge.effective_cost,
            &mut charge.list_cost,
            &mut charge.contracted_cost,
        ] {
            *cost = piece.amount;
        }
        if self.is_timed(piece) {
            charge.consumed_quantity = self.hours(row)?;
            charge.is_metered =
                charge.consumed_quantity.is_some_and(|hours| !is_negation(piece.amount, hours));
        }
        Ok(())
    }

    fn hours(&self, row: &Row<'_>) -> Result<Option<Decimal>, Problem> {
        let milliseconds = row.quantity(self.at.time_billed)?;
        let hours = milliseconds.and_then(|ms| ms.divide(MS_PER_HOUR.into(), PLACES));
        Ok(hours.map(Decimal::normalize))
    }
}

impl ReadRow for Reader {
    fn last_needed(&self) -> usize {
        self.last_needed
    }

    fn dates(&self) -> DateColumns {
        DateColumns {
            columns: [self.at.start, self.at.end].into_iter().flatten().collect(),
            billing_period: None,
            usual: DateOrder::Undecided,
        }
    }

    /// "Records are emitted per pod per bucket", says the documentation of version 2, and the same of other products.
    fn identity(&self) -> &[usize] {
        &self.identity
    }

    fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    fn looks(&self, row: &Row<'_>) -> usize {
        usize::from(row.is_null(self.at.end))
    }

    fn learn(&mut self, row: Row<'_>, _look: usize) {
        if row.is_null(self.at.end)
            && let Ok(start) = row.time(self.at.start, &mut self.times[0])
        {
            self.beginnings.add(start);
        }
    }

    fn hand_over(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.beginnings.clone()))
    }

    fn take_over(&mut self, learned: Box<dyn Any + Send>) {
        if let Ok(beginnings) = learned.downcast() {
            self.beginnings = *beginnings;
        }
    }

    fn members(&self, members: &Members, rows: u64) -> Option<String> {
        metadata::said(members, rows, self.billed)
    }

    fn read(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        self.piece = 0;
        let period = self.period(&mut row)?;
        let month = month_of(&row, self.at.start, period.start)?;
        self.common.period = period;
        self.common.month = month;
        self.common.resource.clear();
        for id in &self.at.ids {
            if self.common.resource.is_empty() {
                row.text(*id, &mut self.common.resource)?;
            }
        }
        self.divide(&mut row)?;
        if self.pieces.is_empty() {
            return Ok(Outcome::Skipped(NOTHING_BILLED));
        }
        if period.end > month.next().first_day().and_time(NaiveTime::MIN).and_utc() {
            row.remark(CROSSES);
        }
        self.fill(&row, charge)?;
        let total =
            self.pieces.iter().try_fold(Decimal::ZERO, |sum, piece| sum.checked_add(piece.amount).ok());
        self.billed = self.billed.zip(total).and_then(|(billed, total)| billed.checked_add(total).ok());
        Ok(Outcome::Charge)
    }

    fn further(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<bool, Problem> {
        self.piece += 1;
        if self.piece >= self.pieces.len() {
            return Ok(false);
        }
        self.fill(&row, charge)?;
        Ok(true)
    }

    fn key(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Some(piece) = self.pieces.get(self.piece) else { return Ok(()) };
        let key = &mut charge.key;
        key.provider.push_str(PROVIDER);
        key.billing_account.push_str(UNNAMED_ACCOUNT);
        key.currency.push_str(CURRENCY);
        key.service.push_str(piece.service.name);
        key.service_category.push_str(piece.service.category);
        if piece.share == Share::Rest {
            key.category = ChargeCategory::Adjustment;
        } else {
            key.pricing = PricingCategory::Standard;
        }
        if !self.is_timed(piece) {
            key.meter.push_str(piece.meter);
            return Ok(());
        }
        key.unit.push_str("Hours");
        row.text(self.at.gpu_type, &mut key.instance_type)?;
        let is_known = !key.instance_type.is_empty();
        key.meter.push_str(if is_known { piece.meter } else { self.product.meter_without_gpu_type() });
        Ok(())
    }
}
