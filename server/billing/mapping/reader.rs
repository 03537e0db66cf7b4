//! Rows to charges, as a mapping says.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Days, Months, TimeDelta, Utc};

use super::dates::{self, Form, Orders, When};
use super::document::{self, DateForm, Field, Length, Mapping};
use super::leave_out::{LeftOut, Rules, Totals};
use super::numbers::{self, NoAmount};
use super::parts::{self, Kind, Part};
use super::units;
use crate::billing::account_id::{canonical_account, canonical_sub_account};
use crate::billing::canonical_provider;
use crate::billing::charge::{Charge, ChargeCategory, PricingCategory, is_negation};
use crate::billing::currency::CurrencyColumn;
use crate::billing::date_order::{DateColumns, DateOrder};
use crate::billing::header::Header;
use crate::billing::listed;
use crate::billing::row::{Column, Note, Outcome, Problem, ReadRow, Row};
use crate::money::Decimal;
use crate::period::{BillingMonth, ChargePeriod};

const LEFT_OUT: &str = "left out by the mapping";
const A_TOTAL: &str = "a total of other rows";

/// Whether a row was skipped because a mapping says that it is no charge.
pub fn is_left_out(reason: &str) -> bool {
    [LEFT_OUT, A_TOTAL].contains(&reason)
}

const NO_COST: &str = "neither cost nor tax";

/// The column that corrected rows have beside those of their file, as headers are compared.
const CORRECTED_ROW: &str = "gpuledgerrow";

pub(super) struct Reader {
    mapping: Arc<Mapping>,
    at: At,
    rules: Rules,
    totals: Totals,
    currency: CurrencyColumn,
    last_needed: usize,
    key_columns: Vec<usize>,
    /// How the first row writes its period; the others must do the same.
    forms: [Option<Form>; 2],
    /// Ranges that end as their dates say, and not as the mapping does.
    ends_by_dates: u64,
    /// The charges of the row that were not handed out yet, the last one first.
    parts: Vec<Part>,
    /// The category of each word that the mapping states one for, in lower case.
    categories: BTreeMap<String, ChargeCategory>,
    /// That of the row that was read last.
    category: ChargeCategory,
    /// Whether credits are printed without a minus sign, as the first one is.
    are_credits_unsigned: Option<bool>,
    /// Whether the row that was read last is such a credit.
    is_unsigned_credit: bool,
    /// What the charge is whose key is read next.
    kind: Kind,
}

/// Where the columns are.
struct At {
    start: Column,
    end: Column,
    cost: Column,
    tax: Column,
    quantity: Column,
    currency: From,
    provider: From,
    account: From,
    sub_account: From,
    service: From,
    sku: From,
    description: From,
    resource: From,
    region: From,
    accelerator: From,
    accelerator_count: From,
    unit: From,
    invoice: From,
    category: Column,
    tags: Vec<(String, usize)>,
}

/// What a field is taken from.
enum From {
    Nothing,
    Column(usize),
    Text(String),
}

impl From {
    fn new(field: Option<&Field>, header: &Header) -> Self {
        match field {
            None => Self::Nothing,
            Some(Field::Text(text)) => Self::Text(text.trim().to_owned()),
            // Files without a column that is named are refused.
            Some(Field::Column(name)) => document::find(header, name).map_or(Self::Nothing, Self::Column),
        }
    }

    fn column(&self) -> Column {
        if let Self::Column(column) = self { Some(*column) } else { None }
    }

    /// Appends what it is in a row.
    fn text(&self, row: &Row<'_>, out: &mut String) -> Result<(), Problem> {
        match self {
            Self::Nothing => Ok(()),
            Self::Column(column) => row.text(Some(*column), out),
            Self::Text(text) => {
                out.push_str(text);
                Ok(())
            }
        }
    }
}

