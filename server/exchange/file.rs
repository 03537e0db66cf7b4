//! Rates from a CSV file: the European Central Bank's two kinds, and the one that this product writes. Pure.
//!
//! - `eurofxref-hist.csv` (and the `eurofxref.csv` of one day): a date, then a column a currency, one euro in
//!   each. A month's rate is the mean of its days, as the bank's own monthly averages are.
//! - A series of the bank's data portal (`data-api.ecb.europa.eu`, dataset EXR): a line an observation, monthly
//!   or daily. Averages (`EXR_SUFFIX` A) are taken; ends of a period (E) only where there is no average.
//! - `month,currency,quoted_in,rate`: one unit of `currency` is `rate` of `quoted_in`.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use super::Rate;
use crate::entered_csv::{EnteredCsv, RefusedRow};
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// Significant digits of a mean.
const DIGITS: u32 = 10;
/// No real rate has more digits before or after the point.
const MAX_DIGITS: usize = 12;

/// An observation before observations of a month are averaged.
struct Observation {
    month: BillingMonth,
    currency: Currency,
    quoted_in: Currency,
    rate: Decimal,
    kind: Kind,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// As it stands in a file of ours.
    Stated(String),
    MonthlyMean,
    Daily,
    /// Of the last day of a month.
    End,
}

/// The rates of a file, one a month and pair.
///
/// # Errors
/// The first place that is not as expected.
pub fn read(content: &[u8]) -> Result<Vec<Rate>, RefusedRow> {
    let mut file = EnteredCsv::open(content).map_err(|error| RefusedRow::broken(0, &error))?;
    let header = file.header.clone();
    let has = |name: &str| header.iter().any(|cell| cell.eq_ignore_ascii_case(name));
    let read_row: fn(&Row<'_>) -> Result<Vec<Observation>, RefusedRow> = if has("OBS_VALUE")
        && has("TIME_PERIOD")
        && has("CURRENCY_DENOM")
    {
        observation
    } else if header.get(0).is_some_and(|first| first.eq_ignore_ascii_case("Date")) && header.len() > 1 {
        day
    } else if has("month") && has("currency") && has("quoted_in") && has("rate") {
        stated
    } else {
        let found = header.iter().take(8).collect::<Vec<_>>().join(",");
        let expected = "a file of the European Central Bank (Date,USD,JPY,… or a data portal export of EXR), \
                        or the columns month,currency,quoted_in,rate";
        return Err(RefusedRow::new(0, "header", &found, expected));
    };
    let mut observations = Vec::new();
    let mut stated_rates = BTreeMap::new();
    for (number, record) in file.rows() {
        let record = record.map_err(|error| RefusedRow::broken(number, &error))?;
        let row = Row { number, header: &header, record: &record };
        for observation in read_row(&row)? {
            let Observation { month, ref currency, ref quoted_in, rate, ref kind } = observation;
            if matches!(kind, Kind::Stated(_)) {
                let earlier = stated_rates.insert((month, currency.clone(), quoted_in.clone()), rate);
                // Which of them is meant nobody can know.
                if earlier.is_some_and(|earlier| earlier != rate) {
                    let found = rate.to_string();
                    return Err(row.refused(
                        "rate",
                        &found,
                        "the rate that an earlier row states for this month",
                    ));
                }
            }
            observations.push(observation);
        }
    }
    Ok(by_month(observations))
}

struct Row<'a> {
    number: usize,
    header: &'a csv::StringRecord,
    record: &'a csv::StringRecord,
}

impl Row<'_> {
    fn cell(&self, column: &str) -> &str {
        let place = self.header.iter().position(|name| name.eq_ignore_ascii_case(column));
        place.and_then(|place| self.record.get(place)).unwrap_or_default()
    }

    fn refused(&self, column: &str, found: &str, expected: &'static str) -> RefusedRow {
        RefusedRow::new(self.number, column, found, expected)
    }

    fn currency(&self, column: &str) -> Result<Currency, RefusedRow> {
        let found = self.cell(column);
        Currency::parse(found).ok_or_else(|| self.refused(column, found, "a currency such as USD"))
    }

    fn rate(&self, column: &str, found: &str) -> Result<Decimal, RefusedRow> {
        parse_rate(found).ok_or_else(|| self.refused(column, found, "a number above zero such as 1.0843"))
    }
}

/// A rate as people and banks write it; `None` for what is none.
pub fn parse_rate(text: &str) -> Option<Decimal> {
    let rate: Decimal = text.trim().parse().ok()?;
    let text = rate.to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let fits = whole.len() <= MAX_DIGITS && decimals.len() <= MAX_DIGITS;
    (fits && !rate.is_zero() && !rate.is_negative()).then_some(rate)
}

