//! `gpuledger demo`.

use crate::changes::{self, Document as _, Outcome, Right};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use chrono::{DateTime, NaiveDate, Utc};
use rand::Rng;
use rand::seq::IndexedRandom as _;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use super::Session;
use crate::accounts::people::{self, Added};
use crate::accounts::{Email, NewPerson, Password, Role};
use crate::allocation::{self, Configuration};
use crate::audit::{self, Actor, Object, Verb};
use crate::billing::ReadAs;
use crate::clock;
use crate::command_output::{remark, say};
use crate::demonstration::{CLUSTER, ClusterNews, Delivery, Demonstration, File, Happening, LEADS, What};
use crate::demonstration::{Holds, Mark, STORY};
use crate::exchange;
use crate::ledger::{self, Import, LookIn, NewInvoice, Report, Reviewed, Source, Status, WhenUnsure};
use crate::money::{Currency, Decimal};
use crate::onprem::{self, AssetRegister, MeterReadings, Months, State};
use crate::period::{BillingMonth, Period};
use crate::report::Answers;
use crate::store::{Database, private};
use crate::telemetry::{self, ImportUsage};

/// Who brings the bills.
const FINANCE: &str = "finance@example.org";
/// Without letters and digits that look alike.
const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";

#[derive(clap::Args)]
pub struct Arguments {
    /// Another organization of the same kind. Default: that of the folder, else 1.
    #[arg(long)]
    seed: Option<u64>,

    /// Only the last so many months.
    #[arg(long, default_value_t = 13, hide = true)]
    months: usize,

    /// As it would have been made on this day.
    #[arg(long, hide = true)]
    today: Option<NaiveDate>,
}

/// Someone who can sign in, until the next start.
#[derive(serde::Serialize)]
struct Account {
    role: Role,
    teams: Vec<String>,
    email: String,
    password: String,
}

/// Where a demonstration lies unless somebody says otherwise: never where real data lies.
pub fn default_data_dir(of_others: &Path) -> PathBuf {
    if of_others.is_absolute() { of_others.with_file_name("gpuledger-demo") } else { PathBuf::from("demo") }
}

/// Makes the folder a demonstration's, or refuses one that holds something else. Changes nothing in a folder
/// or database that it refuses.
pub async fn claim(arguments: &Arguments, data_dir: &Path, url: Option<&str>) -> anyhow::Result<()> {
    let folder = data_dir.display();
    match Holds::of(data_dir).with_context(|| format!("{folder} cannot be read"))? {
        Holds::Demonstration(mark) => match arguments.seed {
            Some(seed) if seed != mark.seed => bail!(
                "{folder} holds the demonstration of seed {}; nothing was changed. Remove it, or choose another folder \
                 with --data-dir.",
                mark.seed
            ),
            _ => return Ok(()),
        },
        Holds::SomethingElse => {
            bail!(
                "{folder} is not a demonstration; nothing was changed. Choose another folder with --data-dir."
            )
        }
        Holds::Nothing => {}
    }
    if let Some(url) = url
        && !Database::is_blank(url).await?
    {
        bail!("the database is not a demonstration; nothing was changed. Give an empty one, or none.");
    }
    let today = arguments.today.unwrap_or_else(|| clock::now().date_naive());
    let mark =
        Mark { seed: arguments.seed.unwrap_or(1), today, months: arguments.months, loaded: 0, story: STORY };
    private::make_directory(data_dir)?;
    mark.write(data_dir).with_context(|| format!("{folder} cannot be written to"))
}

/// Loads what is not loaded yet, and makes the accounts anew. The server can start then.
pub async fn prepare(session: &Session, data_dir: &Path) -> anyhow::Result<()> {
    let Holds::Demonstration(mark) = Holds::of(data_dir)? else {
        bail!("the mark of the demonstration is gone")
    };
    let accounts = accounts(&mut *session.pool.acquire().await?).await?;
    load(session, data_dir, mark).await?;
    if session.json {
        say!("{}", serde_json::json!({ "accounts": accounts }))?;
        return Ok(());
    }
    say!("Sign in as one of these. Their passwords are new at every start.")?;
    say!("")?;
    for account in accounts {
        let role = match account.teams.first() {
            Some(team) => format!("{} of {team}", account.role),
            None => account.role.to_string(),
        };
        say!("  {role:<18} {:<28} {}", account.email, account.password)?;
    }
    say!("")?;
    Ok(())
}

/// What the currencies of its bills were worth, invented like everything else, and what it counts in.
async fn set_exchange_rates(session: &Session, demonstration: &Demonstration) -> anyhow::Result<()> {
    let mut rates = exchange::read(&demonstration.exchange_rates().bytes)?;
    for rate in &mut rates {
        "invented for the demonstration".clone_into(&mut rate.source);
    }
    let mut db = session.pool.acquire().await?;
    exchange::set(&mut db, &rates, session.by.at(clock::now())).await?;
    if exchange::chosen_reporting_currency(&mut db).await?.is_none() {
        let dollars = Currency::exactly("USD");
        exchange::set_reporting_currency(&mut db, Some(&dollars), session.by.at(clock::now())).await?;
    }
    Ok(())
}

