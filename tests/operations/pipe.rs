//! `gpuledger report spend | head`: whoever closes the other end has read enough.

use std::fs::{self, File};
use std::io::pipe;
use std::process::{Command, Output, Stdio};

use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{Focus, gpuledger};

/// Output to a pipe that nobody reads.
fn nobody() -> Stdio {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    writer.into()
}

fn run(mut command: Command) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = command.output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_command_whose_reader_went_away_ends_quietly(db: PgPool) {
    let folder = tempfile::tempdir().unwrap();
    let url = db.connect_options().to_url_lossy();
    let command = |arguments: &[&str]| gpuledger(folder.path(), Some(url.as_str()), arguments);
    let file = folder.path().join("month.csv");
    fs::write(&file, Focus::new().hour("acme", "s1", "2026-09-05T10", "7", "vision").text()).unwrap();
    let file = file.to_str().unwrap();
    let made = folder.path().join("made.csv");

    for (arguments, status) in [
        (&["import", file][..], 0),
        (&["import", "--json", file], 0),
        (&["import", "--add", file, "nowhere.csv"], 1),
        (&["report", "spend", "--period", "2026-09", "--by", "account"], 0),
        (&["report", "spend", "--period", "2026-09", "--json"], 0),
        (&["check"], 0),
        (&["check", "--deep", "--json"], 0),
        (&["user", "list"], 0),
        (&["generate", "--rows", "10", "--output", made.to_str().unwrap()], 0),
        (&["--help"], 0),
    ] {
        let mut unread = command(arguments);
        unread.stdout(nobody());
        assert_eq!(run(unread), (Some(status), String::new()), "{arguments:?}");
    }

    let mut unheard = command(&["report", "spend", "--period", "2026-09", "--by", "account", "--in", "XXX"]);
    unheard.stdout(nobody()).stderr(nobody());
    assert_ne!(unheard.status().unwrap().code(), Some(101), "it panicked");
    let mut failed = command(&["backup", file]);
    failed.stdout(nobody()).stderr(nobody());
    assert_eq!(failed.status().unwrap().code(), Some(1), "an error that nobody hears is one all the same");
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_cannot_be_printed_for_another_reason_is_an_error(db: PgPool) {
    let folder = tempfile::tempdir().unwrap();
    let url = db.connect_options().to_url_lossy();
    let mut check = gpuledger(folder.path(), Some(url.as_str()), &["check"]);
    check.stdout(File::options().write(true).open("/dev/full").unwrap());
    let (status, said) = run(check);
    assert_eq!(status, Some(1));
    assert!(said.contains("standard output cannot be written"), "{said}");
}
