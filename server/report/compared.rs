//! What a period is compared with: the one function that every page asks.
//!
//! A period that is over is compared with all of the one before it. Of a running one, the period before counts as far as it
//! has come itself, bill by bill: up to the same day of the month; of what belongs to no day (tax, fees, subscriptions) what
//! the bill has of that category and service already, whole with whole, and unused commitments by the part of the days; and
//! nothing of bills that are still to come. Single days are compared with the same weekdays before them, since use of machines
//! goes by the week; where these are too far back, with the same dates of the period before.

use std::collections::BTreeMap;

use chrono::{Datelike, Days, NaiveDate};
use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder};

use super::completeness::{Completeness, completeness_of};
use super::sql::Source;
use super::{Filter, Grouping, Question};
use crate::cache::SizeInCache;
use crate::ledger::ActiveImports;
use crate::money::Decimal;
use crate::period::{BillingMonth, Period};

/// What figures of the period before are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "with", rename_all = "kebab-case")]
pub enum Compared {
    /// All of the period before.
    #[default]
    Whole,
    /// Of the period before the same days. `through` is the last day that the period is stated up to, or, where only some
    /// bills end before their month does, those of them that come furthest; `days` how many of its last month that is, where
    /// all bills have come equally far.
    SameDays { through: NaiveDate, days: Option<u32>, only_some_bills: bool },
    /// So many days before the days that are asked for.
    DaysBefore { days: u64, first: NaiveDate, last: NaiveDate },
    /// The dates of the period before that those that are asked for have in theirs.
    SameDates { first: NaiveDate, last: NaiveDate },
}

/// How far the bills of a period that goes on have come, as what counts of the period before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SameDays {
    pub through: NaiveDate,
    pub days: Option<u32>,
    /// Other bills go on for longer, or are whole.
    pub only_some_bills: bool,
    /// The first month of the period before that is not compared whole.
    pub since: BillingMonth,
    /// Months that are compared whole.
    whole_months: Vec<BillingMonth>,
    /// Bills that are compared whole, of months that are not.
    whole_bills: Vec<i64>,
    /// Up to which day others count, and what part of the days of its month that is.
    until: BTreeMap<i64, (NaiveDate, Decimal)>,
    /// What else of them counts: charges of no day, of these categories and services.
    of_no_day: Vec<(i64, String, String)>,
}

/// Decimals of a part of a month, as of shares: so that what is multiplied by it sums exactly.
const PLACES: u8 = 12;

/// A day of a question's filter, and how far before it what it is compared with lies.
const WEEK: u64 = 7;

impl Compared {
    /// For a question whose period has come as far as this.
    pub(super) fn of(question: &Question, same_days: Option<&SameDays>) -> Self {
        match (question.days_before().map(|it| it.dates), same_days) {
            (Some(Dates::Weekdays { days, first, last }), _) => Self::DaysBefore { days, first, last },
            // Of the dates that are asked for, as many as there are.
            (Some(_), Some(it)) => it.compared(None),
            (None, Some(it)) => it.compared(it.days),
            (Some(Dates::Same { kept: Some((first, last)) }), None) => Self::SameDates { first, last },
            (Some(Dates::Same { kept: None }) | None, None) => Self::Whole,
        }
    }

    /// `vs October 2026`, `vs same 22 days of October 2026`, `vs October 7, 2026`.
    pub fn against(&self, period: Period) -> String {
        format!("vs {}", self.before(period))
    }

    /// What is compared with, as the head of a column: `Same 22 days of October 2026`.
    pub fn head(&self, period: Period) -> String {
        let text = self.before(period);
        let mut chars = text.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
    }

    /// `October 2026`, `same 22 days of October 2026`, `October 7, 2026`.
    pub fn before(&self, period: Period) -> String {
        let previous = period.previous().name();
        let all = period.previous().days();
        match self {
            Self::Whole => previous,
            Self::SameDays { days: Some(1), .. } if period.is_one_month() => {
                format!("same day of {previous}")
            }
            Self::SameDays { days: Some(days), .. } if period.is_one_month() => {
                format!("same {days} days of {previous}")
            }
            Self::SameDays { .. } => format!("same days of {previous}"),
            Self::SameDates { first, last } if *first == all.start && last.succ_opt() == Some(all.end) => {
                previous
            }
            Self::DaysBefore { first, last, .. } | Self::SameDates { first, last } if first == last => {
                named(*first)
            }
            Self::DaysBefore { first, last, .. } | Self::SameDates { first, last } => {
                format!("{} to {}", named(*first), named(*last))
            }
        }
    }