/// Who pays for what, as its administrator would have written it.
async fn write_configuration(session: &Session, demonstration: &Demonstration) -> anyhow::Result<()> {
    let mut db = session.pool.acquire().await?;
    let (_, current) = Configuration::current(&mut db).await?;
    if !current.entries.is_empty() {
        return Ok(());
    }
    let edits = changes::additions(&mut db, demonstration.configuration()).await?;
    let summary = "The organization, its rules and its budgets";
    let now = clock::now();
    match changes::change::<Configuration>(&mut db, edits, summary, Right::Apply, session.by.at(now)).await? {
        Outcome::At { .. } => Ok(()),
        other => bail!("the allocation rules of the demonstration was not taken: {other:?}"),
    }
}

async fn load(session: &Session, data_dir: &Path, mut mark: Mark) -> anyhow::Result<()> {
    if mark.story != STORY {
        remark!(
            "This demonstration was made by another version, and stays as it is. Remove {} for the current one.",
            data_dir.display()
        );
        return Ok(());
    }
    let demonstration = Demonstration::new(mark.seed, mark.today).last(mark.months);
    let deliveries = demonstration.deliveries();
    if mark.loaded >= deliveries.len() {
        return Ok(());
    }
    let began = Instant::now();
    remark!("Loading {} months of an invented organization's bills.", mark.months);
    set_exchange_rates(session, &demonstration).await?;
    write_configuration(session, &demonstration).await?;
    let mut rows = 0;
    let mut happenings = demonstration.cluster().into_iter().peekable();
    for delivery in deliveries.iter().skip(mark.loaded) {
        // Not counted by the mark: what has happened already does not happen again.
        while let Some(happening) = happenings.next_if(|happening| happening.at <= delivery.at) {
            rows += happen(session, &demonstration, happening).await?;
        }
        let report = import(session, delivery).await?;
        rows += report.rows_read;
        mark.loaded += 1;
        mark.write(data_dir).context("the folder cannot be written to")?;
        remark!("{:>4} of {}  {}", mark.loaded, deliveries.len(), described(delivery, &report));
    }
    enter_invoices(session, &demonstration).await?;
    remark!("{rows} rows in {:.0} s.", began.elapsed().as_secs_f32());
    remark!("");
    Ok(())
}

/// What its suppliers ask for: what they billed, but for one month of Nordlicht; Microsoft's last is not here yet.
async fn enter_invoices(session: &Session, demonstration: &Demonstration) -> anyhow::Result<()> {
    let mut months: Vec<BillingMonth> =
        demonstration.deliveries().iter().map(|delivery| delivery.month).collect();
    months.sort_unstable();
    let Some((first, last)) = months.first().zip(months.last()) else { return Ok(()) };
    let period = Period::new(*first, *last).context("more months than a period has")?;
    let mut db = session.pool.acquire().await?;
    let lines = Answers::default().reconciliation(&mut db, period, None).await?.lines;
    // By the month, for Google's export names no invoice.
    let closed: Vec<_> = lines.iter().filter(|line| line.month < demonstration.months().1).collect();
    let last = closed.iter().map(|line| line.month).max();
    for line in closed {
        // Nobody sends an invoice for what is one's own.
        let is_own = line.provider == onprem::PROVIDER;
        if is_own || line.provider == "Microsoft" && Some(line.month) == last {
            continue;
        }
        let mut total = line.in_ledger.clone();
        total.amount = total.amount.round(2);
        if line.provider == "Nordlicht Cloud" && Some(line.month.plus(2)) == last {
            total.amount += Decimal::from(1250);
        }
        let number = format!("{}-{}", line.billing_account, line.month);
        let invoice = NewInvoice { scope_id: line.scope_id, number, total };
        ledger::enter_invoice(&mut db, &invoice, session.by.at(clock::now())).await?;
    }
    Ok(())
}