impl Reader {
    pub fn new(mapping: Arc<Mapping>, header: &Header) -> Self {
        let find = |name: &str| document::find(header, name);
        let maybe = |name: &Option<String>| name.as_deref().and_then(find);
        let fields = &mapping.fields;
        let from = |field: &Option<Field>| From::new(field.as_ref(), header);
        let tags = mapping.tags.iter().filter_map(|(key, name)| Some((key.clone(), find(name)?)));
        let at = At {
            start: find(&mapping.period.start),
            end: maybe(&mapping.period.end),
            cost: maybe(&fields.cost),
            tax: maybe(&fields.tax),
            quantity: maybe(&fields.quantity),
            currency: From::new(Some(&fields.currency), header),
            provider: From::new(Some(&fields.provider), header),
            account: From::new(Some(&fields.account), header),
            sub_account: from(&fields.sub_account),
            service: from(&fields.service),
            sku: from(&fields.sku),
            description: from(&fields.description),
            resource: from(&fields.resource),
            region: from(&fields.region),
            accelerator: from(&fields.accelerator),
            accelerator_count: from(&fields.accelerator_count),
            unit: from(&fields.unit),
            invoice: from(&fields.invoice),
            category: mapping.category.as_ref().and_then(|category| find(&category.column)),
            tags: tags.collect(),
        };
        let of_key = [
            &at.currency,
            &at.provider,
            &at.account,
            &at.sub_account,
            &at.service,
            &at.sku,
            &at.description,
            &at.region,
            &at.accelerator,
            &at.accelerator_count,
            &at.unit,
        ];
        let mut key_columns: Vec<usize> = of_key.into_iter().filter_map(From::column).collect();
        key_columns.extend(at.category);
        key_columns.extend(at.tags.iter().map(|(_, column)| *column));
        let lacks_cost = mapping.lacks_cost();
        let amount = if lacks_cost { at.quantity } else { at.cost };
        let last_needed = [at.start, amount].into_iter().flatten().max().unwrap_or_default();
        Self {
            rules: Rules::new(&mapping, header),
            totals: if lacks_cost { Totals::of_quantities() } else { Totals::default() },
            currency: CurrencyColumn::default(),
            last_needed,
            key_columns,
            forms: [None; 2],
            ends_by_dates: 0,
            parts: Vec::new(),
            categories: categories(&mapping),
            category: ChargeCategory::default(),
            // Corrected rows were taken out of a file, and no other credit says how that one prints them.
            are_credits_unsigned: header.has(CORRECTED_ROW).then_some(false),
            is_unsigned_credit: false,
            kind: Kind::Cost,
            at,
            mapping,
        }
    }

    /// The amount in a column; `None` where there is none.
    fn amount(&self, row: &Row<'_>, column: Column, currency: &str) -> Result<Option<Decimal>, Problem> {
        let decimals = self.mapping.numbers.decimal;
        numbers::amount(&text(row, column)?, decimals, currency).map_err(|error| match error {
            NoAmount::Unreadable => row.problem(column, numbers::an_amount(decimals)),
            NoAmount::OtherCurrency(_) => {
                row.problem(column, format!("an amount in {currency}, the currency of its row"))
            }
        })
    }

    fn currency(&mut self, row: &Row<'_>) -> Result<String, Problem> {
        let mut stated = String::new();
        self.at.currency.text(row, &mut stated)?;
        let mut currency = String::new();
        let read = self.currency.read(stated.as_bytes(), &mut currency);
        read.map_err(|expected| row.problem(self.at.currency.column(), expected))?;
        Ok(currency)
    }

    fn when(&mut self, row: &Row<'_>, column: Column, which: usize) -> Result<When, Problem> {
        let text = text(row, column)?;
        let orders = Orders { slashes: row.date_order(), dots: self.mapping.period.dates };
        let Some(when) = dates::read(&text, orders) else {
            return Err(row.problem(column, dates::A_DATE));
        };
        let first = *self.forms[which].get_or_insert(when.form);
        if first != when.form {
            let expected = format!("one form in the whole column: the rows before have {}", first.plural());
            return Err(row.problem(column, expected));
        }
        Ok(when)
    }

    /// What a row is for.
    fn period(&mut self, row: &Row<'_>) -> Result<ChargePeriod, Problem> {
        let when = self.when(row, self.at.start, 0)?;
        let (start, column) = (when.start, self.at.end.filter(|column| !row.is_null(Some(*column))));
        let end = if column.is_some() {
            let end = self.when(row, column, 1)?;
            self.end(end).or_else(|| dates::behind(end.start, self.mapping.period.end_is))
        } else {
            self.end(when).or_else(|| match self.mapping.period.length {
                Length::Hour => start.checked_add_signed(TimeDelta::hours(1)),
                Length::Day => start.checked_add_days(Days::new(1)),
                Length::Week => start.checked_add_days(Days::new(7)),
                Length::Month => start.checked_add_months(Months::new(1)),
            })
        };
        match end {
            Some(end) if end >= start => Ok(ChargePeriod { start, end }),
            _ => Err(row.problem(column.or(self.at.start), "an end that is not before the start")),
        }
    }

