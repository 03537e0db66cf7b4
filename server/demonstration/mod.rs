//! The demonstration: thirteen months of an invented organization's bills, as the files that would arrive.
//!
//! Six teams train and serve on AWS (a CUR), Azure (actual and amortized cost), Google Cloud (its export to BigQuery) and a
//! specialty cloud (FOCUS, in euros). The months tell a story: growth, a move from A100 to H100 that leaves reservations unused, prices that change,
//! an idle cluster over a weekend, tags as people write them, a month that was corrected, a file that was
//! damaged on the way, one that was no bill, and one that somebody must decide about. Beside the clouds stands a cluster
//! of its own, whose months are bills like any others.
//!
//! The same seed and day give the same files. [`Sums`] says what a correct reader finds in each.

mod bill;
mod cluster;
mod configuration;
mod exchange_rates;
mod file;
mod jobs;
mod mark;
mod organization;
mod pods;
mod schedule;

use std::collections::BTreeMap;
use std::io;

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};

pub use cluster::{CLUSTER, ClusterNews, Happening};
pub use file::File;
pub use mark::{Holds, Mark, STORY};

use crate::allocation::Entry;
use crate::generate::random::Random;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;
use bill::Statement;
use organization::{BILLS, Bill, MONTHS};

/// Months of the tables that have a story, from 0.
const DAMAGED: usize = 5;
const MISTAKEN: usize = 8;
const CORRECTED: usize = 10;

/// Teams that have a lead in a demonstration.
pub const LEADS: [&str; 2] = ["vision", "language"];

/// Which demonstration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demonstration {
    seed: u64,
    /// The first day that no file knows of.
    until: NaiveDate,
    months: usize,
}

/// Something that arrives, on a day of the story.
#[derive(Clone, Copy)]
pub struct Delivery {
    pub what: What,
    pub provider: &'static str,
    pub month: BillingMonth,
    /// When it would have been uploaded.
    pub at: DateTime<Utc>,
    bill: &'static Bill,
    of: Statement,
}

/// What a delivery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The bill of a closed month, with its invoice.
    Final,
    /// The month so far, or before its invoice.
    Provisional,
    /// Some rows cannot be read; a good file follows.
    Damaged,
    /// No bill at all; it is refused.
    PriceSheet,
    /// Lacks an account of the bill before it: someone must decide.
    Partial,
}

/// The files of a delivery, and what they sum to; `None` for what is no bill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub files: Vec<File>,
    pub sums: Option<Sums>,
    /// Rows that a correct reader rejects.
    pub damaged: u64,
}

/// What the good rows of a bill amount to. Rows that are damaged or left out are still in these sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    pub rows: u64,
    pub currency: Currency,
    pub billed: Decimal,
    pub effective: Decimal,
    /// Effective cost by the tag `team` as it is spelled; empty without one.
    pub teams: BTreeMap<&'static str, Decimal>,
    pub accelerator_hours: BTreeMap<&'static str, Decimal>,
}

impl Demonstration {
    /// Thirteen months that end with yesterday's, which is still open.
    pub fn new(seed: u64, today: NaiveDate) -> Self {
        Self { seed, until: today, months: MONTHS }
    }

    /// Only the last so many months, one at least.
    #[must_use]
    pub fn last(self, months: usize) -> Self {
        Self { months: months.clamp(1, MONTHS), ..self }
    }

    fn last_month(&self) -> BillingMonth {
        BillingMonth::of(self.until.checked_sub_days(Days::new(1)).unwrap_or(self.until))
    }

    /// The first month and the last.
    pub fn months(&self) -> (BillingMonth, BillingMonth) {
        let last = self.last_month();
        (last.minus(self.months as u32 - 1), last)
    }

    /// What its administrator wrote into the allocation configuration before anything arrived.
    pub fn configuration(&self) -> Vec<Entry> {
        configuration::configuration(self.last_month().minus(MONTHS as u32 - 1))
    }