/// Writes down, reads or publishes something of its own cluster, unless that was done; answers rows that were loaded.
async fn happen(
    session: &Session,
    demonstration: &Demonstration,
    happening: Happening,
) -> anyhow::Result<u64> {
    let mut db = session.pool.acquire().await?;
    let Happening { at, what } = happening;
    let (_, asset_register) = AssetRegister::current(&mut db).await?;
    let outcome = match what {
        ClusterNews::Written { summary, entries } => {
            if entries.iter().any(|entry| asset_register.entries.values().any(|known| known == entry)) {
                return Ok(0);
            }
            let edits = changes::additions(&mut db, entries).await?;
            changes::change::<AssetRegister>(&mut db, edits, &summary, Right::Apply, session.by.at(at))
                .await?
        }
        ClusterNews::Read { summary, readings } => {
            let mut meters = Vec::new();
            for (meter_id, meter) in asset_register.meters() {
                let mine = readings.iter().filter(|reading| reading.meter == meter.name);
                meters.push(MeterReadings { meter_id, readings: mine.cloned().collect() });
            }
            let ids: Vec<i64> = meters.iter().map(|meter| meter.meter_id).collect();
            let last = readings.iter().map(|reading| reading.until).max();
            if onprem::meters_read(&mut db, &ids).await?.iter().any(|read| Some(read.last) >= last) {
                return Ok(0);
            }
            onprem::take_readings(&mut db, &meters, &summary, session.by.at(at)).await?
        }
        ClusterNews::Published(month) => {
            drop(db);
            return publish(session, month, at).await;
        }
        ClusterNews::Exported(month) => {
            drop(db);
            let mut rows = 0;
            for file in [demonstration.jobs(month), demonstration.pods(month)] {
                let file = file.context("the demonstration could not be made")?;
                rows += import_usage(session, file, at).await?;
            }
            return Ok(rows);
        }
    };
    match outcome {
        Outcome::At { .. } => Ok(0),
        other => bail!("the asset register of the demonstration was not taken: {other:?}"),
    }
}

/// Imports what the scheduler of its own cluster says, or a meter of its pods, as an administrator would have done on its day.
async fn import_usage(session: &Session, file: File, at: DateTime<Utc>) -> anyhow::Result<u64> {
    let folder = tempfile::tempdir().context("there is no place for the demonstration's files")?;
    let path = folder.path().join(&file.name);
    std::fs::write(&path, file.bytes).context("the demonstration's files cannot be written")?;
    let (usage, _) = telemetry::usage_among(vec![Source::new(file.name, path)], &[]).await;
    let by = Actor::on_behalf_of(FINANCE);
    let importing = ImportUsage { source: None, zone: None, batch_id: Uuid::new_v4(), act: by.at(at) };
    let reports = importing.all(&session.pool, &session.originals, usage).await;
    let report = reports.into_iter().next().context("a file of the demonstration is no usage")?;
    if !matches!(report.status, Status::Loaded | Status::Duplicate) {
        bail!("{} was not loaded: {}", name(&report), report.message.as_deref().unwrap_or_default());
    }
    let rows = if report.usage.as_ref().is_some_and(|it| it.samples > 0) {
        "series of GPUs"
    } else {
        "rows of jobs"
    };
    remark!("           {}: {} {rows}", name(&report), report.rows_read);
    Ok(report.rows_read)
}

/// Submits a month of its own cluster, as finance would have done on its day.
async fn publish(session: &Session, month: BillingMonth, at: DateTime<Utc>) -> anyhow::Result<u64> {
    let mut db = session.pool.acquire().await?;
    let mut tx = db.begin().await?;
    let revision = onprem::hold(&mut tx, CLUSTER).await?;
    let asset_register = onprem::AssetRegister::as_of(&mut tx, revision).await?;
    let (asset_register, today) = ((revision, &asset_register), at.date_naive());
    let found = Months::default().one(&mut tx, asset_register, CLUSTER, month, today).await?;
    let Some(it) = found.filter(|it| it.state != State::Published) else { return Ok(0) };
    let Some(made) = onprem::file_of(&mut tx, asset_register, CLUSTER, month, today).await? else {
        return Ok(0);
    };
    let batch_id = Uuid::new_v4();
    onprem::note_submitted(&mut tx, (CLUSTER, revision), (&it, &made), batch_id, FINANCE, at).await?;
    let details = json!({ "cluster": CLUSTER, "months": [month] });
    audit::record(&mut tx, session.by.at(at), Verb::ClusterPublished, &Object::Batch(batch_id), details)
        .await?;
    tx.commit().await?;
    drop(db);
    let file = File { name: it.file_name(CLUSTER), bytes: made.bytes };
    let report = upload(session, vec![file], batch_id, at).await?;
    if !matches!(report.status, Status::Loaded | Status::Duplicate) {
        bail!("{} was not loaded: {}", name(&report), report.message.as_deref().unwrap_or_default());
    }
    remark!("           {}: {} rows, of its own", name(&report), report.rows_read);
    Ok(report.rows_read)
}