    /// One sentence where it is not all of the period before.
    pub fn sentence(&self, period: Period) -> Option<String> {
        match self {
            Self::Whole => None,
            Self::SameDays { through, only_some_bills: true, .. } => Some(format!(
                "Some bills of {} end by {}; each bill is compared with its same days of {}.",
                period.name(),
                named(*through),
                period.previous().name(),
            )),
            Self::SameDays { through, .. } => Some(format!(
                "{} is billed up to {} and compared with the {}.",
                period.name(),
                named(*through),
                match self.before(period) {
                    text if text.starts_with("same") => text,
                    text => format!("same days, {text}"),
                }
            )),
            Self::SameDates { .. } => {
                Some(format!("Compared with the same dates of {}.", period.previous().name()))
            }
            Self::DaysBefore { days, .. } => Some(format!(
                "Compared with the same {} {} before.",
                if *days == WEEK { "weekday" } else { "weekdays" },
                if *days == WEEK { "a week".to_owned() } else { format!("{} weeks", days / WEEK) },
            )),
        }
    }
}

fn named(day: NaiveDate) -> String {
    day.format("%B %-d, %Y").to_string()
}

/// What the days that a question filters by are compared with.
#[derive(Clone, Debug)]
pub(super) struct DaysBefore {
    /// The same question about these.
    pub asked: Question,
    /// The last month that they may be in.
    pub last: BillingMonth,
    dates: Dates,
}

#[derive(Clone, Copy, Debug)]
enum Dates {
    /// The same weekdays, so many days before.
    Weekdays { days: u64, first: NaiveDate, last: NaiveDate },
    /// The same dates of the period before: of those that are kept the first and the last.
    Same { kept: Option<(NaiveDate, NaiveDate)> },
}

/// The days that a question is about, where it keeps nothing but usage days and the same weekdays before them are in its period
/// or the one before: how far back these lie, the first and the last of them.
fn weekdays_before(question: &Question) -> Option<(u64, NaiveDate, NaiveDate)> {
    let mut of_days = question.filters.iter().filter(|it| it.dimension == Grouping::Day);
    let filter = of_days.next().filter(|it| !it.leaves_out)?;
    if of_days.next().is_some() {
        return None;
    }
    let days: Option<Vec<NaiveDate>> = filter.values.iter().map(|day| day.parse().ok()).collect();
    let days = days?;
    let (first, last) = (*days.iter().min()?, *days.iter().max()?);
    let span = u64::try_from((last - first).num_days()).ok()? + 1;
    let back = span.div_ceil(WEEK) * WEEK;
    let before = |day: NaiveDate| day.checked_sub_days(Days::new(back));
    let (first, last) = (before(first)?, before(last)?);
    // Further back than the period before nothing is read.
    (first >= question.period.previous().first().first_day()).then_some((back, first, last))
}

/// The dates of the period before that a day stands for: its own, and for the last day of a month all that the month before
/// has after it. None, where that has no such date.
fn dates_before(day: NaiveDate, period: Period) -> Vec<NaiveDate> {
    let month = BillingMonth::of(day);
    let then = month.minus(period.length()).days();
    let is_last = day.succ_opt() == Some(month.days().end);
    let until = if is_last { u32::MAX } else { day.day() };
    let days = then.start.iter_days().take_while(|date| *date < then.end);
    days.filter(|date| (day.day()..=until).contains(&date.day())).collect()
}

impl Question {
    /// What the days are compared with that it filters by; `None` where it does by none.
    pub(super) fn days_before(&self) -> Option<DaysBefore> {
        let is_day = |value: &String| value.parse::<NaiveDate>().is_ok();
        let of_days = |filter: &&mut Filter| filter.dimension == Grouping::Day;
        let mut filters = self.filters.iter().filter(|it| it.dimension == Grouping::Day);
        if !filters.any(|filter| filter.values.iter().any(is_day)) {
            return None;
        }
        let mut asked = self.clone();
        if let Some((days, first, last)) = weekdays_before(self) {
            for value in asked.filters.iter_mut().filter(of_days).flat_map(|filter| &mut filter.values) {
                let day: NaiveDate = value.parse().ok()?;
                *value = day.checked_sub_days(Days::new(days))?.to_string();
            }
            let dates = Dates::Weekdays { days, first, last };
            return Some(DaysBefore { asked, last: self.period.last(), dates });
        }
        let mut kept: Vec<NaiveDate> = Vec::new();
        for filter in asked.filters.iter_mut().filter(of_days) {
            let mut values = Vec::new();
            for value in std::mem::take(&mut filter.values) {
                match value.parse() {
                    Ok(day) => {
                        let dates = dates_before(day, self.period);
                        values.extend(dates.iter().map(NaiveDate::to_string));
                        kept.extend(dates.iter().filter(|_| !filter.leaves_out));
                    }
                    // What belongs to no day of the month has the same name in each.
                    Err(_) => values.push(value),
                }
            }
            filter.values = values;
        }
        let kept = kept.iter().min().copied().zip(kept.iter().max().copied());
        let last = self.period.previous().last();
        Some(DaysBefore { asked, last, dates: Dates::Same { kept } })
    }
}

