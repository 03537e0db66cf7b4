//! What holds of any bytes at all: one check for each target of the fuzzer, which the suite repeats over its corpus.

use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

use gpuledger::billing::mapping::{self, Draft, Mapping};
use gpuledger::billing::{self, Charge, Export, Manifest, ReadAs, Refusal, Step};
use gpuledger::economics::file;
use gpuledger::money::Decimal;
use gpuledger::telemetry::hours::{self, HOURS};
use gpuledger::telemetry::{self, Item, Zones};
use gpuledger::web::addresses;

#[expect(dead_code, reason = "some of it builds what tests alone want")]
#[expect(clippy::duplicate_mod, reason = "the fuzzer has no suite around it")]
#[path = "../support/workbooks.rs"]
mod workbook;

/// Longer than what tells text from anything else at the beginning of a file.
const HEADER: &str = "BilledCost,EffectiveCost,BillingAccountId,BillingCurrency,BillingPeriodStart,ChargePeriodStart,\
                      ChargePeriodEnd,ChargeCategory,ProviderName,Tags,x_PaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingP\
                      PaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPadding\
                      PaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPaddingPadding\n";
/// What a container may unpack to at most, and what is unpacked of one before that is known.
const MAX_RATIO: usize = 500;
const SLACK: usize = 3 << 20;
/// Bytes of what is still an address.
const LONGEST_ADDRESS: usize = 60_000;

/// Rows behind a header: wherever they stand in the stream, they are the same.
pub fn csv(rows: &[u8]) {
    let whole = [HEADER.as_bytes(), rows].concat();
    let shifts = 1 + rows.len() % 64;
    let (walked, shifted) =
        (walk(&whole, None), walk(&[&vec![b'\n'; shifts], whole.as_slice()].concat(), None));
    assert_eq!(walked.end, shifted.end);
    assert_eq!(walked.rows.len(), shifted.rows.len());
    for (row, other) in walked.rows.iter().zip(&shifted.rows) {
        assert_eq!((row.at + shifts as u64, &row.cells), (other.at, &other.cells));
        assert_eq!(row.step, other.step);
        let original = original(&whole, row.at);
        if original.len() == row.cells.len() {
            let values: Vec<String> = original.into_iter().map(|(_, value)| value).collect();
            assert_eq!(values, row.cells);
        }
    }
}

/// A file that is packed in whatever way: what is inside is read as if it had come plain, and is no bomb.
pub fn containers(bytes: &[u8]) {
    let walked = walk(bytes, None);
    assert!(walked.content.len() <= bytes.len() * MAX_RATIO + SLACK);
    if walked.end.is_ok() {
        let plain = walk(&walked.content, None);
        assert_eq!(plain.rows.len(), walked.rows.len());
        assert!(plain.rows.iter().zip(&walked.rows).all(|(plain, packed)| plain.step == packed.step));
    }
}

/// Objects of names and values, one on each line or in a list.
pub fn json(bytes: &[u8]) {
    let walked = walk(bytes, None);
    for row in walked.rows.iter().filter(|row| row.step == Step::Charge) {
        assert!(!original(bytes, row.at).is_empty());
    }
}

/// A Parquet file: read or refused, and a row opens alone as it was read among the others.
pub fn parquet(bytes: &[u8]) {
    open_by_number(bytes);
}

/// What a scheduler or meter says, in whichever format: read or refused. Nothing is at work for longer than it was measured, or measured
/// for longer than it was there.
pub fn usage(bytes: &[u8]) {
    let Some(format) = telemetry::recognize(bytes, &[]) else { return };
    // Where clocks are moved.
    let zones = Zones::all("Europe/Berlin".parse().unwrap());
    let mut each = |item: Item| match item {
        Item::Metered(metered) => {
            for day in metered.days.values() {
                for hour in 0..HOURS {
                    let (measured, busy) = day.busy(hour);
                    assert!(0 <= busy && busy <= measured && measured <= day.present[hour], "{metered:?}");
                }
            }
        }
        Item::Job(job) => {
            for day in hours::days(&job).iter().flatten() {
                for hour in 0..HOURS {
                    let (held, measured, busy) = (day.held[hour], day.measured[hour], day.busy[hour]);
                    assert!(0 <= busy && busy <= measured && measured <= held, "{job:?}");
                }
            }
        }
        Item::Rejected(rejection) => assert!(!rejection.expected.is_empty()),
        Item::Sample | Item::Skipped(_) | Item::Remark(_) | Item::UnreadColumn(_) => {}
    };
    if let Err(refusal) = format.read(bytes, &zones, &[], &mut each) {
        assert!(!refusal.message().is_empty());
    }
}