    /// Where a month or a range ends.
    fn end(&mut self, when: When) -> Option<DateTime<Utc>> {
        let end = when.behind(self.mapping.period.end_is)?;
        self.ends_by_dates += u64::from(end.is_by_dates);
        Some(end.time)
    }

    /// The charges that a row is, in order.
    fn charges(&mut self, row: &Row<'_>) -> Result<Vec<Part>, Problem> {
        if self.mapping.lacks_cost() {
            return self.usage(row);
        }
        let currency = self.currency(row)?;
        let (mut cost, mut tax) =
            (self.amount(row, self.at.cost, &currency)?, self.amount(row, self.at.tax, &currency)?);
        if cost.or(tax).is_none() {
            return Err(row.problem(self.at.cost, numbers::an_amount(self.mapping.numbers.decimal)));
        }
        self.category = self.category(row)?;
        self.is_unsigned_credit =
            self.category == ChargeCategory::Credit && self.is_unsigned(row, cost, tax)?;
        if self.is_unsigned_credit {
            (cost, tax) = (cost.map(|cost| -cost), tax.map(|tax| -tax));
        }
        let period = self.period(row)?;
        let quantity = self.quantity(row)?;
        let month = BillingMonth::of(period.start.date_naive());
        let whole = |kind, cost, quantity| Part { kind, period, month, cost, quantity };
        let cost_part = cost.map(|cost| whole(Kind::Cost, cost, quantity));
        let tax_part = tax.filter(|tax| !tax.is_zero()).map(|tax| whole(Kind::Tax, tax, None));
        let parts = self.parts_of(row, cost_part.into_iter().chain(tax_part))?;
        let (cost, tax) = (cost.unwrap_or_default(), tax.unwrap_or_default());
        self.totals.add(&currency, cost, tax);
        if self.is_unsigned_credit {
            self.totals.take_off(&currency, -(cost + tax));
        }
        Ok(parts)
    }

    /// The charges of a row that states no cost: usage, of which a quantity is known and its unit.
    fn usage(&mut self, row: &Row<'_>) -> Result<Vec<Part>, Problem> {
        self.category = self.category(row)?;
        if self.category != ChargeCategory::Usage {
            let expected = "usage, the only category that rate cards price: leave other rows out, or import them from a file with their cost";
            return Err(row.problem(self.at.category, expected));
        }
        let an_amount = numbers::an_amount(self.mapping.numbers.decimal);
        let quantity = self.quantity(row)?.ok_or_else(|| row.problem(self.at.quantity, an_amount))?;
        let unit = self.unit(row)?;
        if unit.is_empty() {
            return Err(row.problem(self.at.unit.column(), "the unit of the quantity, such as GPU-Hours"));
        }
        let period = self.period(row)?;
        let month = BillingMonth::of(period.start.date_naive());
        let whole = Part { kind: Kind::Cost, period, month, cost: Decimal::ZERO, quantity: Some(quantity) };
        let parts = self.parts_of(row, std::iter::once(whole))?;
        self.totals.add(&unit, quantity, Decimal::ZERO);
        Ok(parts)
    }

    /// The parts of what a row states, by months where the mapping divides it.
    fn parts_of(&self, row: &Row<'_>, wholes: impl Iterator<Item = Part>) -> Result<Vec<Part>, Problem> {
        let mut parts = Vec::new();
        for whole in wholes {
            if !self.mapping.period.spread {
                parts.push(whole);
                continue;
            }
            let spread = parts::spread(whole).ok_or_else(|| {
                row.problem(self.at.end.or(self.at.start), format!("at most {} months", parts::MOST_MONTHS))
            })?;
            parts.extend(spread);
        }
        Ok(parts)
    }

    /// The unit of the quantity, in English where it is one of time.
    fn unit(&self, row: &Row<'_>) -> Result<String, Problem> {
        let mut text = String::new();
        self.at.unit.text(row, &mut text)?;
        Ok(units::in_english(&text).to_owned())
    }

