//! The reading half of an import: a file's rows become blocks ready for `COPY`, and sums.
//!
//! Runs on a thread of its own, knows no database: what it needs from one (the id of a scope) and what
//! it makes (blocks) go through [`Sink`]. Memory is bounded: blocks are a megabyte, rollups have a
//! limit, remembered keys are forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::billing::{Charge, Export, HEADER_REPEATED, Refusal, ScopeOf, Step};
use crate::money::Currency;
use crate::period::BillingMonth;
use crate::store::CopyRows;

use super::correction::{CORRECTED, Mark};
use super::duplicate_rows::{Doubles, Known};
use super::key::{Keyed, Keyer};
use super::known_rows::{Destination, KnownRows};
use super::new_keys::NewKeys;
use super::progress::Progress;
use super::reading::{Block, ReadError, Reading, Sink, Stopped};
use super::rollup::{Beside, Entry, Sums};
use super::scope::{Coverage, Scope};
use super::totals::Totals;
use super::usage_without_cost::UsageWithoutCost;

/// Bytes of rows in one `COPY`.
const BLOCK: usize = 1 << 20;
/// Tag sets, rejections or corrected rows sent together.
const BATCH: usize = 1000;
/// Or as soon as they take this many bytes.
const BATCH_BYTES: usize = 1 << 20;
/// Months one delivery may state; more is no bill but a mistake, and each has partitions of its own.
const MAX_MONTHS: usize = 120;
/// Accounts and months that one delivery may state; each is asked of the database by itself.
pub(super) const MAX_SCOPES: usize = 10_000;
/// Ids remembered as sent; beyond, they are forgotten and sent again, which is harmless.
const MAX_REMEMBERED: usize = 1_000_000;

/// Reads the files of one delivery, one after the other.
pub struct Reader<'s, S> {
    sink: &'s mut S,
    delivery_id: i64,
    keyer: Keyer,
    known_rows: KnownRows,
    doubles: Doubles,
    rollup: Beside,
    charges: Vec<(BillingMonth, CopyRows)>,
    keys: NewKeys,
    known_tag_sets: FxHashSet<u128>,
    tag_sets: Vec<(Uuid, Value)>,
    /// Of these texts, about.
    tag_bytes: usize,
    scope_ids: FxHashMap<Scope, i64>,
    /// Of these scopes.
    months: BTreeSet<BillingMonth>,
    totals: Totals,
    /// By the numbers of those.
    corrections: BTreeMap<u32, Sums>,
    without_cost: UsageWithoutCost,
    reading: Reading,
    progress: Progress,
    /// Rows that the progress knows of.
    reported: u64,
}

impl<'s, S: Sink> Reader<'s, S> {
    pub fn new(
        sink: &'s mut S,
        delivery_id: i64,
        (keyer, without_cost): (Keyer, UsageWithoutCost),
        doubles: Doubles,
        rollup: Beside,
        progress: Progress,
    ) -> Self {
        let keys = NewKeys::new(keyer.catalog().version());
        Self {
            sink,
            delivery_id,
            keyer,
            known_rows: KnownRows::default(),
            doubles,
            rollup,
            charges: Vec::new(),
            keys,
            known_tag_sets: FxHashSet::default(),
            tag_sets: Vec::new(),
            tag_bytes: 0,
            scope_ids: FxHashMap::default(),
            months: BTreeSet::new(),
            totals: Totals::default(),
            corrections: BTreeMap::new(),
            without_cost,
            reading: Reading::default(),
            progress,
            reported: 0,
        }
    }

