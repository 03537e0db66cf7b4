//! Backups that earlier versions made are restored, brought to this version, checked and read: every page says what it
//! said then. Each release adds one to `tests/upgrades` with `script/record-upgrade`.

use std::fs;
use std::path::{Path, PathBuf};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::operations::backup::{empty_database, run, url};
use crate::support::{Http, Server, gpuledger};

/// Who reads the pages.
#[derive(Deserialize)]
struct SignIn {
    email: String,
    password: String,
}

/// What a page said when the backup was made.
#[derive(Deserialize)]
struct Figures {
    page: String,
    answer: Value,
}

fn recorded() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upgrades");
    let mut versions: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    versions.sort();
    versions
}

#[sqlx::test(migrations = false)]
async fn a_backup_of_every_version_is_restored_and_its_pages_say_what_they_said(db: PgPool) {
    let versions = recorded();
    assert!(!versions.is_empty());
    for version in versions {
        empty_database(&db).await;
        let data_dir = tempfile::tempdir().unwrap();
        restored_says_what_it_said(&version, data_dir.path(), &url(&db));
    }
}

fn restored_says_what_it_said(version: &Path, data_dir: &Path, url: &str) {
    let command = |arguments: &[&str]| gpuledger(data_dir, Some(url), arguments);
    run(command(&["restore"]).arg(version.join("backup")));
    run(&mut command(&["check", "--deep"]));

    let server = Server::start(command(&[]));
    let mut browser = Http::new(&server.address);
    let person = fs::read(version.join("sign-in.json")).unwrap();
    let SignIn { email, password } = serde_json::from_slice(&person).unwrap();
    let [email, password] =
        [email, password].map(|text| utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string());
    let signed_in = browser.submit("/sign-in", "/sign-in", &format!("email={email}&password={password}"));
    assert_eq!(signed_in.status, 303, "{}", signed_in.body);

    let mut wrong = Vec::new();
    for line in fs::read_to_string(version.join("figures.jsonl")).unwrap().lines() {
        let Figures { page, answer } = serde_json::from_str(line).unwrap();
        let now = browser.get(&page);
        assert_eq!(now.status, 200, "{page}: {}", now.body);
        wrong.extend(difference(&answer, &serde_json::from_str(&now.body).unwrap(), &page));
        // Or a part of another page by now.
        let status = browser.get(&page.replacen(".json", "", 1)).status;
        assert!(matches!(status, 200 | 308), "{page} as HTML: {status}");
        if page == "/spend/2026-09.json?by=team" {
            let report =
                run(&mut command(&["report", "spend", "--period", "2026-09", "--by", "team", "--json"]));
            wrong.extend(difference(
                &answer,
                &serde_json::from_slice(&report.stdout).unwrap(),
                "report spend",
            ));
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", version.display());
}

/// Where an answer is not what it was. It may say more than it did.
fn difference(then: &Value, now: &Value, at: &str) -> Option<String> {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => then.iter().find_map(|(name, value)| {
            difference(value, now.get(name).unwrap_or(&Value::Null), &format!("{at} {name}"))
        }),
        (Value::Array(then), Value::Array(now)) if then.len() == now.len() => {
            let mut pairs = then.iter().zip(now).enumerate();
            pairs.find_map(|(nth, (then, now))| difference(then, now, &format!("{at} {nth}")))
        }
        _ => (then != now).then(|| format!("{at}: {now}, and was {then}")),
    }
}

#[test]
fn a_figure_that_changed_is_a_difference_and_a_new_one_is_not() {
    let then = json!({"total": {"amount": "12.50"}, "groups": [{"key": "a"}, {"key": null}]});
    let more = json!({"total": {"amount": "12.50", "new": 1}, "groups": [{"key": "a"}, {"key": null}]});
    assert_eq!(difference(&then, &more, ""), None);
    for (now, found) in [
        (json!({"total": {"amount": "12.51"}, "groups": then["groups"]}), " total amount: \"12.51\""),
        (json!({"total": {}, "groups": then["groups"]}), " total amount: null"),
        (json!({"total": then["total"], "groups": [{"key": "a"}]}), " groups: "),
        (json!({"total": then["total"], "groups": [{"key": null}, {"key": "a"}]}), " groups 0 key: null"),
    ] {
        let difference = difference(&then, &now, "").unwrap();
        assert!(difference.starts_with(found), "{difference}");
    }
}