    /// Whether a credit is printed without the minus sign that its amounts mean. All credits of a file have one or none: where some do,
    /// the others may take a credit back.
    fn is_unsigned(
        &mut self,
        row: &Row<'_>,
        cost: Option<Decimal>,
        tax: Option<Decimal>,
    ) -> Result<bool, Problem> {
        let stated = |amount: Option<Decimal>| amount.filter(|amount| !amount.is_zero());
        let is_negative = |amount: Decimal| amount.is_negative();
        let (cost, tax) = (stated(cost).map(is_negative), stated(tax).map(is_negative));
        let Some(has_minus) = cost.or(tax) else { return Ok(false) };
        if tax.is_some_and(|has_one| has_one != has_minus) {
            return Err(row.problem(self.at.tax, "tax with the same sign as the credit"));
        }
        let are_unsigned = *self.are_credits_unsigned.get_or_insert(!has_minus);
        if are_unsigned == has_minus {
            let column = if cost.is_some() { self.at.cost } else { self.at.tax };
            let expected =
                if are_unsigned { "a credit without a minus sign" } else { "a credit with a minus sign" };
            return Err(row.problem(
                column,
                format!("{expected}; if this is no credit, state another category for its word"),
            ));
        }
        Ok(are_unsigned)
    }

    fn quantity(&self, row: &Row<'_>) -> Result<Option<Decimal>, Problem> {
        let text = text(row, self.at.quantity)?;
        let decimals = self.mapping.numbers.decimal;
        let quantity = numbers::amount(&text, decimals, "");
        let quantity = quantity.map_err(|_| row.problem(self.at.quantity, numbers::an_amount(decimals)))?;
        row.narrow(self.at.quantity, quantity)
    }

    /// What the mapping states of the word of a row, or what that is in FOCUS; usage where the row has none.
    fn category(&self, row: &Row<'_>) -> Result<ChargeCategory, Problem> {
        let cell = String::from_utf8_lossy(row.word(self.at.category)).trim().to_lowercase();
        if cell.is_empty() {
            return Ok(ChargeCategory::Usage);
        }
        let stated = self.categories.get(&cell).copied();
        stated.or_else(|| ChargeCategory::parse(&cell)).ok_or_else(|| {
            let words = self.mapping.category.iter().flat_map(|category| category.words.keys());
            let words = listed(words.map(String::as_str), 10);
            row.problem(
                self.at.category,
                if words.is_empty() {
                    "a category of FOCUS, or a word that the mapping states a category for".to_owned()
                } else {
                    format!(
                        "one of the words that the mapping states a category for: {words}, or a category of FOCUS"
                    )
                },
            )
        })
    }

    /// Fills a charge with the next part of the row; false where there is none.
    fn hand_out(&mut self, row: &Row<'_>, charge: &mut Charge) -> Result<bool, Problem> {
        let Some(part) = self.parts.pop() else { return Ok(false) };
        self.kind = part.kind;
        charge.lacks_cost = self.mapping.lacks_cost();
        charge.period = part.period;
        charge.billing_month = part.month;
        charge.billed_cost = part.cost;
        charge.effective_cost = part.cost;
        charge.list_cost = part.cost;
        charge.contracted_cost = part.cost;
        self.at.invoice.text(row, &mut charge.invoice_id)?;
        self.at.resource.text(row, &mut charge.resource_id)?;
        if part.kind == Kind::Tax {
            charge.key_cells.extend_from_slice(b"tax\n");
        } else {
            charge.consumed_quantity = part.quantity;
            let is_usage = self.category == ChargeCategory::Usage;
            charge.is_metered =
                is_usage && part.quantity.is_some_and(|quantity| !is_negation(part.cost, quantity));
        }
        Ok(true)
    }
}

/// The category of each word that a mapping states one for, in lower case.
fn categories(mapping: &Mapping) -> BTreeMap<String, ChargeCategory> {
    let words = mapping.category.iter().flat_map(|category| &category.words);
    let category = |(word, category): (&String, &String)| {
        Some((word.trim().to_lowercase(), ChargeCategory::parse(category)?))
    };
    words.filter_map(category).collect()
}

/// What a cell holds.
fn text(row: &Row<'_>, column: Column) -> Result<String, Problem> {
    let mut text = String::new();
    row.text(column, &mut text)?;
    Ok(text)
}