    /// Reads one file to its end, noting row positions for its original.
    pub fn file(
        &mut self,
        file_no: i16,
        export: &mut Export,
        mut note_row: impl FnMut(u64, u64),
    ) -> Result<(), ReadError> {
        let mut charge = Charge::default();
        let mut rejections = Vec::new();
        let mut corrected = Vec::new();
        let marks = export.columns().names.iter().position(|name| name == CORRECTED);
        let before = self.reading.rows_read;
        let mut last_day = None;
        if self.doubles.are_known() {
            // Where a row that is rejected here is a part of another, or has some, nobody could say what is left.
            export.look_at_no_others();
            self.reading.has_rows_twice = true;
        }
        self.doubles.begin_file();
        self.known_rows.begin_file();
        loop {
            let mut known = None;
            let find = |charge: &Charge| {
                known = self.known_rows.find(charge);
                known.is_some()
            };
            let Some(step) = export.next_unless_known(&mut charge, find)? else { break };
            if let Some(position) = export.position() {
                note_row(export.row(), position);
            }
            self.reading.rows_read += 1;
            if let Some(column) = marks
                && !matches!(step, Step::Skipped(_))
                && let Some(mark) = Mark::read(&export.cell(column))
            {
                corrected.push((export.row(), mark));
                if corrected.len() == BATCH {
                    self.sink.send(Block::Corrected { file_no, rows: std::mem::take(&mut corrected) })?;
                }
            }
            let step = match step {
                Step::Charge => match self.doubles.reject(export, file_no)? {
                    Some(rejection) => Step::Rejected(rejection),
                    None => Step::Charge,
                },
                Step::Skipped(HEADER_REPEATED) => {
                    if self.doubles.asks_for_whole_rows(export) {
                        return Err(ReadError::Again(Known::of_whole_rows()));
                    }
                    self.doubles.begin_section(export.row())?;
                    step
                }
                other => other,
            };
            match step {
                Step::Charge => {
                    self.charge(&mut charge, known, file_no, export.row())?;
                    if !charge.period.is_longer_than_a_day() {
                        last_day = last_day.max(Some(charge.period.day()));
                    }
                    self.further_charges(export, &mut charge, file_no)?;
                }
                Step::Rejected(rejection) => {
                    self.reading.rejected.note(file_no, &rejection);
                    if self.reading.rejected.are_too_many() {
                        return Err(self.rejected());
                    }
                    rejections.push(rejection);
                    if rejections.len() == BATCH {
                        let rejections = std::mem::take(&mut rejections);
                        self.sink.send(Block::Rejections { file_no, rejections })?;
                    }
                }
                Step::Skipped(reason) => *self.reading.skips.entry(reason.to_owned()).or_default() += 1,
            }
            if self.reading.rows_read.is_multiple_of(1024) {
                self.tell();
                if self.progress.cancelled_by().is_some() {
                    return Err(ReadError::Cancelled);
                }
            }
        }
        self.doubles.end_file()?;
        if !rejections.is_empty() {
            self.sink.send(Block::Rejections { file_no, rejections })?;
        }
        if !corrected.is_empty() {
            self.sink.send(Block::Corrected { file_no, rows: corrected })?;
        }
        self.reading.rows_by_file.push(self.reading.rows_read - before);
        self.reading.last_days.push(last_day);
        Ok(())
    }

    /// Says whether most rows of all files were rejected. Only behind the last of them, since which rows come first must
    /// not decide it.
    pub fn check_rejected(&mut self) -> Result<(), ReadError> {
        let Reading { rows_read, rejected, .. } = &self.reading;
        if rejected.are_most_of(*rows_read) { Err(self.rejected()) } else { Ok(()) }
    }

    /// Sends what is still held and answers what was read.
    pub fn finish(mut self) -> Result<Reading, ReadError> {
        let (mut part, sink) = (0, &mut *self.sink);
        let send = |identities| -> Result<(), ReadError> {
            part += 1;
            Ok(sink.send(Block::Identities { part, identities })?)
        };
        if let Some(known) = self.doubles.finish(send)? {
            known.check()?;
            return Err(ReadError::Again(known));
        }
        self.send_keys()?;
        self.send_tag_sets()?;
        self.reading.rates_version = self.without_cost.rates_version();
        self.send_usage()?;
        for (month, rows) in std::mem::take(&mut self.charges) {
            if !rows.is_empty() {
                self.sink.send(Block::Charges { month, rows })?;
            }
        }
        self.sink.send(Block::ChargesEnd)?;
        self.tell();
        for (number, sums) in &self.corrections {
            if let Some((_, currency)) = self.totals.place(*number) {
                self.reading.corrections.entry(currency.clone()).or_default().merge(sums);
            }
        }
        self.reading.totals = std::mem::take(&mut self.totals).into_map();
        // What reading knew makes room for what is merged now.
        self.known_rows = KnownRows::default();
        self.reading.catalog_version = self.keyer.catalog().version();
        self.keys = NewKeys::new(self.reading.catalog_version);
        let rollup = self.rollup.finish()?;
        let send = |part| Ok::<_, ReadError>(self.sink.send(Block::Rollup(part))?);
        self.reading.has_resources = rollup.finish(BLOCK, send)?;
        Ok(self.reading)
    }

    fn rejected(&mut self) -> ReadError {
        ReadError::Rejected(Box::new(std::mem::take(&mut self.reading)))
    }

    fn tell(&mut self) {
        self.progress.add_rows(self.reading.rows_read - self.reported);
        self.reported = self.reading.rows_read;
    }