/// A workbook, or the XML of its sheet in one: the same.
pub fn workbooks(bytes: &[u8]) {
    if bytes.starts_with(b"PK") {
        return open_by_number(bytes);
    }
    let sheet = workbook::Sheet { name: "Bill", ..workbook::Sheet::default() };
    let mut parts = workbook::parts(&[sheet], false);
    for (name, content) in &mut parts {
        if name.starts_with("xl/worksheets/") {
            *content = bytes.to_vec();
        }
    }
    open_by_number(&workbook::zip(&parts));
}

/// Reads a file whose rows are found again by their number.
fn open_by_number(bytes: &[u8]) {
    let open = |row| billing::open_at("any", Cursor::new(bytes.to_vec()), row, &ReadAs::any());
    let mut export = match billing::open("any", Cursor::new(bytes.to_vec()), &ReadAs::any()) {
        Ok(export) => export,
        Err(refusal) => return said(&refusal),
    };
    let (mut charge, mut again) = (Charge::default(), Charge::default());
    loop {
        let step = match export.next(&mut charge) {
            Ok(Some(step)) => step,
            Ok(None) => break,
            Err(refusal) => return said(&refusal),
        };
        if step == Step::Charge {
            holds(&charge);
        }
        // Of damaged files the columns need not agree, so only the first rows are compared.
        if export.row() < 4
            && let Ok(mut alone) = open(export.row())
            && let Ok(Some(Step::Charge)) = alone.next(&mut again)
        {
            assert_eq!(alone.row(), export.row());
            assert!(!alone.original().is_empty());
        }
    }
}

/// What stands between a mapping and the file that is read by it.
const BETWEEN: &[u8] = b"\n---\n";

/// A mapping is read as it is written, or refused in words; a file is read by it row by row.
pub fn mappings(bytes: &[u8]) {
    let Some(at) = bytes.windows(BETWEEN.len()).position(|window| window == BETWEEN) else { return };
    let (document, file) = (&bytes[..at], &bytes[at + BETWEEN.len()..]);
    let Ok(document) = std::str::from_utf8(document) else { return };
    let mapping = match Mapping::parse(document) {
        Ok(mapping) => mapping,
        Err(error) => return assert!(!error.is_empty()),
    };
    assert_eq!(Mapping::parse(&mapping.text()).as_ref(), Ok(&mapping), "{}", mapping.text());
    // What is filled in may be less than a mapping says, and is none then.
    let _ = Draft::of(&mapping).mapping();
    let format = mapping::read_by(mapping, 1);
    let read_as = ReadAs::named(Some(format.name()));
    walk_as(file, &read_as.with_mappings(Arc::from([Arc::clone(&format)])));
    walk_as(file, &ReadAs::any().with_mappings(Arc::from([format])));
}

pub fn manifests(bytes: &[u8]) {
    let _ = Manifest::recognizes(bytes);
    let manifest = match Manifest::parse(bytes) {
        Ok(manifest) => manifest,
        Err(refusal) => return said(&refusal),
    };
    assert!(!manifest.files.is_empty());
    for key in &manifest.files {
        for path in Manifest::candidates(key) {
            let below = path.trim_start_matches("../");
            assert!(!below.is_empty() && !below.starts_with('/'), "{path}");
            assert!(below.split(['/', '\\']).all(|part| part != ".."), "{path} climbs out");
        }
    }
    let mut found: Vec<usize> = manifest.matching(&manifest.files).into_iter().flatten().collect();
    assert_eq!(found.len(), manifest.files.len(), "each file is found by its own name");
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), manifest.files.len(), "none stands for two");
}

pub fn google(bytes: &[u8]) {
    walk(bytes, Some("gcp-billing"));
}

pub fn focus(bytes: &[u8]) {
    walk(bytes, Some("focus"));
}

pub fn oci_cost(bytes: &[u8]) {
    walk(bytes, Some("oci-cost"));
}

pub fn azure(bytes: &[u8]) {
    walk(bytes, Some("azure-usage"));
}

pub fn aws_cur(bytes: &[u8]) {
    walk(bytes, None);
}