/// `2026-09-30,1.0843,162.11,…,` under `Date,USD,JPY,…,`
fn day(row: &Row<'_>) -> Result<Vec<Observation>, RefusedRow> {
    let found = row.record.get(0).unwrap_or_default();
    let day = NaiveDate::parse_from_str(found, "%Y-%m-%d")
        .or_else(|_| NaiveDate::parse_from_str(found, "%d %B %Y"))
        .map_err(|_| row.refused("Date", found, "a day such as 2026-09-30"))?;
    let mut observations = Vec::new();
    for (name, found) in row.header.iter().zip(row.record).skip(1) {
        // The lines end with a comma; currencies that are no more have N/A.
        if name.is_empty() || matches!(found, "" | "N/A") {
            continue;
        }
        observations.push(Observation {
            month: BillingMonth::of(day),
            currency: Currency::exactly("EUR"),
            quoted_in: Currency::parse(name)
                .ok_or_else(|| row.refused("header", name, "a currency such as USD"))?,
            rate: row.rate(name, found)?,
            kind: Kind::Daily,
        });
    }
    Ok(observations)
}

/// `EXR.M.USD.EUR.SP00.A,M,USD,EUR,SP00,A,2026-09,1.0843,…`
fn observation(row: &Row<'_>) -> Result<Vec<Observation>, RefusedRow> {
    let value = row.cell("OBS_VALUE");
    if matches!(value, "" | "NaN") {
        return Ok(Vec::new());
    }
    let (frequency, suffix, time) = (row.cell("FREQ"), row.cell("EXR_SUFFIX"), row.cell("TIME_PERIOD"));
    let kind = match (frequency, suffix) {
        ("D", _) => Kind::Daily,
        ("M", "E") => Kind::End,
        ("M", _) => Kind::MonthlyMean,
        _ => return Err(row.refused("FREQ", frequency, "M (months) or D (days)")),
    };
    let month = match kind {
        Kind::Daily => NaiveDate::parse_from_str(time, "%Y-%m-%d").ok().map(BillingMonth::of),
        _ => time.parse().ok(),
    };
    Ok(vec![Observation {
        month: month
            .ok_or_else(|| row.refused("TIME_PERIOD", time, "a month (2026-09) or day (2026-09-30)"))?,
        currency: row.currency("CURRENCY_DENOM")?,
        quoted_in: row.currency("CURRENCY")?,
        rate: row.rate("OBS_VALUE", value)?,
        kind,
    }])
}

fn stated(row: &Row<'_>) -> Result<Vec<Observation>, RefusedRow> {
    let (month, rate) = (row.cell("month"), row.cell("rate"));
    let (currency, quoted_in) = (row.currency("currency")?, row.currency("quoted_in")?);
    if currency == quoted_in {
        return Err(row.refused(
            "quoted_in",
            quoted_in.as_str(),
            "another currency than in the column currency",
        ));
    }
    Ok(vec![Observation {
        month: month.parse().map_err(|_| row.refused("month", month, "a month such as 2026-09"))?,
        currency,
        quoted_in,
        rate: row.rate("rate", rate)?,
        kind: Kind::Stated(row.cell("source").to_owned()),
    }])
}