    /// Takes what more charges a row is, of which the first was taken.
    fn further_charges(
        &mut self,
        export: &mut Export,
        charge: &mut Charge,
        file_no: i16,
    ) -> Result<(), ReadError> {
        loop {
            let mut known = None;
            let find = |charge: &Charge| {
                known = self.known_rows.find(charge);
                known.is_some()
            };
            if !export.further(charge, find)? {
                return Ok(());
            }
            self.charge(charge, known, file_no, export.row())?;
            self.reading.further_charges += 1;
        }
    }

    /// Takes a charge, and where it belongs if that is known; else its key and tags are there.
    fn charge(
        &mut self,
        charge: &mut Charge,
        known: Option<Destination>,
        file_no: i16,
        row_no: u64,
    ) -> Result<(), ReadError> {
        let is_priced = charge.lacks_cost && self.without_cost.pricer.price(charge);
        let destination = match known {
            Some(known) => known,
            None => self.destination(charge)?,
        };
        self.write_charge(charge, &destination, file_no, row_no)?;
        self.cover(charge, destination.scope_id);
        let of_charge = Sums::of_charge(charge);
        self.totals.add(destination.total, &of_charge);
        if charge.corrects_a_row {
            self.corrections.entry(destination.total).or_default().merge(&of_charge);
        }
        self.rollup.add(Entry::of(charge, &of_charge, &destination))?;
        if charge.lacks_cost {
            self.without_cost.add(charge, is_priced, destination.scope_id, destination.charge_key_id);
            if self.without_cost.is_full() {
                self.send_usage()?;
            }
        }
        self.reading.charges += 1;
        Ok(())
    }

    /// Finds out where a charge belongs.
    fn destination(&mut self, charge: &Charge) -> Result<Destination, ReadError> {
        let scope_id = self.scope(charge)?;
        let keyed = self.keyer.key(charge);
        self.note_key(charge, &keyed)?;
        let total = self.totals.number((scope_id, Currency::exactly(&charge.key.currency)));
        let destination = Destination::of(&keyed, scope_id, total);
        self.known_rows.keep(charge, destination);
        Ok(destination)
    }

    fn scope(&mut self, charge: &Charge) -> Result<i64, ReadError> {
        let scope = Scope::of_charge(charge);
        let scope_id = match self.scope_ids.get(&scope) {
            Some(known) => *known,
            None => self.new_scope(&scope, charge.scope)?,
        };
        let (_, coverage) =
            self.reading.scopes.entry(scope_id).or_insert_with(|| (scope, Coverage::default()));
        if !coverage.sub_accounts.contains(&charge.key.sub_account) {
            coverage.sub_accounts.insert(charge.key.sub_account.clone());
        }
        Ok(scope_id)
    }

    fn new_scope(&mut self, scope: &Scope, of: ScopeOf) -> Result<i64, ReadError> {
        self.months.insert(scope.month);
        if self.months.len() > MAX_MONTHS {
            let found = format!("charges of more than {MAX_MONTHS} billing months");
            return Err(Refusal::new(found, "the bill of a month, or of a few years").into());
        }
        if self.scope_ids.len() == MAX_SCOPES {
            let found = format!("charges of more than {MAX_SCOPES} billing accounts and months");
            return Err(Refusal::new(found, "the bill of an organization, which has far fewer").into());
        }
        let scope_id = self.sink.scope_id(scope, of)?;
        self.scope_ids.insert(scope.clone(), scope_id);
        Ok(scope_id)
    }

    fn note_key(&mut self, charge: &Charge, keyed: &Keyed) -> Result<(), Stopped> {
        self.keys.note(charge, keyed, self.keyer.noisy_tags());
        if self.keys.is_full() {
            self.send_keys()?;
        }
        if let Some(id) = keyed.tag_set_id
            && self.known_tag_sets.insert(id.as_u128())
        {
            for (name, _) in self.keyer.noisy_tags().noisy(&charge.tags) {
                if !self.reading.noisy_tags.contains(name) {
                    self.reading.noisy_tags.insert(name.to_owned());
                }
            }
            let tags = as_json(self.keyer.noisy_tags().noisy(&charge.tags));
            self.tag_sets.push((id, tags));
            self.tag_bytes += charge.tags.bytes();
            if self.tag_sets.len() >= BATCH || self.tag_bytes >= BATCH_BYTES {
                self.send_tag_sets()?;
            }
        }
        Ok(())
    }