pub fn runpod(bytes: &[u8]) {
    walk(bytes, Some("runpod-billing"));
}

pub fn vast(bytes: &[u8]) {
    walk(bytes, Some("vast-charges"));
}

pub fn modal(bytes: &[u8]) {
    walk(bytes, Some("modal-billing"));
}

pub fn digitalocean(bytes: &[u8]) {
    walk(bytes, Some("digitalocean-invoice"));
}

pub fn crusoe(bytes: &[u8]) {
    walk(bytes, Some("crusoe-billing"));
}

pub fn hyperstack(bytes: &[u8]) {
    walk(bytes, Some("hyperstack-costs"));
}

pub fn fireworks(bytes: &[u8]) {
    walk(bytes, Some("fireworks-metrics"));
}

/// What is written of a scenario is read the same, and what is refused is refused in words at a line.
pub fn scenarios(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match file::read(text) {
        Ok(scenario) => {
            let written = file::write(&scenario).expect("every scenario can be written");
            assert_eq!(file::read(&written), Ok(scenario.clone()), "{written}");
            if let Err(refused) = scenario.compare() {
                assert!(!refused.to_string().is_empty());
            }
        }
        Err(wrong) => {
            assert!(!wrong.is_empty());
            let lines = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
            for it in wrong {
                assert!((1..=lines).contains(&it.line) && !it.message.is_empty(), "{it}");
            }
        }
    }
}

/// What links print of an address asks the same; what cannot be asked is refused, and nothing is the server's fault.
pub fn addresses(bytes: &[u8]) {
    let Some((status, body)) = std::str::from_utf8(bytes).ok().and_then(addresses::answer) else { return };
    assert!(matches!(status, 200 | 400 | 404), "{status}");
    // Each value that is picked of a dimension is printed with its name, which may be longer than addresses are.
    if status == 200 && body.starts_with(b"/") && body.len() < LONGEST_ADDRESS {
        let printed = String::from_utf8(body.clone()).expect("an address is text");
        assert_eq!(addresses::answer(&printed), Some((200, body)), "{printed}");
    }
}

/// What became of a file.
struct Walked {
    rows: Vec<WalkedRow>,
    content: Vec<u8>,
    /// What it was refused for.
    end: Result<(), String>,
}

struct WalkedRow {
    at: u64,
    step: Step,
    cells: Vec<String>,
}

/// Reads a file to its end, and looks at all that is answered.
fn walk(bytes: &[u8], format: Option<&str>) -> Walked {
    walk_as(bytes, &ReadAs::named(format))
}

fn walk_as(bytes: &[u8], read_as: &ReadAs) -> Walked {
    let kept = Kept::default();
    let mut walked = Walked { rows: Vec::new(), content: Vec::new(), end: Ok(()) };
    match billing::open_with_sink("any", Cursor::new(bytes.to_vec()), read_as, kept.clone()) {
        Ok(mut export) => walked.end = walk_rows(&mut export, read_as, &kept, &mut walked.rows),
        Err(refusal) => {
            said(&refusal);
            walked.end = Err(refusal.message());
        }
    }
    walked.content = kept.content();
    walked
}

fn walk_rows(
    export: &mut Export,
    read_as: &ReadAs,
    kept: &Kept,
    rows: &mut Vec<WalkedRow>,
) -> Result<(), String> {
    let columns = export.columns().names.len();
    let (mut charge, mut row, mut at) = (Charge::default(), 0, None);
    loop {
        let step = match export.next(&mut charge) {
            Ok(Some(step)) => step,
            Ok(None) => break,
            Err(refusal) => {
                said(&refusal);
                return Err(refusal.message());
            }
        };
        row += 1;
        let position = export.position();
        assert!(
            export.row() == row && (position.is_none() || at < position),
            "rows come one after the other"
        );
        at = position;
        match &step {
            Step::Charge => {
                holds(&charge);
                if let Some(at) = position {
                    is_the_same_alone(&charge, export, read_as, (&kept.content(), at));
                }
                while export.further(&mut charge, |_| false).expect("a row is checked with its first charge")
                {
                    holds(&charge);
                }
            }
            Step::Rejected(rejection) => {
                assert_eq!(rejection.row, row);
                assert!(!rejection.found.is_empty() && !rejection.expected.is_empty());
                assert!(rejection.found.len() + rejection.expected.len() < 1000, "{rejection}");
            }
            Step::Skipped(reason) => assert!(!reason.is_empty()),
        }
        let cells = (0..columns).map(|column| String::from_utf8_lossy(&export.cell(column)).into_owned());
        rows.push(WalkedRow { at: position.unwrap_or(0), step, cells: cells.collect() });
    }
    assert_eq!(export.row(), row, "every row is a charge, rejected or skipped");
    Ok(())
}