/// Uploads files that belong together.
async fn upload(
    session: &Session,
    files: Vec<File>,
    batch_id: Uuid,
    at: DateTime<Utc>,
) -> anyhow::Result<Report> {
    let folder = tempfile::tempdir().context("there is no place for the demonstration's files")?;
    let mut sources = Vec::new();
    for File { name, bytes } in files {
        let path = folder.path().join(&name);
        std::fs::write(&path, bytes).context("the demonstration's files cannot be written")?;
        sources.push(Source::new(name, path));
    }
    let import = Import {
        deliveries: ledger::gather(sources, LookIn::Given),
        read_as: ReadAs::any(),
        labels: allocation::label_keys(&mut *session.pool.acquire().await?).await?,
        decision: None,
        reason: None,
        when_unsure: WhenUnsure::Wait,
        batch_id,
        by: FINANCE,
        submitted_at: at,
        now: at,
        progress: ledger::Progress::default(),
    };
    let reports = ledger::import(&session.pool, &session.originals, import)
        .await
        .map_err(|interrupted| interrupted.error)
        .context("the demonstration could not be loaded")?;
    reports.into_iter().next().context("a delivery without files")
}

/// Uploads a delivery's files, as finance would have done on its day.
async fn import(session: &Session, delivery: &Delivery) -> anyhow::Result<Report> {
    let package = delivery.package().context("the demonstration could not be made")?;
    let mut report = upload(session, package.files, Uuid::new_v4(), delivery.at).await?;
    if delivery.what == What::Damaged
        && report.status == Status::Waiting
        && let Some(waiting) = report.delivery
    {
        publish_reviewed(session, waiting, delivery.at).await?;
        report.status = Status::Loaded;
    }
    let is_as_told = match delivery.what {
        What::PriceSheet => report.status == Status::Refused,
        What::Partial => matches!(report.status, Status::Waiting | Status::Duplicate),
        _ => matches!(report.status, Status::Loaded | Status::Duplicate),
    };
    if !is_as_told {
        bail!("{} was not loaded: {}", name(&report), report.message.as_deref().unwrap_or_default());
    }
    Ok(report)
}

/// Publishes an import that waits since rows of it were rejected.
async fn publish_reviewed(session: &Session, delivery: i64, at: DateTime<Utc>) -> anyhow::Result<()> {
    let mut tx = session.pool.begin().await?;
    let reviewed = ledger::publish_reviewed(&mut tx, delivery, FINANCE, at).await?;
    let Reviewed::Published(sequence) = reviewed else {
        bail!("import {delivery} was not published: {reviewed:?}");
    };
    let (by, object) = (Actor::on_behalf_of(FINANCE), Object::Delivery(delivery));
    audit::record(
        &mut tx,
        by.at(at),
        Verb::DeliveryPublished,
        &object,
        serde_json::json!({ "sequence": sequence }),
    )
    .await?;
    tx.commit().await?;
    Ok(())
}

fn described(delivery: &Delivery, report: &Report) -> String {
    let what = match delivery.what {
        What::Final => "",
        What::Provisional => ", provisional",
        What::Damaged => ", damaged",
        What::PriceSheet => ", refused: no bill",
        What::Partial => ", needs review",
    };
    format!("{}: {} rows{what}", name(report), report.rows_read)
}

fn name(report: &Report) -> &str {
    report.files.first().map_or("an import", |file| &file.file)
}

/// Everyone of the demonstration, with a new password: a fixed one would let anyone in who can reach the server.
async fn accounts(db: &mut PgConnection) -> anyhow::Result<Vec<Account>> {
    let mut people = vec![("admin@example.org".to_owned(), Role::Admin, None)];
    people.push((FINANCE.to_owned(), Role::Finance, None));
    people.extend(LEADS.map(|team| (format!("{team}@example.org"), Role::Lead, Some(team))));
    let by = Actor::command_line(None);
    let mut accounts = Vec::new();
    for (email, role, team) in people {
        let mut dice = clock::dice();
        let text = password(&mut dice);
        let teams: Vec<String> = team.into_iter().map(str::to_owned).collect();
        let hash =
            Password::choose(&text, &email).map_err(|why| anyhow::anyhow!("{why}"))?.hash(&mut dice).await?;
        let email = Email::parse(&email).context("that is no e-mail address")?;
        let person = NewPerson { email, name: None, role, teams };
        if people::add(db, &person, Some(&hash), by.at(clock::now())).await? == Added::EmailTaken {
            let known = people::list(db).await?;
            let known = known.iter().find(|known| known.email.eq_ignore_ascii_case(person.email.as_str()));
            let known = known.context("an account was removed just now")?;
            people::change_password(db, known, &hash, by.at(clock::now())).await?;
        }
        accounts.push(Account { role, teams: person.teams, email: person.email.to_string(), password: text });
    }
    Ok(accounts)
}

/// Four groups of four: 79 bits, and easy to type.
fn password(dice: &mut impl Rng) -> String {
    let group = |dice: &mut _| -> String {
        (0..4).filter_map(|_| LETTERS.choose(dice)).map(|letter| char::from(*letter)).collect()
    };
    [group(dice), group(dice), group(dice), group(dice)].join("-")
}