    fn write_charge(
        &mut self,
        charge: &Charge,
        destination: &Destination,
        file_no: i16,
        row_no: u64,
    ) -> Result<(), Stopped> {
        let month = charge.billing_month();
        let known = self.charges.iter().position(|(of, _)| *of == month);
        let at = known.unwrap_or_else(|| {
            self.charges.push((month, CopyRows::with_capacity(BLOCK)));
            self.charges.len() - 1
        });
        let rows = &mut self.charges[at].1;
        let row = if self.sink.has_index() {
            rows.sorted_row(16, destination.charge_key_id.as_u128())
        } else {
            rows.row(16)
        };
        row.date(month.first_day())
            .uuid(destination.charge_key_id)
            .bigint(self.delivery_id)
            .bigint(destination.scope_id)
            .bigint(row_no as i64)
            .smallint(file_no)
            .bool(charge.is_metered)
            .timestamptz(charge.period.start)
            .timestamptz(charge.period.end)
            .numeric(&charge.billed_cost);
        for cost in [&charge.effective_cost, &charge.list_cost, &charge.contracted_cost] {
            // Mostly it is what was billed, and that is not written again.
            rows.numeric_or_null(Some(cost).filter(|cost| !cost.is_written_as(&charge.billed_cost)));
        }
        rows.numeric_or_null(charge.consumed_quantity.as_ref());
        if destination.bears_accelerators {
            rows.null();
        } else {
            rows.text_or_null(&charge.resource_id);
        }
        match destination.tag_set_id {
            Some(id) => rows.uuid(id),
            None => rows.null(),
        };
        if rows.len() >= BLOCK {
            let rows = std::mem::replace(rows, CopyRows::with_capacity(BLOCK));
            self.sink.send(Block::Charges { month, rows })?;
        }
        Ok(())
    }

    fn cover(&mut self, charge: &Charge, scope_id: i64) {
        let Some((_, coverage)) = self.reading.scopes.get_mut(&scope_id) else {
            return;
        };
        coverage.is_provisional |= charge.invoice_id.is_empty();
        if !charge.period.is_longer_than_a_day() {
            coverage.days.insert(charge.period.day());
        }
    }

    fn send_usage(&mut self) -> Result<(), Stopped> {
        let rows = self.without_cost.take(self.delivery_id);
        if rows.is_empty() { Ok(()) } else { self.sink.send(Block::UsageWithoutCost(rows)) }
    }

    fn send_keys(&mut self) -> Result<(), Stopped> {
        let keys = self.keys.take();
        if keys.is_empty() { Ok(()) } else { self.sink.send(Block::Keys(keys)) }
    }

    fn send_tag_sets(&mut self) -> Result<(), Stopped> {
        if self.known_tag_sets.len() > MAX_REMEMBERED {
            self.known_tag_sets.clear();
        }
        self.tag_bytes = 0;
        let sets = std::mem::take(&mut self.tag_sets);
        if sets.is_empty() { Ok(()) } else { self.sink.send(Block::TagSets(sets)) }
    }
}

fn as_json<'a>(tags: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    let tags: Map<String, Value> =
        tags.map(|(name, value)| (name.to_owned(), Value::String(value.to_owned()))).collect();
    Value::Object(tags)
}

impl From<Stopped> for ReadError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