impl SameDays {
    /// How far a period has come as of a sequence. `None` where all of it is there.
    pub async fn find(
        db: &mut PgConnection,
        period: Period,
        visible: &ActiveImports,
        sequence: i64,
    ) -> sqlx::Result<Option<Self>> {
        let bills = completeness_of(db, period, None, sequence).await?;
        let Some(latest) = bills.iter().map(|bill| bill.month).max() else { return Ok(None) };
        let of_latest = bills.iter().filter(|it| it.month == latest).filter_map(goes_on).max();
        // Of a period whose last months have no bills yet, those that there are.
        let end_of_latest = latest.days().end.pred_opt().filter(|_| latest < period.last());
        let earlier = || bills.iter().filter_map(goes_on).max();
        match of_latest.or(end_of_latest).or_else(earlier) {
            Some(through) => Self::up_to(db, period, visible, &bills, (latest, through)).await.map(Some),
            None => Ok(None),
        }
    }

    async fn up_to(
        db: &mut PgConnection,
        period: Period,
        visible: &ActiveImports,
        bills: &[Completeness],
        (latest, through): (BillingMonth, NaiveDate),
    ) -> sqlx::Result<Self> {
        let mut numbers: Vec<u32> =
            bills.iter().filter(|it| it.month == latest).filter_map(goes_on).map(|day| day.day()).collect();
        let is_everywhere =
            bills.iter().filter(|it| it.month == latest && it.last_day.is_some()).count() == numbers.len();
        numbers.dedup();
        let days = numbers.first().copied().filter(|_| numbers.len() == 1 && is_everywhere);
        let mut found = Self {
            through,
            days,
            only_some_bills: days.is_none() && through.succ_opt() != Some(latest.days().end),
            since: period.previous().first(),
            whole_months: Vec::new(),
            whole_bills: Vec::new(),
            until: BTreeMap::new(),
            of_no_day: Vec::new(),
        };
        let before = period.previous();
        let scopes = sqlx::query!(
            "select scope_id, provider, billing_account, billing_month, adjusts, is_usage
             from scopes
             where billing_month >= $1 and billing_month <= $2
             order by 1",
            before.first().first_day(),
            period.last().first_day(),
        )
        .fetch_all(&mut *db)
        .await?;
        let scope_of = |provider: &str, account: &str, month: BillingMonth| {
            let mut of_month = scopes.iter().filter(|it| it.billing_month == month.first_day());
            of_month.find(|it| it.provider == provider && it.billing_account == account).map(|it| it.scope_id)
        };
        // What adjusts or divides a bill is compared as far as the bill.
        let beside: BTreeMap<(i64, bool), i64> =
            scopes.iter().filter_map(|it| Some(((it.adjusts?, it.is_usage), it.scope_id))).collect();
        let beside = |bill: i64| [false, true].map(|is_usage| beside.get(&(bill, is_usage)).copied());
        let mut open: BTreeMap<i64, i64> = BTreeMap::new();
        for month in period.months().take_while(|month| *month <= latest) {
            let of_month: Vec<&Completeness> = bills.iter().filter(|it| it.month == month).collect();
            let then = month.minus(period.length());
            if !of_month.iter().any(|it| goes_on(it).is_some()) {
                found.whole_months.push(then);
                continue;
            }
            for bill in of_month {
                let Some(scope) = scope_of(&bill.provider, &bill.billing_account, then) else { continue };
                match goes_on(bill) {
                    None if bill.last_day.is_some() => {
                        found.whole_bills.push(scope);
                        found.whole_bills.extend(beside(scope).into_iter().flatten());
                    }
                    day => {
                        let number =
                            day.filter(|day| month.contains(*day)).map_or(0, |day| u64::from(day.day()));
                        let before_first = then.first_day().pred_opt().unwrap_or(then.first_day());
                        let until = before_first.checked_add_days(Days::new(number)).unwrap_or(before_first);
                        let of_month = Decimal::from((then.days().end - then.first_day()).num_days());
                        let part = Decimal::from(number.cast_signed()).divide(of_month, PLACES);
                        let until = (until, part.unwrap_or_default().min(1.into()));
                        found.until.insert(scope, until);
                        found.until.extend(beside(scope).into_iter().flatten().map(|it| (it, until)));
                        if let Some(now) = scope_of(&bill.provider, &bill.billing_account, month) {
                            open.insert(now, scope);
                            let pairs = beside(now).into_iter().zip(beside(scope));
                            open.extend(pairs.filter_map(|(now, then)| now.zip(then)));
                        }
                    }
                }
            }
        }
        let is_whole = |month: &BillingMonth| found.whole_months.contains(month);
        found.since = before.months().find(|month| !is_whole(month)).unwrap_or(period.first());
        let now: Vec<i64> = open.keys().copied().collect();
        let of_no_day = sqlx::query_as!(
            Billed,
            r#"select distinct c.scope_id, k.category, k.service
               from daily_totals c
               join charge_keys k using (charge_key_id)
               where c.billing_month >= $1 and c.billing_month <= $2 and c.is_whole_period
                 and c.scope_id = any($3) and c.delivery_id = any($4)
               order by 1, 2, 3"#,
            period.first().first_day(),
            latest.first_day(),
            &now,
            visible.deliveries(),
        )
        .fetch_all(db)
        .await?;
        let before = |it: Billed| Some((*open.get(&it.scope_id)?, it.category, it.service));
        found.of_no_day = of_no_day.into_iter().filter_map(before).collect();
        Ok(found)
    }

