//! `gpuledger import`.

use std::io;
use std::path::PathBuf;

use uuid::Uuid;

use super::{Done, Session, print_json};
use crate::allocation;
use crate::billing::FORMATS;
use crate::clock::{self, Clock};
use crate::command_output::say;
use crate::jobs;
use crate::ledger::{self, Decision, Import, Interrupted, LookIn, Report, Source, Status, WhenUnsure};
use crate::telemetry::{self, ImportUsage};

#[derive(clap::Args)]
pub struct Arguments {
    /// Read every file as this format instead of recognizing it by its header.
    #[arg(long = "as", value_name = "FORMAT")]
    as_format: Option<String>,

    /// Read every file by this mapping, which was saved in the browser.
    #[arg(long, value_name = "NAME", conflicts_with = "as_format")]
    mapping: Option<String>,

    /// Replace what the months of the files hold, even where that removes some of it.
    #[arg(long, conflicts_with = "add")]
    replace: bool,

    /// Add to what the months of the files hold.
    #[arg(long)]
    add: bool,

    /// Why a month becomes smaller, with --replace. Without it the overview asks.
    #[arg(long, value_name = "TEXT", requires = "replace")]
    reason: Option<String>,

    /// What the cluster is called that files of usage are from, where they do not say so.
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,

    /// Where its clocks stand, for times without an offset, such as Europe/Berlin (left out: UTC). What was said once is remembered.
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<chrono_tz::Tz>,

    /// Billing exports and files of usage (plain, .gz or .zip), or manifests beside the files they name.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub async fn run(session: Session, arguments: Arguments) -> anyhow::Result<Done> {
    let files = arguments.files.iter().map(|path| Source::new(path.display().to_string(), path));
    // What is to be read as a bill is one, whatever it looks like.
    let (usage, bills) = if arguments.as_format.is_some() || arguments.mapping.is_some() {
        (Vec::new(), files.collect())
    } else {
        let named = telemetry::column_names(&mut *session.pool.acquire().await?).await?;
        telemetry::usage_among(files.collect(), &named).await
    };
    let deliveries = ledger::gather(bills, LookIn::Folders);
    let decision = match (arguments.replace, arguments.add) {
        (true, _) => Some(Decision::Replace),
        (_, true) => Some(Decision::Add),
        _ => None,
    };
    let mut db = session.pool.acquire().await?;
    let named = arguments.mapping.as_deref();
    if let Some(name) = named {
        let known = ledger::mappings(&mut db).await?;
        let is_known = |it: &ledger::SavedMapping| it.mapping.name == name || it.format_name() == name;
        if !known.iter().any(is_known) {
            anyhow::bail!("there is no mapping “{name}”; expected {}", names(&known));
        }
    }
    let computed = |name: &str| FORMATS.iter().find(|it| it.name() == name).and_then(|it| it.computed());
    if let Some(bill) = arguments.as_format.as_deref().and_then(computed) {
        anyhow::bail!("{} are computed and not imported: {}", bill.label().to_lowercase(), bill.hint());
    }
    let read_as = ledger::read_as(&mut db, arguments.as_format.as_deref().or(named)).await?;
    let labels = allocation::label_keys(&mut db).await?;
    drop(db);
    let by = session.by.name.clone();
    let now = clock::now();
    let batch_id = Uuid::new_v4();
    let (source, zone) = (arguments.cluster.as_deref(), arguments.time_zone);
    let importing = ImportUsage { source, zone, batch_id, act: session.by.at(now) };
    let mut reports = importing.all(&session.pool, &session.originals, usage).await;
    let import = Import {
        deliveries,
        read_as,
        labels,
        decision,
        reason: arguments.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty()),
        when_unsure: WhenUnsure::Discard,
        batch_id,
        by: &by,
        submitted_at: now,
        now,
        progress: ledger::Progress::default(),
    };
    match ledger::import(&session.pool, &session.originals, import).await {
        Ok(of_bills) => reports.extend(of_bills),
        // Scripts are told per delivery, as of any other failure.
        Err(Interrupted { reports: of_bills, rest, error }) => {
            reports.extend(of_bills);
            reports.extend(rest.iter().map(|bundle| Report::failed(bundle, &error)));
        }
    }
    if reports.iter().any(|report| report.status == Status::Loaded) {
        // A server does so by itself, and then this finds nothing to do.
        jobs::adjust_bills(&session.pool, &session.originals, Clock::System).await?;
        jobs::divide_machines(&session.pool, &session.originals, Clock::System).await?;
    }
    if session.json {
        print_json(&reports)?;
    } else {
        reports.iter().try_for_each(print)?;
    }
    Ok(outcome(&reports))
}

/// The mappings that there are, for a message.
fn names(known: &[ledger::SavedMapping]) -> String {
    let names: Vec<&str> = known.iter().map(|it| it.mapping.name.as_str()).collect();
    if names.is_empty() { "one that was saved; there is none yet".to_owned() } else { names.join(", ") }
}

fn outcome(reports: &[Report]) -> Done {
    let is_bad = |report: &Report| !matches!(report.status, Status::Loaded | Status::Duplicate);
    if reports.iter().any(is_bad) {
        Done::Failed
    } else if reports.iter().any(|report| report.rejected > 0) {
        Done::WithRejections
    } else {
        Done::Well
    }
}

fn print(report: &Report) -> io::Result<()> {
    let files: Vec<&str> = report.files.iter().map(|file| file.file.as_str()).collect();
    say!("{}: {}", files.join(", "), report.status.as_str())?;
    if let Some(message) = &report.message {
        say!("  {message}")?;
    }
    if report.status == Status::Waiting {
        say!("  Nothing was imported. Run again with --add or --replace.")?;
        return Ok(());
    }
    if report.status == Status::Loaded {
        print_loaded(report)?;
    }
    for rejection in &report.rejections {
        let column = if rejection.column.is_empty() {
            String::new()
        } else {
            format!(", column {}", rejection.column)
        };
        say!(
            "  {} row {}{column}: found {}; expected {}",
            rejection.file,
            rejection.row,
            rejection.found,
            rejection.expected
        )?;
    }
    Ok(())
}

fn print_loaded(report: &Report) -> io::Result<()> {
    if let Some(usage) = &report.usage {
        if usage.samples > 0 {
            return say!(
                "  usage import {}: {} rows = {} of a meter + {} rejected + {} skipped",
                usage.import,
                report.rows_read,
                usage.samples,
                report.rejected,
                report.skipped
            );
        }
        return say!(
            "  usage import {}: {} rows = {} jobs + {} rejected + {} skipped; {} GPU-hours",
            usage.import,
            report.rows_read,
            usage.jobs,
            report.rejected,
            report.skipped,
            usage.accelerator_hours
        );
    }
    let further = match report.further_charges {
        0 => String::new(),
        1 => " + 1 more charge in these rows".to_owned(),
        further => format!(" + {further} more charges in these rows"),
    };
    say!(
        "  import {}: {} rows{} = {} charges + {} rejected + {} skipped",
        report.delivery.unwrap_or_default(),
        report.rows_read,
        further,
        report.charges,
        report.rejected,
        report.skipped
    )?;
    for scope in &report.scopes {
        for (billed, effective) in scope.billed_cost.iter().zip(&scope.effective_cost) {
            say!(
                "  {} {} {}: billed {} {}, effective {} {}",
                scope.scope.provider,
                scope.scope.billing_account,
                scope.scope.month,
                billed.amount,
                billed.currency,
                effective.amount,
                effective.currency
            )?;
        }
    }
    Ok(())
}
