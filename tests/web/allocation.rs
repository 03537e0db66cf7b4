//! The allocation in the browser: labels become teams, a rule is previewed, applied and undone, finance proposes, and
//! what makes no sense is refused with its reason.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::allocation::{Account, CostCentre, Entry, Experiment, Months, Project, Split, Target, Team};
use sqlx::PgPool;

use crate::support::app::Answer;
use crate::support::changes::decide;
use crate::support::configuration::{pool, rule, team, to_pool, write};
use crate::support::{Focus, TestApp, TestLedger, html};

async fn app(db: PgPool) -> (TestLedger, TestApp) {
    let ledger = TestLedger::new(db);
    let month = Focus::new()
        .hour("acme", "a1", "2026-09-05T10", "60", "Vision")
        .hour("acme", "a1", "2026-09-05T11", "15", "vision ")
        .hour("acme", "a1", "2026-09-05T12", "5", "vison")
        .hour("acme", "a2", "2026-09-05T10", "20", "speech")
        .hour("acme", "a3", "2026-09-05T10", "10", "");
    ledger.deliver("september.csv", &month).await;
    let admin = TestApp::of(&ledger).signed_in(Role::Admin).await;
    (ledger, admin)
}

pub async fn load(app: &mut TestApp, content: &str) -> Answer {
    load_sheet(app, "teams", content).await
}

async fn load_sheet(app: &mut TestApp, sheet: &str, content: &str) -> Answer {
    let page = format!("/organization/{sheet}");
    app.upload_from(&page, &format!("{page}/file"), &[("teams.csv", content.as_ref())]).await
}