    fn compared(&self, days: Option<u32>) -> Compared {
        Compared::SameDays { through: self.through, days, only_some_bills: self.only_some_bills }
    }

    /// How much of a row of the period before counts, in SQL: all, or of what nobody used of a commitment, and is stated for no
    /// day, as much as of its days, since it grows with the month. `None` where no bill is still running.
    pub fn part_of_unused(&self, source: Source) -> Option<String> {
        if self.until.is_empty() {
            return None;
        }
        let ((_, is_whole_period), is_unused) = (source.day(), source.is_unused());
        let parts: Vec<String> =
            self.until.iter().map(|(scope, (_, part))| format!("when {scope} then {part}")).collect();
        let of_scope = format!("case c.scope_id {} else 1 end", parts.join(" "));
        Some(format!("case when {is_whole_period} and ({is_unused}) then {of_scope} else 1 end"))
    }

    /// `and …`: of rows of the period before those that count. Of rows that have days.
    pub fn push_where(&self, query: &mut QueryBuilder<Postgres>, source: Source) {
        let ((day, is_whole_period), kind) = (source.day(), source.category_and_service());
        query.push(" and (c.billing_month = any(");
        query.push_bind(self.whole_months.iter().map(|month| month.first_day()).collect::<Vec<_>>());
        query.push(") or c.scope_id = any(");
        query.push_bind(self.whole_bills.clone());
        query.push(format!(
            ") or case when {is_whole_period} then (c.scope_id, {kind}) in (select * from unnest("
        ));
        query.push_bind(self.of_no_day.iter().map(|(scope, ..)| *scope).collect::<Vec<_>>());
        query.push("::bigint[], ");
        query.push_bind(self.of_no_day.iter().map(|(_, category, _)| category.clone()).collect::<Vec<_>>());
        query.push("::text[], ");
        query.push_bind(self.of_no_day.iter().map(|(.., service)| service.clone()).collect::<Vec<_>>());
        query.push(format!("::text[])) else {day} <= case c.scope_id"));
        // Numbers and dates only. A bill that is not there yet has no day, and nothing of it counts.
        for (scope, (until, _)) in &self.until {
            query.push(format!(" when {scope} then date '{until}'"));
        }
        query.push(" when 0 then date '1970-01-01' end end)");
    }
}

impl SizeInCache for SameDays {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + 64 * (self.whole_bills.len() + self.until.len() + self.of_no_day.len())
    }
}

/// What a bill has already that belongs to no day.
struct Billed {
    scope_id: i64,
    category: String,
    service: String,
}

/// The last day that a bill states, where its month goes on after it and no invoice says that it is all.
fn goes_on(bill: &Completeness) -> Option<NaiveDate> {
    let day = bill.last_day.filter(|_| bill.is_provisional)?;
    let end = bill.month.days().end;
    let first = bill.month.first_day();
    // Usage of another month may be billed in this one.
    let day = day.max(first.pred_opt().unwrap_or(first));
    day.succ_opt().is_some_and(|next| next < end).then_some(day)
}