impl From<Refusal> for ReadError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;

    use super::super::noise::NoisyTags;
    use super::super::rates::VersionedRates;
    use super::super::rejected::{FEW, MOST, SHOWN};
    use super::super::rollup::Rollup;
    use super::super::usage_without_cost::Pricer;
    use super::*;
    use crate::billing;

    /// Counts what is sent.
    #[derive(Default)]
    struct Counts {
        keys: Vec<usize>,
        tag_sets: Vec<usize>,
    }

    impl Sink for Counts {
        fn send(&mut self, block: Block) -> Result<(), Stopped> {
            match block {
                Block::Keys(keys) => self.keys.push(keys.rows()),
                Block::TagSets(sets) => self.tag_sets.push(sets.len()),
                _ => {}
            }
            Ok(())
        }

        fn scope_id(&mut self, _: &Scope, _: ScopeOf) -> Result<i64, Stopped> {
            Ok(1)
        }

        fn has_index(&self) -> bool {
            true
        }
    }

    const HEADER: &str = "BilledCost,EffectiveCost,BillingAccountId,BillingCurrency,BillingPeriodStart,ChargePeriodStart,\
                          ChargePeriodEnd,ChargeCategory,ProviderName\n";
    const GOOD: &str =
        "1,1,acme,USD,2026-09-01T00:00:00Z,2026-09-03T04:00:00Z,2026-09-03T05:00:00Z,Usage,NeoCloud\n";

    /// Reads files of good rows and bad ones, the bad ones first.
    fn read(files: &[(usize, usize)]) -> Result<Reading, ReadError> {
        let mut counts = Counts::default();
        let mut reader = Reader::new(&mut counts, 1, keyer(), no_doubles(), no_sums(), Progress::default());
        for (file_no, (good, bad)) in files.iter().enumerate() {
            let text = [HEADER, &"x\n".repeat(*bad), &GOOD.repeat(*good)].concat();
            let mut export =
                billing::open("bill.csv", Cursor::new(text.into_bytes()), &billing::ReadAs::any())?;
            reader.file(file_no as i16, &mut export, |_, _| {})?;
        }
        reader.check_rejected()?;
        reader.finish()
    }

    #[test]
    fn rejected_rows_refuse_a_delivery_where_they_are_most_or_more_than_anybody_corrects() {
        let few = FEW as usize;
        for (files, loads) in [
            (&[(0, few)][..], true),
            (&[(0, few + 1)], false),
            (&[(few + 1, few + 1)], true),
            (&[(few, few + 1)], false),
            (&[(few, 10), (0, few)], false),
            (&[(0, few), (few + 20, 10)], true),
        ] {
            let bad: usize = files.iter().map(|(_, bad)| bad).sum();
            match read(files) {
                Ok(reading) => assert!(loads && reading.rejected.count == bad as u64, "{files:?}"),
                Err(ReadError::Rejected(reading)) => {
                    assert!(!loads, "{files:?}");
                    assert_eq!(reading.rejected.count, bad as u64, "all were read");
                    assert_eq!(reading.rejected.first.len(), SHOWN);
                    let reported =
                        format!("{bad} of {} rows were rejected, which is most of them", reading.rows_read);
                    let why = reading.rejected.why_nothing_is_loaded(reading.rows_read);
                    assert!(why.starts_with(&reported), "{why}");
                }
                Err(error) => panic!("{files:?}: {error:?}"),
            }
        }
        let Err(ReadError::Rejected(reading)) = read(&[(0, MOST as usize + 5)]) else { panic!("it loads") };
        assert_eq!(reading.rows_read, MOST + 1, "nothing is read beyond");
        assert!(reading.rejected.why_nothing_is_loaded(reading.rows_read).starts_with(
            "200001 of the first 200001 rows were rejected, and an import takes at most 200000 such rows; nothing was imported"
        ));
    }

    #[test]
    fn accounts_beyond_those_of_any_organization_refuse_a_delivery() {
        let mut counts = Counts::default();
        let mut reader = Reader::new(&mut counts, 1, keyer(), no_doubles(), no_sums(), Progress::default());
        let mut charge = Charge::default();
        for account in 0..=MAX_SCOPES {
            charge.key.billing_account = account.to_string();
            let read = reader.charge(&mut charge, None, 0, 1);
            let is_refused = matches!(&read, Err(ReadError::Refused(refusal)) if refusal.found.contains("10000 billing accounts"));
            assert_eq!(is_refused, account == MAX_SCOPES, "{account}: {read:?}");
        }
    }

    /// Without a catalog's additions and rates.
    fn keyer() -> (Keyer, UsageWithoutCost) {
        let no_rates = Pricer::new(VersionedRates::default(), Arc::default());
        (Keyer::new(Arc::default(), NoisyTags::default()), UsageWithoutCost::new(no_rates))
    }

    /// These rows fit into memory, and nothing is written.
    fn no_sums() -> Beside {
        Beside::start(Rollup::new(1, std::env::temp_dir())).unwrap()
    }

    /// These rows have no identities, and nothing is written.
    fn no_doubles() -> Doubles {
        Doubles::new(std::env::temp_dir(), Known::default())
    }

    #[test]
    fn tag_sets_beyond_a_mebibyte_are_still_sent_many_at_a_time() {
        const ROWS: usize = 20_000;
        let mut counts = Counts::default();
        let mut reader = Reader::new(&mut counts, 1, keyer(), no_doubles(), no_sums(), Progress::default());
        let mut charge = Charge::default();
        for row in 0..ROWS {
            charge.tags.clear();
            charge.tags.set("run-id", &format!("run {row}"));
            reader.charge(&mut charge, None, 0, row as u64 + 1).unwrap();
        }
        reader.finish().unwrap();
        assert_eq!(counts.keys, [1]);
        assert_eq!(counts.tag_sets.iter().sum::<usize>(), ROWS);
        let blocks = counts.tag_sets.len();
        assert!(blocks <= 2 * ROWS / BATCH, "{blocks} blocks for {ROWS} sets of tags");
    }
}