/// Sends a form from a page and answers the page that it leads to.
async fn sent(app: &mut TestApp, action: &str, fields: &[(&str, &str)]) -> Answer {
    let answer = app.submit("/rules", action, fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{action}: {}", html::text(&answer.body, "main"));
    let location = answer.location().to_owned();
    app.get(&location).await
}

async fn by_team(app: &mut TestApp) -> Vec<(String, String)> {
    let json = app.json("/spend/2026-09.json?by=team&cost=billed").await;
    let groups = json["groups"].as_array().unwrap().iter();
    groups
        .map(|group| {
            let cost = group["cost"]["amount"].as_str().unwrap();
            (group["label"].as_str().unwrap().to_owned(), cost.to_owned())
        })
        .collect()
}

fn strings(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn labels_become_teams_and_a_rule_gives_them_their_charges(db: PgPool) {
    let (ledger, mut admin) = app(db).await;
    assert!(html::text(&admin.get("/rules").await.body, ".empty").contains("There are no rules yet"));

    let labels = admin.get("/labels/team").await;
    assert_eq!(html::texts(&labels.body, "tbody th"), ["vision", "speech", "vison"]);
    assert!(html::text(&labels.body, "tbody tr:nth-child(3)").contains("looks like vision"));
    let labels = sent(&mut admin, "/labels/team/map", &[("all", "yes"), ("do", "save")]).await;
    assert!(html::text(&labels.body, ".flash").starts_with("Saved: New teams from labels · September 2026"));
    let labels =
        sent(&mut admin, "/labels/team/map", &[("value", "vison"), ("to", "vision"), ("do", "save")]).await;
    assert!(!labels.body.contains("not mapped"), "{}", html::text(&labels.body, "tbody"));

    // A preview says what moves, and nothing has moved yet.
    let preview = sent(&mut admin, "/rules/new", &[("name", "Labels"), ("to", "labels")]).await;
    let moves = html::texts(&preview.body, "section table:first-of-type tbody tr");
    assert!(
        moves[0].contains("Unallocated") && moves[0].contains("Vision") && moves[0].contains("80.00"),
        "{moves:?}"
    );
    assert_eq!(by_team(&mut admin).await, strings(&[("Unallocated", "110")]));
    let number = html::attributes(&preview.body, "form[action$='/apply']", "action")[0].clone();
    let applied = sent(&mut admin, &number, &[("reason", "the beginning")]).await;
    assert!(html::text(&applied.body, "main").contains("Reason: the beginning"));
    assert_eq!(
        by_team(&mut admin).await,
        strings(&[("Vision", "80"), ("speech", "20"), ("Unallocated", "10")])
    );
    let rules = admin.get("/rules").await;
    assert!(html::text(&rules.body, "tfoot").contains("10.00"));

    // Undone, it is as before; the past can still be asked.
    let undo = number.replace("apply", "undo");
    let undone = sent(&mut admin, &undo, &[("reason", "the accounts come first")]).await;
    assert!(
        html::text(&undone.body, "main").contains("by admin@example.org, as version 5. Reason: the accounts")
    );
    assert_eq!(by_team(&mut admin).await, strings(&[("Unallocated", "110")]));
    let changes = admin.get("/changes").await;
    assert_eq!(
        html::texts(&changes.body, "tbody .badge"),
        ["undo", "undone", "applied", "applied", "applied"]
    );
    assert!(html::text(&changes.body, "tbody tr:first-child").contains("the accounts come first"));
    // Deliveries change figures as well.
    let first = html::text(&changes.body, "tbody tr:last-child");
    assert!(first.starts_with("Import 1: "), "{first}");
    assert_eq!(html::attributes(&changes.body, "tbody tr:last-child th a", "href"), ["/imports/1"]);
    let undone = admin.get("/changes?status=undone").await;
    assert_eq!(html::texts(&undone.body, "tbody .badge"), ["undo", "undone"]);
    // The same as files.
    let lines = admin.json("/changes.json").await;
    let kinds: Vec<_> = lines.as_array().unwrap().iter().map(|line| &line["what"]).collect();
    assert_eq!(kinds, ["change", "change", "change", "change", "delivery"]);
    assert_eq!(
        (&lines[0]["is_undo"], &lines[0]["reason"], &lines[4]["delivery"]),
        (&true.into(), &"the accounts come first".into(), &1.into())
    );
    let csv = admin.get("/changes.csv?status=undone").await.body;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        (lines.len(), lines[0]),
        (3, "at,by,sequence,what,is_undo,state,title,change,delivery,reason")
    );
    assert!(
        lines[1].contains(",5,change,yes,undone,") && lines[1].ends_with(",the accounts come first"),
        "{csv}"
    );
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn finance_proposes_and_an_administrator_applies(db: PgPool) {
    let (ledger, mut admin) = app(db).await;
    let mut finance = TestApp::of(&ledger).signed_in(Role::Finance).await;
    let fields = [("name", "Vision"), ("reason", "they asked"), ("do", "save")];
    let drafted = sent(&mut finance, "/organization/teams", &fields).await;
    assert!(html::text(&drafted.body, "main").contains("Propose this change"));
    assert!(!drafted.body.contains("/apply"));
    assert!(!html::text(&admin.get("/overview").await.body, "main").contains("proposed"));
    let why = html::attributes(
        &drafted.body,
        "form[action='/changes/allocation/1/propose'] input[name=reason]",
        "value",
    );
    assert_eq!(why, ["they asked"]);

    // Proposed, it is on the overview of who decides, and its author sees how it stands.
    sent(&mut finance, "/changes/allocation/1/propose", &[("reason", &why[0])]).await;
    let overview = html::text(&admin.get("/overview").await.body, "main");
    assert!(overview.contains("1 proposed change to allocation is waiting for your review."), "{overview}");
    let waiting = admin.get("/changes?status=proposed").await;
    assert!(html::text(&waiting.body, "tbody tr").contains("they asked"));
    let own = finance.get("/changes?by=finance%40example.org").await;
    assert!(html::text(&own.body, "main").contains("proposed (1)"));

    assert_eq!(finance.get("/organization/teams.csv").await.body.lines().count(), 1);
    let refused = finance.submit("/rules", "/changes/allocation/1/apply", &[]).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    sent(&mut admin, "/changes/allocation/1/apply", &[]).await;
    assert_eq!(finance.get("/organization/teams.csv").await.body.lines().count(), 2);
    assert!(!html::text(&admin.get("/overview").await.body, "main").contains("proposed"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_is_saved_at_once_can_be_undone_right_there(db: PgPool) {
    let (_ledger, mut admin) = app(db).await;
    let looked_at = sent(&mut admin, "/organization/teams", &[("name", "Vision")]).await;
    assert!(looked_at.body.contains("/changes/allocation/1/apply"), "without more, one looks first");
    let saved = sent(&mut admin, "/organization/teams", &[("name", "Vision"), ("do", "save")]).await;
    let undo = html::attributes(&saved.body, ".flash form", "action");
    assert_eq!(undo, ["/changes/allocation/2/undo"]);
    sent(&mut admin, &undo[0], &[]).await;
    assert_eq!(admin.get("/organization/teams.csv").await.body.lines().count(), 1);
    let corrected = sent(
        &mut admin,
        "/labels/team/map",
        &[("value", "speech"), ("to", ""), ("do", "save"), ("month", "2026-09")],
    )
    .await;
    assert_eq!(html::attributes(&corrected.body, ".flash form", "action"), ["/changes/allocation/3/undo"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_reorganization_comes_as_a_file_and_leaves_the_past(db: PgPool) {
    let (_ledger, mut admin) = app(db).await;
    let file = "name,handle,parent,spellings,first,last\nResearch,,,,,\nVision,vision,research,vison,,2026-08\n\
                Perception,perception,research,vision; vison,2026-09,\n";
    let answer = load(&mut admin, file).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", html::text(&answer.body, "main"));
    let apply = decide(answer.location(), "apply");
    sent(&mut admin, &apply, &[]).await;
    let preview = sent(&mut admin, "/rules/new", &[("name", "Labels"), ("to", "labels")]).await;
    let apply = html::attributes(&preview.body, "form[action$='/apply']", "action")[0].clone();
    sent(&mut admin, &apply, &[]).await;
    assert_eq!(by_team(&mut admin).await, strings(&[("Perception", "80"), ("Unallocated", "30")]));
    let csv = admin.get("/organization/teams.csv").await.body;
    assert!(csv.contains("perception,Perception,research,,vision; vison,,2026-09,"), "{csv}");

    for (file, expected) in [
        ("name,parent\nA,B\nB,A\n", "team A: part of: a team cannot be part of itself (a → b → a)"),
        ("name\nA\na\n", "row 2, handle: found \"a\", expected another team"),
        ("name,colour\nA,red\n", "found \"unknown: colour\", expected name; optional:"),
        ("name,parent\nA,nobody\n", "part of: there is no team nobody"),
        ("name;parent\nA;B\n", "this file is separated by semicolons: save it with commas"),
    ] {
        let refused = load(&mut admin, file).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(html::texts(&refused.body, ".notice, .problem").len(), 1, "it is told in one place");
        let said = html::text(&refused.body, ".notice");
        assert!(said.contains(expected), "{said}\nlacks\n{expected}");
    }
    assert_eq!(admin.get("/organization/teams.csv").await.body, csv);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_was_taken_away_of_each_sheet_changes_nothing_when_it_comes_back(db: PgPool) {
    let (ledger, mut admin) = app(db).await;
    let months = Months { first: Some("2026-07".parse().unwrap()), last: Some("2026-12".parse().unwrap()) };
    let vision = Team {
        handle: "vision".into(),
        name: "=Vision, \"seeing\"".into(),
        cost_centre: Some("cc-1".into()),
        spellings: vec!["-cv".into(), "computer vision".into()],
        members: vec!["@ada".into()],
        ..Team::default()
    };
    let entries = vec![
        Entry::Team(vision),
        Entry::Project(Project {
            handle: "seg".into(),
            name: "＝Segmentation".into(),
            team: Some("vision".into()),
            months,
            ..Project::default()
        }),
        Entry::CostCentre(CostCentre {
            handle: "cc-1".into(),
            name: "+4711".into(),
            ..CostCentre::default()
        }),
        Entry::Experiment(Experiment {
            handle: "-run.json".into(),
            name: "@Run".into(),
            project: Some("seg".into()),
            spellings: vec!["run/7".into()],
            months,
            ..Experiment::default()
        }),
        Entry::Account(Account { account: "-0042".into(), team: "vision".into(), months: Months::default() }),
    ];
    write(&mut ledger.db.acquire().await.unwrap(), entries).await;
    for sheet in ["teams", "projects", "cost-centres", "experiments", "accounts"] {
        let csv = admin.get(&format!("/organization/{sheet}.csv")).await.body;
        assert_eq!(csv.lines().count(), 2, "{sheet}: {csv}");
        let again = load_sheet(&mut admin, sheet, &csv).await;
        assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY, "{sheet}: {csv}");
        let said = html::text(&again.body, "[role=alert]");
        assert!(said.contains("nothing was changed"), "{sheet}: {said}\n{csv}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_form_that_is_refused_comes_back_as_it_was_filled_in(db: PgPool) {
    let (_ledger, mut admin) = app(db).await;
    sent(&mut admin, "/organization/teams", &[("name", "Vision"), ("do", "save")]).await;
    sent(&mut admin, "/organization/teams", &[("name", "Speech"), ("do", "save")]).await;

    let broken = [
        ("name", "Nodes"),
        ("field", "resource"),
        ("test", "matches"),
        ("value", "node-(a|b"),
        ("to", "team:vision"),
    ];
    let refused = admin.submit("/rules/new", "/rules/new", &broken).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(html::text(&refused.body, "[role=alert]").contains("unclosed group"));
    assert_eq!(html::attributes(&refused.body, "input[name=value]", "value")[0], "node-(a|b");

    let shares =
        [("name", "Node 7"), ("by", "fixed"), ("share:team:vision", "60"), ("share:team:speech", "39")];
    let refused = admin.submit("/shared-costs/new", "/shared-costs/new", &shares).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        html::text(&refused.body, "[role=alert]")
            .contains("the shares total 99%; enter shares that total 100%")
    );
    assert_eq!(html::attributes(&refused.body, "input[name='share:team:speech']", "value")[0], "39");
    assert_eq!(html::text(&refused.body, "tfoot output"), "99");

    let gone = [("name", "X"), ("to", "team:robotics")];
    let refused = admin.submit("/rules/new", "/rules/new", &gone).await;
    assert!(html::text(&refused.body, "[role=alert]").contains("there is no team robotics"));
    assert_eq!(admin.get("/rules.csv").await.body.lines().count(), 1);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn rules_keep_the_order_that_they_are_given(db: PgPool) {
    let (_ledger, mut admin) = app(db).await;
    sent(&mut admin, "/organization/teams", &[("name", "Vision"), ("do", "save")]).await;
    for (name, position) in [("first", "0"), ("third", "1"), ("second", "1")] {
        let fields = [("name", name), ("to", "team:vision"), ("position", position)];
        let preview = sent(&mut admin, "/rules/new", &fields).await;
        let apply = html::attributes(&preview.body, "form[action$='/apply']", "action")[0].clone();
        sent(&mut admin, &apply, &[]).await;
    }
    let rules = admin.get("/rules").await;
    assert_eq!(html::texts(&rules.body, "tbody th"), ["first", "second", "third"]);
    let down = html::attributes(&rules.body, "tbody tr:first-child form", "action")[0].clone();
    let preview = sent(&mut admin, &down, &[("position", "2")]).await;
    let apply = html::attributes(&preview.body, "form[action$='/apply']", "action")[0].clone();
    sent(&mut admin, &apply, &[]).await;
    let rules = admin.get("/rules").await;
    assert_eq!(html::texts(&rules.body, "tbody th"), ["second", "third", "first"]);

    // From a month on the second is another, at the place where it was put: after the third.
    let second = html::attributes(&rules.body, "tbody th a", "href")[0].clone();
    let fields = [("name", "fourth"), ("to", "team:vision"), ("since", "2026-09"), ("position", "1")];
    let preview = sent(&mut admin, &second, &fields).await;
    let apply = html::attributes(&preview.body, "form[action$='/apply']", "action")[0].clone();
    sent(&mut admin, &apply, &[]).await;
    let rules = admin.get("/rules").await;
    assert_eq!(html::texts(&rules.body, "tbody th"), ["second", "third", "fourth", "first"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_lead_sees_the_charges_of_their_teams_and_no_row_of_what_is_shared(db: PgPool) {
    let (ledger, _admin) = app(db).await;
    {
        let mut db = ledger.db.acquire().await.unwrap();
        let vision = Team {
            handle: "vision".into(),
            name: "Vision".into(),
            parent: Some("research".into()),
            ..Team::default()
        };
        let entries = vec![
            team("research"),
            Entry::Team(vision),
            team("speech"),
            Entry::Pool(pool("common", Split::DirectCost)),
            rule(1, "account", "a3", to_pool("common")),
            rule(2, "", "", Target::Labels),
        ];
        write(&mut db, entries).await;
    }
    let mut lead = TestApp::of(&ledger).signed_in(Role::Lead).await;
    let json = lead.json("/spend/2026-09.json?by=account").await;
    let groups: Vec<_> =
        json["groups"].as_array().unwrap().iter().map(|group| group["label"].clone()).collect();
    assert_eq!(groups, ["a1", "Shared: common"]);
    let charges = lead.get("/charges/2026-09.csv").await.body;
    assert_eq!(charges.lines().count(), 3, "{charges}");
    assert!(!charges.contains("a2") && !charges.contains("a3"), "{charges}");
    // The first two rows of the file are theirs; the others are a slip, another team's and shared.
    for (row, status) in [(1, 200), (2, 200), (3, 404), (4, 404), (5, 404)] {
        assert_eq!(lead.get(&format!("/charges/1/0/{row}")).await.status.as_u16(), status, "row {row}");
    }
    let owner = html::text(&lead.get("/charges/1/0/1").await.body, "main");
    assert!(owner.contains("Owner TeamVision Allocated byrule “everything”"), "{owner}");
    for address in
        ["/rules", "/shared-costs", "/organization/teams", "/labels/team", "/changes", "/changes/1"]
    {
        assert_eq!(lead.get(address).await.status, StatusCode::FORBIDDEN, "{address}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_pool_that_nothing_goes_to_leads_to_the_rule_that_it_lacks(db: PgPool) {
    let (_ledger, mut admin) = app(db).await;
    sent(&mut admin, "/organization/teams", &[("name", "Vision"), ("do", "save")]).await;
    let fields = [("name", "Vision Lab"), ("parent", "vision"), ("do", "save")];
    sent(&mut admin, "/organization/teams", &fields).await;
    let form = admin.get("/shared-costs/new").await;
    assert!(html::text(&form.body, "tbody").contains("without sub-teams Vision Lab"));

    let pool = [("name", "Support"), ("by", "evenly"), ("reason", "everybody calls them")];
    let preview = sent(&mut admin, "/shared-costs/new", &pool).await;
    assert!(html::text(&preview.body, "main").contains("add a rule for these shared costs"));
    let applied = sent(&mut admin, "/changes/allocation/3/apply", &[]).await;
    let rule = "/rules/new?to=pool%3Asupport&name=Support";
    assert_eq!(html::attributes(&applied.body, ".notice a", "href"), [rule]);
    assert_eq!(html::attributes(&admin.get("/shared-costs").await.body, ".problem a", "href"), [rule]);
    let made = sent(&mut admin, "/rules/new", &[("name", "Support"), ("to", "pool:support")]).await;
    let apply = html::attributes(&made.body, "form[action$='/apply']", "action")[0].clone();
    sent(&mut admin, &apply, &[]).await;
    assert!(html::attributes(&admin.get("/shared-costs").await.body, ".problem a", "href").is_empty());
}