fn said(refusal: &Refusal) {
    assert!(!refusal.found.is_empty() && !refusal.expected.is_empty(), "{refusal:?}");
}

fn holds(charge: &Charge) {
    assert!(charge.period.start <= charge.period.end);
    let costs = [charge.billed_cost, charge.effective_cost, charge.list_cost, charge.contracted_cost];
    for amount in costs.into_iter().chain(charge.consumed_quantity) {
        assert_eq!(amount.to_string().parse(), Ok::<Decimal, _>(amount));
    }
    let tags: Vec<(&str, &str)> = charge.tags.iter().collect();
    assert!(tags.windows(2).all(|two| two[0].0 < two[1].0), "in order, and each once");
    assert!(tags.iter().all(|(name, value)| !name.is_empty() && !value.is_empty()));
    let key = &charge.key;
    let texts =
        [&key.service, &key.sku, &key.region, &key.instance_type, &key.meter, &key.unit, &charge.resource_id];
    let all =
        texts.into_iter().map(String::as_str).chain(tags.iter().flat_map(|(name, value)| [*name, *value]));
    assert!(all.into_iter().all(|text| !text.contains('\0')), "PostgreSQL holds no NUL");
    assert_eq!(billing::canonical_provider(&key.provider), key.provider);
    let mut again = String::new();
    assert_eq!(billing::canonical_account(&key.provider, &key.billing_account, "", &mut again), Ok(()));
    assert_eq!(again, key.billing_account);
    again.clear();
    // Its projects are stated by names, which may read like an id that a spreadsheet shortened.
    if key.provider == "DigitalOcean" {
        return;
    }
    assert_eq!(billing::canonical_sub_account(&key.provider, &key.sub_account, &mut again), Ok(()));
    assert_eq!(again, key.sub_account);
}

/// The page of a charge reads its row under the header alone.
fn is_the_same_alone(charge: &Charge, export: &Export, read_as: &ReadAs, (content, at): (&[u8], u64)) {
    // Instances whose cost their pods share are known from the whole file only.
    if export.remarks().iter().any(|remark| remark.text.starts_with("split cost allocation")) {
        return;
    }
    let found = || ReadAs::named(Some(export.format().name()));
    let read_as = if export.format().is_mapping() { read_as.clone() } else { found() };
    let mut again = Charge::default();
    let step = alone(content, at, &read_as).and_then(|mut alone| alone.next(&mut again));
    assert_eq!(step, Ok(Some(Step::Charge)));
    assert_eq!(
        (&again.key, &again.tags, &again.resource_id),
        (&charge.key, &charge.tags, &charge.resource_id)
    );
    assert_eq!((again.billed_cost, again.effective_cost), (charge.billed_cost, charge.effective_cost));
    assert_eq!((again.period.start, again.billing_month), (charge.period.start, charge.billing_month));
    // How long an interval is that states no end is known from the whole file, too.
    let is_learned = ["runpod-billing", "modal-billing"].contains(&export.format().name());
    assert!(again.period.end == charge.period.end || is_learned);
}

/// The rows from one on, as the page of a charge opens them.
fn alone(content: &[u8], at: u64, read_as: &ReadAs) -> Result<Export, Refusal> {
    let start = content[..content.len().min(billing::START as usize)].to_vec();
    let (part, content) = (content[at as usize..].to_vec(), content.to_vec());
    let whole = move || billing::unpack(Cursor::new(content.clone()));
    billing::open_part("a row", Cursor::new(start), Cursor::new(part), read_as, Box::new(whole))
}

fn original(content: &[u8], at: u64) -> Vec<(String, String)> {
    let mut export = alone(content, at, &ReadAs::any()).expect("a row of it was read before");
    let _ = export.next(&mut Charge::default());
    export.original()
}

/// The bytes that were read.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn content(&self) -> Vec<u8> {
        self.0.lock().expect("nothing panics while it writes").clone()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nothing panics while it writes").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