impl ReadRow for Reader {
    fn last_needed(&self) -> usize {
        self.last_needed
    }

    fn dates(&self) -> DateColumns {
        DateColumns {
            columns: [self.at.start, self.at.end].into_iter().flatten().collect(),
            billing_period: None,
            usual: match self.mapping.period.dates {
                None => DateOrder::Undecided,
                Some(DateForm::DayFirst) => DateOrder::DayFirst,
                Some(DateForm::MonthFirst) => DateOrder::MonthFirst,
            },
        }
    }

    fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = self.totals.notes();
        if self.ends_by_dates > 0 {
            let (periods, were) =
                if self.ends_by_dates == 1 { ("period", "was") } else { ("periods", "were") };
            notes.push(Note::new(format!(
                "{} {periods} from the first of a month to the first of another {were} read as whole months, without the last date.",
                self.ends_by_dates
            )));
        }
        notes
    }

    fn read(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        self.parts.clear();
        if let Some(left_out) = self.rules.find(&row) {
            let lacks_cost = self.mapping.lacks_cost();
            let read = if lacks_cost { self.unit(&row) } else { self.currency(&row) };
            let currency = read.unwrap_or_default();
            let summed = if lacks_cost { self.at.quantity } else { self.at.cost };
            let (cell, decimals) = (text(&row, summed)?, self.mapping.numbers.decimal);
            match left_out {
                LeftOut::Total => {
                    let tax = text(&row, self.at.tax)?;
                    self.totals.state([&cell, &tax], decimals, &currency);
                }
                // A column of taxes has the tax of the rows.
                LeftOut::Tax if self.at.tax.is_none() && !lacks_cost => {
                    self.totals.leave_out_tax(&cell, decimals, &currency);
                }
                LeftOut::Tax | LeftOut::Other => {}
            }
            return Ok(Outcome::Skipped(if left_out == LeftOut::Total { A_TOTAL } else { LEFT_OUT }));
        }
        self.parts = self.charges(&row)?;
        self.parts.reverse();
        if self.hand_out(&row, charge)? { Ok(Outcome::Charge) } else { Ok(Outcome::Skipped(NO_COST)) }
    }

    fn is_unsigned_credit(&self) -> bool {
        self.is_unsigned_credit
    }

    fn further(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<bool, Problem> {
        self.hand_out(&row, charge)
    }

    fn key(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let (currency, category) = (self.currency(&row)?, self.category(&row)?);
        let Self { at, kind, .. } = self;
        let key = &mut charge.key;
        key.currency = currency;
        let mut text = String::new();
        at.provider.text(&row, &mut text)?;
        if text.is_empty() {
            return Err(row.problem(at.provider.column(), "the name of a provider"));
        }
        key.provider.push_str(&canonical_provider(&text));
        text.clear();
        at.account.text(&row, &mut text)?;
        if text.is_empty() {
            return Err(row.problem(at.account.column(), "the billing account"));
        }
        canonical_account(&key.provider, &text, "", &mut key.billing_account)
            .map_err(|expected| row.problem(at.account.column(), expected))?;
        text.clear();
        at.sub_account.text(&row, &mut text)?;
        canonical_sub_account(&key.provider, &text, &mut key.sub_account)
            .map_err(|expected| row.problem(at.sub_account.column(), expected))?;
        at.service.text(&row, &mut key.service)?;
        for (tag, column) in &at.tags {
            text.clear();
            row.verbatim(Some(*column), &mut text)?;
            charge.tags.set(tag, &text);
        }
        at.region.text(&row, &mut key.region)?;
        if *kind == Kind::Tax {
            key.category = ChargeCategory::Tax;
            return Ok(());
        }
        at.sku.text(&row, &mut key.sku)?;
        at.description.text(&row, &mut key.meter)?;
        at.accelerator.text(&row, &mut key.instance_type)?;
        at.accelerator_count.text(&row, &mut key.stated_accelerators)?;
        text.clear();
        at.unit.text(&row, &mut text)?;
        key.unit.push_str(units::in_english(&text));
        key.category = category;
        if key.category == ChargeCategory::Usage {
            key.pricing = PricingCategory::Standard;
        }
        Ok(())
    }
}