/// The mean of the best kind of observation that a month and pair has.
fn by_month(observations: Vec<Observation>) -> Vec<Rate> {
    let mut found: BTreeMap<(BillingMonth, Currency, Currency), Vec<(Kind, Decimal)>> = BTreeMap::new();
    for Observation { month, currency, quoted_in, rate, kind } in observations {
        found.entry((month, currency, quoted_in)).or_default().push((kind, rate));
    }
    let rate = |((month, currency, quoted_in), mut rates): (_, Vec<(Kind, Decimal)>)| {
        rates.sort();
        let best = rates.first()?.0.clone();
        rates.retain(|(kind, _)| *kind == best);
        if matches!(best, Kind::Stated(_)) {
            rates.truncate(1);
        }
        let days = i64::try_from(rates.len()).ok()?;
        let source = match best {
            Kind::Stated(source) if source.is_empty() => "from a file".to_owned(),
            Kind::Stated(source) => source,
            Kind::MonthlyMean => "European Central Bank, mean of the month".to_owned(),
            Kind::Daily if days == 1 => "European Central Bank, one day".to_owned(),
            Kind::Daily => format!("European Central Bank, mean of {days} days"),
            Kind::End => "European Central Bank, end of the month".to_owned(),
        };
        let rate = if days == 1 {
            rates[0].1
        } else {
            let sum: Decimal = rates.iter().map(|(_, rate)| *rate).sum();
            sum.divide(Decimal::from(days), 24)?.significant(DIGITS).normalize()
        };
        Some(Rate { month, currency, quoted_in, rate, source })
    };
    found.into_iter().filter_map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(content: &str) -> Vec<String> {
        let rates = read(content.as_bytes()).unwrap();
        let line = |rate: &Rate| {
            format!("{} 1 {} = {} {} ({})", rate.month, rate.currency, rate.rate, rate.quoted_in, rate.source)
        };
        rates.iter().map(line).collect()
    }

    #[test]
    fn it_averages_the_days_of_the_banks_history() {
        let file = "Date,USD,JPY,CYP,\n2026-09-02,1.10,161.0,N/A,\n2026-09-01,1.08,162.5,N/A,\n2026-08-31,1.07,,N/A,\n";
        insta::assert_snapshot!(lines(file).join("\n"), @r"
        2026-08 1 EUR = 1.07 USD (European Central Bank, one day)
        2026-09 1 EUR = 161.75 JPY (European Central Bank, mean of 2 days)
        2026-09 1 EUR = 1.09 USD (European Central Bank, mean of 2 days)
        ");
        assert_eq!(
            lines("Date, USD, \n20 November 2026, 1.1527, \n"),
            ["2026-11 1 EUR = 1.1527 USD (European Central Bank, one day)"]
        );
    }

    #[test]
    fn it_prefers_means_to_ends_in_the_banks_series() {
        let file = "KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE,OBS_STATUS\n\
                    EXR.M.USD.EUR.SP00.E,M,USD,EUR,SP00,E,2026-09,1.11,A\n\
                    EXR.M.USD.EUR.SP00.A,M,USD,EUR,SP00,A,2026-09,1.0843,A\n\
                    EXR.M.GBP.EUR.SP00.E,M,GBP,EUR,SP00,E,2026-09,0.84,A\n\
                    EXR.M.TRY.EUR.SP00.A,M,TRY,EUR,SP00,A,2026-09,NaN,H\n";
        insta::assert_snapshot!(lines(file).join("\n"), @r"
        2026-09 1 EUR = 0.84 GBP (European Central Bank, end of the month)
        2026-09 1 EUR = 1.0843 USD (European Central Bank, mean of the month)
        ");
    }

    #[test]
    fn it_reads_what_the_product_writes() {
        let file =
            "month,currency,quoted_in,rate,source\n2026-09,EUR,USD,1.0843,treasury\n2026-09,usd,CHF,0.88,\n";
        insta::assert_snapshot!(lines(file).join("\n"), @r"
        2026-09 1 EUR = 1.0843 USD (treasury)
        2026-09 1 USD = 0.88 CHF (from a file)
        ");
    }

    #[test]
    fn it_says_where_a_file_is_wrong() {
        for (file, problem) in [
            ("a,b\n1,2\n", "row 0, header: found \"a,b\", expected a file of the European Central Bank"),
            ("", "row 0, header: found \"\""),
            (
                "Date,USD\n01/09/2026,1.1\n",
                "row 1, Date: found \"01/09/2026\", expected a day such as 2026-09-30",
            ),
            (
                "Date,USD\n2026-09-01,1.1\n2026-09-02,\"1,1\"\n",
                "row 2, USD: found \"1,1\", expected a number",
            ),
            ("month,currency,quoted_in,rate\n2026-09,EUR,USD,0\n", "row 1, rate: found \"0\""),
            ("month,currency,quoted_in,rate\n2026-09,EUR,USD,-1\n", "row 1, rate: found \"-1\""),
            ("month,currency,quoted_in,rate\n2026-09,EUR,EUR,1\n", "row 1, quoted_in: found \"EUR\""),
            (
                "month,currency,quoted_in,rate\n2026-09,EUR,USD,1.1\n2026-09,EUR,USD,1.10\n2026-09,EUR,USD,1.2\n",
                "row 3, rate: found \"1.2\", expected the rate that an earlier row states",
            ),
            ("month,currency,quoted_in,rate\n2026-9,EUR,USD,1\n", "row 1, month: found \"2026-9\""),
            ("month,currency,quoted_in,rate\n2026-09,EUR,USD,1e30\n", "row 1, rate: found \"1e30\""),
        ] {
            let refused = read(file.as_bytes()).unwrap_err().to_string();
            assert!(refused.starts_with(problem), "{refused}\n{problem}");
        }
        assert!(read(b"Date,USD\n\xff\xfe,1\n").is_err());
    }
}