    /// Everything that arrives, in order.
    pub fn deliveries(&self) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        for index in MONTHS - self.months..MONTHS {
            for (nth, bill) in BILLS.iter().enumerate() {
                self.deliver(index, nth, bill, &mut deliveries);
            }
        }
        // A month's closing bills may be due after today.
        let latest = self.until.and_time(chrono::NaiveTime::MIN).and_utc();
        for delivery in &mut deliveries {
            delivery.at = delivery.at.min(latest);
        }
        deliveries.sort_by_key(|delivery| (delivery.at, delivery.of.index));
        deliveries
    }

    /// What arrives of a bill's month.
    fn deliver(&self, index: usize, nth: usize, bill: &'static Bill, deliveries: &mut Vec<Delivery>) {
        let month = self.last_month().minus((MONTHS - 1 - index) as u32);
        let days = month.days();
        let hours = (days.end - days.start).num_days() as usize * 24;
        let whole = Statement { index, month, hours, known: hours, is_closed: true, seed: self.seed };
        let mut add = |what: What, day: i64, of: Statement| {
            let at = days.end.and_time(chrono::NaiveTime::MIN).and_utc()
                + TimeDelta::days(day)
                + TimeDelta::minutes(540 + 23 * nth as i64);
            deliveries.push(Delivery { what, provider: bill.provider, month, at, bill, of });
        };
        let is_specialty = nth == BILLS.len() - 1;
        if index == MONTHS - 1 {
            let known = (self.until - days.start).num_days() as usize * 24;
            let open = Statement { known, is_closed: false, ..whole };
            add(What::Provisional, 0, open);
            if is_specialty {
                add(What::Partial, 1, open);
            }
            return;
        }
        if index == CORRECTED && bill.provider == "AWS" {
            add(What::Provisional, 0, Statement { known: hours - 48, is_closed: false, ..whole });
        }
        if index == DAMAGED && is_specialty {
            add(What::Damaged, 2, whole);
        }
        if index == MISTAKEN && bill.provider == "Microsoft" {
            add(What::PriceSheet, 2, whole);
        }
        add(What::Final, 4, whole);
    }

    /// What happens to its own cluster, in order.
    pub fn cluster(&self) -> Vec<Happening> {
        cluster::happenings(self)
    }

    /// What the scheduler of its own cluster says of the jobs of a month.
    ///
    /// # Errors
    /// None: it is written to memory.
    pub fn jobs(&self, month: BillingMonth) -> io::Result<File> {
        cluster::jobs_of(self, month)
    }

    /// What Prometheus has of the pods of a month, on machines of a cloud.
    ///
    /// # Errors
    /// None: it is written to memory.
    pub fn pods(&self, month: BillingMonth) -> io::Result<File> {
        let before = self.last_month().months_after(month).unwrap_or(0) as usize;
        pods::answer(self.seed, (MONTHS - 1).saturating_sub(before), month, self.until)
    }

    /// US dollars for a euro on the working days of these months, in the form of the European Central Bank's
    /// history. Invented, as its name says.
    pub fn exchange_rates(&self) -> File {
        let text = exchange_rates::history(self.seed, self.months().0.first_day(), self.until);
        File { name: "eurofxref-invented.csv".to_owned(), bytes: text.into_bytes() }
    }
}

impl Delivery {
    /// Makes the files.
    pub fn package(&self) -> io::Result<Package> {
        if self.what == What::PriceSheet {
            return Ok(Package { files: vec![file::price_sheet(self.month)], sums: None, damaged: 0 });
        }
        let (mut contents, sums) = bill::write(self.bill, &self.of)?;
        let mut damaged = 0;
        let note = match self.what {
            What::Final | What::PriceSheet => "",
            What::Provisional => "-provisional",
            What::Damaged => {
                for csv in &mut contents {
                    (*csv, damaged) = file::with_decimal_commas(csv)?;
                }
                "-edited"
            }
            What::Partial => {
                let (account, _) = self.bill.accounts[self.bill.accounts.len() - 1];
                for csv in &mut contents {
                    *csv = file::without_account(csv, account)?;
                }
                "-training-only"
            }
        };
        let files = file::packed(self.bill, self.month, note, &contents)?;
        let sums = Some(sums);
        Ok(Package { files, sums, damaged })
    }

    /// Whether its rows count when everything has arrived.
    pub fn counts(&self) -> bool {
        match self.what {
            What::Final => true,
            What::Provisional => self.of.index == MONTHS - 1,
            What::Damaged | What::PriceSheet | What::Partial => false,
        }
    }
}
