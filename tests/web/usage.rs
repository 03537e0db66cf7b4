//! Usage in the browser: a scheduler's jobs beside the bill of their machine, a node that is matched, and both taken back.

use axum::http::StatusCode;
use gpuledger::accounts::Role;
use gpuledger::money::Decimal;
use serde_json::Value;
use sqlx::PgPool;

use crate::support::json::decimal;
use crate::support::{Focus, TestApp, html};

/// A job that ended at once, two on a machine of the bill below, and one on a node that no bill knows.
pub const SACCT: &str = "JobID|JobIDRaw|Cluster|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|AllocTRES|AdminComment|NodeList|JobName\n\
    6|6|hpc|ann|ml|gpu|COMPLETED|2026-10-05T09:00:00|2026-10-05T09:30:00|2026-10-05T09:30:00|0|gres/gpu=1||node-s1|test\n\
    7|7|hpc|ann|ml|gpu|COMPLETED|2026-10-05T09:00:00|2026-10-05T10:00:00|2026-10-05T11:00:00|3600|gres/gpu=4|JS1:Short|node-s1|train\n\
    8|8|hpc|ben|cv|gpu|FAILED|2026-10-05T09:00:00|2026-10-05T10:30:00|2026-10-05T11:00:00|1800|gres/gpu=4||node-s1|eval|fast\n\
    9|9|hpc|cat|cv|gpu|COMPLETED|2026-10-05T09:00:00|2026-10-05T12:00:00|2026-10-05T13:00:00|3600|gres/gpu=8||gpu-7|other\n";

/// Machines node-s1 and node-s2, an hour each.
pub fn bill() -> Focus {
    Focus::new().hour("acme", "s1", "2026-10-05T10", "80.8", "vision").hour(
        "acme",
        "s2",
        "2026-10-05T12",
        "40",
        "nlp",
    )
}

/// Imports both.
async fn with_usage(db: PgPool) -> TestApp {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    finance.import("bill.csv", bill()).await;
    let uploaded = finance.upload(&[("sacct.txt", SACCT.as_bytes())]).await;
    assert_eq!(uploaded.status, StatusCode::SEE_OTHER);
    finance.run_jobs().await;
    let batch = finance.get(uploaded.location()).await;
    assert!(batch.body.contains("Usage import 1"), "{}", batch.body);
    finance
}

fn job<'a>(it: &'a Value, id: &str) -> &'a Value {
    it["jobs"].as_array().unwrap().iter().find(|job| job["job_id"] == id).unwrap()
}

/// The six lines sum to all charges of GPUs, and jobs to what they held.
fn assert_balanced(it: &Value) {
    let cost = &it["cost"];
    let lines = ["used", "idle", "unmeasured", "unheld", "stranded", "without_usage"]
        .map(|name| decimal(&cost[name]));
    assert_eq!(lines.into_iter().sum::<Decimal>(), decimal(&cost["total"]), "{cost}");
    let held = ["used", "idle", "unmeasured"].map(|name| decimal(&cost[name])).into_iter().sum::<Decimal>();
    let jobs: Decimal = it["jobs"].as_array().unwrap().iter().map(|job| decimal(&job["cost"])).sum();
    assert_eq!(jobs, held);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn jobs_have_their_part_of_what_their_machine_cost(db: PgPool) {
    let mut finance = with_usage(db).await;
    let it = finance.json("/jobs/2026-10.json").await;
    assert_balanced(&it);
    // Of eight for an hour: four for all of it, four for half of it; a quarter was held by nobody.
    assert_eq!(decimal(&job(&it, "7")["cost"]), "40.4".parse().unwrap());
    assert_eq!(decimal(&job(&it, "8")["cost"]), "20.2".parse().unwrap());
    assert_eq!(job(&it, "8")["name"], "eval|fast");
    assert_eq!(decimal(&it["cost"]["unheld"]), "20.2".parse().unwrap());
    assert_eq!(decimal(&it["cost"]["without_usage"]), "40".parse().unwrap());
    assert_eq!(decimal(&job(&it, "9")["hours_without_cost"]), "8".parse().unwrap());
    assert_eq!(job(&it, "7")["utilization"], Value::Null, "what nobody measured is not idle");

    let page = finance.get("/jobs/2026-10").await;
    assert_eq!(html::texts(&page.body, "#jobs tbody tr").len(), 4);
    assert!(page.body.contains("Nodes without a machine"));
    for (path, rows) in [
        ("/jobs/2026-10?by=user", 3),
        ("/jobs/2026-10?by=account", 2),
        ("/jobs/2026-10?by=node", 2),
        ("/jobs/2026-10?by=state", 2),
    ] {
        let page = finance.get(path).await;
        assert_eq!(html::texts(&page.body, "#groups tbody tr").len(), rows, "{path}");
    }
    let page = finance.get("/jobs/2026-10?account=cv&find=EVAL").await;
    assert_eq!(html::texts(&page.body, "#jobs tbody tr").len(), 1);
    assert_eq!(finance.get("/jobs/2026-10?by=colour").await.status, StatusCode::BAD_REQUEST);

    // The number behind the link is the number that was clicked.
    let number = job(&it, "7")["job_no"].as_i64().unwrap();
    let one = finance.json(&format!("/jobs/job/{number}.json")).await;
    assert_eq!(decimal(&one["cost"]), "40.4".parse().unwrap());
    assert_eq!(finance.get(&format!("/jobs/job/{number}")).await.status, StatusCode::OK);
    assert_eq!(finance.get("/jobs/job/999").await.status, StatusCode::NOT_FOUND);
    let csv = finance.get("/jobs/2026-10.csv").await;
    assert_eq!(csv.body.lines().count(), 5);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_node_is_matched_and_both_are_taken_back(db: PgPool) {
    let mut finance = with_usage(db).await;
    let before = finance.json("/jobs/2026-10.json").await;
    let mut admin = finance.signed_in_as("ada@example.org", Role::Admin).await;
    let nodes = admin.json("/usage.json").await;
    let node = nodes["nodes"].as_array().unwrap().iter().find(|it| it["name"] == "gpu-7").unwrap();
    let address = format!("/usage/nodes/{}", node["node_id"]);
    let wrong = admin.submit("/usage", &address, &[("machine", "nothing")]).await;
    assert!(admin.get(wrong.location()).await.body.contains("no charge for GPUs has the resource nothing"));
    admin.submit("/usage", &address, &[("machine", "NODE-S2")]).await;
    let matched = admin.json("/jobs/2026-10.json").await;
    assert_balanced(&matched);
    assert_eq!(decimal(&job(&matched, "9")["cost"]), "40".parse().unwrap());
    assert_eq!(decimal(&matched["cost"]["without_usage"]), Decimal::ZERO);
    assert!(matched["unmatched"].as_array().unwrap().is_empty());
    // As of the version before it reads as before.
    let sequence = before["sequence"].as_i64().unwrap();
    let as_before = admin.json(&format!("/jobs/2026-10.json?sequence={sequence}")).await;
    assert_eq!(as_before["jobs"], before["jobs"]);
    admin.submit("/usage", &address, &[("machine", "")]).await;
    assert_eq!(admin.json("/jobs/2026-10.json").await["jobs"], before["jobs"]);

    finance.submit("/usage/imports/1", "/usage/imports/1/undo", &[]).await;
    let undone = finance.json("/jobs/2026-10.json").await;
    assert_balanced(&undone);
    assert!(undone["jobs"].as_array().unwrap().is_empty());
    assert_eq!(
        decimal(&undone["cost"]["without_usage"]),
        "80.8".parse::<Decimal>().unwrap() + Decimal::from(40)
    );
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_node_that_becomes_a_machine_that_another_one_is_says_so(db: PgPool) {
    let finance = with_usage(db).await;
    let mut admin = finance.signed_in_as("ada@example.org", Role::Admin).await;
    let nodes = admin.json("/usage.json").await;
    let node = nodes["nodes"].as_array().unwrap().iter().find(|it| it["name"] == "gpu-7").unwrap();
    let address = format!("/usage/nodes/{}", node["node_id"]);
    let matched = admin.submit("/usage", &address, &[("machine", "node-s1")]).await;
    let page = admin.get(matched.location()).await;
    assert!(page.body.contains("machine node-s1. So is node-s1: what they held adds up"), "{}", page.body);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_bills_and_other_sources_say_otherwise_is_said(db: PgPool) {
    let mut finance = with_usage(db).await;
    let row = |cluster: &str, gpus: u32| {
        format!(
            "12|12|{cluster}|ann|ml|gpu|COMPLETED|2026-10-05T09:00:00|2026-10-05T10:00:00|2026-10-05T11:00:00|3600|gres/gpu={gpus}||node-s1|big"
        )
    };
    let header = SACCT.lines().next().unwrap();
    for (import, name, row, expected, other) in [
        (
            2,
            "a.txt",
            row("hpc", 32),
            "Job 12 held 32 GPUs of node-s1, which is charged as 8",
            "one source counts",
        ),
        (
            3,
            "b.txt",
            row("other", 8),
            "slurm hpc has jobs there on the same days, too",
            "which is charged as",
        ),
    ] {
        finance.upload(&[(name, format!("{header}\n{row}\n").as_bytes())]).await;
        finance.run_jobs().await;
        let page = finance.get(&format!("/usage/imports/{import}")).await.body;
        assert!(
            page.to_lowercase().contains(&expected.to_lowercase()) && !page.contains(other),
            "{name}: {page}"
        );
    }
    // A machine that ran for half an hour has all of its GPUs.
    let half = bill().line(
        "NeoCloud,acme,s3,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,2026-10-05T15:00:00Z,2026-10-05T16:00:00Z,Usage,Standard,\
         GPU Cloud,Compute,gpu-8x,eu-1,node-s3,\"{\"\"InstanceType\"\":\"\"8xH100\"\",\"\"GpuCount\"\":8}\",0.5,Hours,20,20,20,20,USD,\
         \"{\"\"team\"\":\"\"vision\"\"}\",NeoCloud,NeoCloud",
    );
    finance.import("half.csv", half).await;
    let row = "13|13|hpc|ann|ml|gpu|COMPLETED|2026-10-05T15:00:00|2026-10-05T15:00:00|2026-10-05T15:30:00|1800|gres/gpu=8||node-s3|half";
    finance.upload(&[("c.txt", format!("{header}\n{row}\n").as_bytes())]).await;
    finance.run_jobs().await;
    let page = finance.get("/usage/imports/4").await.body;
    assert!(page.contains("1 job") && !page.contains("charged as"), "{page}");
    let jobs = finance.json("/jobs/2026-10.json").await;
    assert_eq!(decimal(&job(&jobs, "13")["cost"]), "20".parse().unwrap());
    // Nothing is said of what agrees.
    assert!(!finance.get("/usage/imports/1").await.body.contains("class=\"problem\""));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn how_a_file_was_understood_is_said(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let csv = "node,from,to,accelerators,holder,utilization\n\
        n1,2026-10-05T10:00:00Z,2026-10-05T11:00:00Z,8,train,0.93\n";
    let log = "2026/07/14 08:12:53.353, GPU-8f2a4f8c-1d2e-4c3b-9a8d-0123456789ab, NVIDIA H100, 38 %\n";
    for (name, content, expected) in [
        ("usage.csv", csv, "No utilization is above 1, and all were read as percent"),
        ("smi.log", log, "a log of nvidia-smi without its header"),
    ] {
        let uploaded = finance.upload(&[(name, content.as_bytes())]).await;
        finance.run_jobs().await;
        let page = match name {
            "usage.csv" => finance.get("/usage/imports/1").await,
            _ => finance.get(uploaded.location()).await,
        };
        assert!(page.body.contains(expected), "{name}: {}", page.body);
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_that_is_no_usage_is_told_with_its_rows(db: PgPool) {
    let mut finance = TestApp::new(db).signed_in(Role::Finance).await;
    let head = SACCT.lines().next().unwrap();
    let bad = format!("{head}\n7|7|hpc|<b>ann|ml|gpu|COMPLETED|x|y|z|3600|gres/gpu=4||n|train\n");
    let uploaded = finance.upload(&[("bad.txt", bad.as_bytes())]).await;
    finance.run_jobs().await;
    let batch = finance.get(uploaded.location()).await;
    assert!(batch.body.contains("row 1, column Submit: found x; expected a time such as"), "{}", batch.body);
    let page = finance.get("/usage/imports/1").await;
    assert_eq!(html::texts(&page.body, "#rejected tbody tr").len(), 1);
    assert!(page.body.contains("refused"));
    let jobs = finance.get("/jobs/2026-10").await;
    assert!(jobs.body.contains("No usage was imported yet"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_clock_that_was_wrong_is_changed_and_the_file_imported_again(db: PgPool) {
    let finance = with_usage(db).await;
    let mut admin = finance.signed_in(Role::Admin).await;
    let cost = |it: &Value| decimal(&it["cost"]["unmeasured"]).normalize().to_string();
    assert_eq!(cost(&admin.json("/jobs/2026-10.json").await), "60.6");
    let wrong = admin.submit("/usage", "/usage/sources/1/clock", &[("zone", "Berlin")]).await;
    assert!(admin.get(wrong.location()).await.body.contains("“Berlin” is no time zone. Enter one such as"));
    admin.submit("/usage", "/usage/sources/1/clock", &[("zone", "Europe/Berlin")]).await;
    admin.submit("/usage/imports/1", "/usage/imports/1/undo", &[]).await;
    admin.upload(&[("sacct.txt", SACCT.as_bytes())]).await;
    admin.run_jobs().await;
    // Two hours earlier the machine was nobody's to pay for.
    let it = admin.json("/jobs/2026-10.json").await;
    assert_eq!(
        (cost(&it), job(&it, "7")["started_at"].as_str()),
        ("0".to_owned(), Some("2026-10-05T08:00:00Z"))
    );
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn jobs_of_several_nodes_are_on_each_with_what_they_held_there(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    finance.import("bill.csv", bill()).await;
    let usage = "node,from,to,accelerators,holder\n\
        node-s1,2026-10-05T10:00:00Z,2026-10-05T11:00:00Z,8,big\n\
        node-s2,2026-10-05T12:00:00Z,2026-10-05T13:00:00Z,8,big\n\
        node-s9,2026-10-05T12:00:00Z,2026-10-05T13:00:00Z,2,big\n";
    finance.upload(&[("usage.csv", usage.as_bytes())]).await;
    finance.run_jobs().await;
    let by_node = finance.json("/jobs/2026-10.json?by=node").await;
    let groups: Vec<_> = by_node["groups"].as_array().unwrap().iter().collect();
    let text = |it: &Value| decimal(it).normalize().to_string();
    let lines: Vec<_> = groups
        .iter()
        .map(|it| (it["key"].as_str().unwrap(), text(&it["accelerator_hours"]), text(&it["cost"])))
        .collect();
    let line = |node, hours: &str, cost: &str| (node, hours.to_owned(), cost.to_owned());
    assert_eq!(lines, [line("node-s1", "8", "80.8"), line("node-s2", "8", "40"), line("node-s9", "2", "0")]);
    // The number behind a link is the number that was clicked.
    let one = finance.json("/jobs/2026-10.json?node=node-s2").await;
    assert_eq!(
        (text(&one["jobs"][0]["accelerator_hours"]), text(&one["jobs"][0]["cost"])),
        ("8".into(), "40".into())
    );
    let csv = finance.get("/jobs/2026-10.csv?by=node").await.body;
    assert!(
        csv.starts_with("key,label,jobs,accelerator_hours,") && csv.contains("\nnode-s2,node-s2,1,8,"),
        "{csv}"
    );
    // What is at stake stands where a node is matched.
    let page = finance.get("/usage").await;
    let unmatched = html::texts(&page.body, "#nodes tbody tr").remove(0);
    assert!(unmatched.contains("node-s9") && unmatched.contains("2.0"), "{unmatched}");
    let overview = finance.get("/overview").await;
    assert!(overview.body.contains("A node is no machine of a bill: 2.0 GPU-hours of jobs have no cost."));
}

/// What a meter saw of node-s1 in the hour of its bill: four GPUs at half, and four that worked in its second half.
fn metered(labels: [&str; 3]) -> String {
    let mut series = Vec::new();
    for gpu in 0..8 {
        let (first, second) = if gpu < 4 { (labels[0], labels[0]) } else { (labels[1], labels[2]) };
        let value = |minute: i64| if gpu < 4 { 50 } else { 100 * (minute / 30) };
        // What has the same labels is one series.
        let all = if first == second { vec![(first, 0..60)] } else { vec![(first, 0..30), (second, 30..60)] };
        for (label, minutes) in all {
            // 2026-10-05T10:00:00Z.
            let points: Vec<String> = minutes
                .map(|minute| format!("[{},\"{}\"]", 1_791_194_400 + minute * 60, value(minute)))
                .collect();
            series.push(format!(
                "{{\"metric\":{{\"__name__\":\"DCGM_FI_DEV_GPU_UTIL\",\"Hostname\":\"node-s1.example.org\",\"UUID\":\"GPU-{gpu}\"{label}}},\"values\":[{}]}}",
                points.join(",")
            ));
        }
    }
    format!(
        "{{\"status\":\"success\",\"data\":{{\"resultType\":\"matrix\",\"result\":[{}]}}}}",
        series.join(",")
    )
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_meter_says_how_busy_the_jobs_of_a_scheduler_were(db: PgPool) {
    let mut finance = with_usage(db).await;
    let hours = |it: &Value, id: &str| {
        let of = |name: &str| decimal(&job(it, id)[name]).normalize().to_string();
        (of("measured_hours"), of("used_hours"))
    };
    let text = |pair: (&str, &str)| (pair.0.to_owned(), pair.1.to_owned());

    // One that does not know of jobs: what was at work, the jobs of that hour had at work, by what each held.
    finance.upload(&[("dcgm.json", metered([""; 3]).as_bytes())]).await;
    finance.run_jobs().await;
    let shared = finance.json("/jobs/2026-10.json").await;
    assert_balanced(&shared);
    assert_eq!(hours(&shared, "7"), text(("4", "2.666667")));
    assert_eq!(hours(&shared, "8"), text(("2", "1.333333")));
    assert_eq!(decimal(&shared["cost"]["used"]), "40.4".parse().unwrap());
    assert_eq!(decimal(&shared["cost"]["unmeasured"]), Decimal::ZERO);
    let spend = finance.json("/spend/2026-10.json?by=use").await;
    let used = spend["groups"].as_array().unwrap().iter().find(|it| it["key"] == "Used").unwrap();
    assert_eq!(decimal(&used["cost"]["amount"]), "40.4".parse().unwrap(), "{spend}");

    // One that does: what it saw of a job is that job's.
    finance.submit("/usage/imports/2", "/usage/imports/2/undo", &[]).await;
    assert_eq!(job(&finance.json("/jobs/2026-10.json").await, "7")["utilization"], Value::Null);
    let labels = [",\"hpc_job\":\"7\"", "", ",\"hpc_job\":\"8\""];
    finance.upload(&[("dcgm.json", metered(labels).as_bytes())]).await;
    finance.run_jobs().await;
    let named = finance.json("/jobs/2026-10.json").await;
    assert_balanced(&named);
    assert_eq!(hours(&named, "7"), text(("4", "2")));
    assert_eq!(hours(&named, "8"), text(("2", "2")));
    assert_eq!(named["jobs"].as_array().unwrap().len(), 4, "a meter's names are no jobs of their own");
    let number = job(&named, "7")["job_no"].as_i64().unwrap();
    let one = finance.json(&format!("/jobs/job/{number}.json")).await;
    assert_eq!(
        (decimal(&one["measured_hours"]), decimal(&one["used_hours"])),
        (Decimal::from(4), Decimal::from(2))
    );
}

/// What a Prometheus says of node-s1 from ten to eleven: a GPU is cut into a slice that a pod holds and one that nobody does, another pod
/// holds one whole, and two share a third.
fn slices() -> String {
    let h100 = "\"modelName\":\"NVIDIA H100 80GB HBM3\",\"Hostname\":\"node-s1\"";
    let pod = |name: &str| format!("\"namespace\":\"llm\",\"pod\":\"{name}\"");
    let series = [
        format!("\"UUID\":\"GPU-0\",\"GPU_I_ID\":\"1\",\"GPU_I_PROFILE\":\"3g.40gb\",{}", pod("half")),
        "\"UUID\":\"GPU-0\",\"GPU_I_ID\":\"2\",\"GPU_I_PROFILE\":\"1g.10gb\"".to_owned(),
        format!("\"UUID\":\"GPU-1\",{}", pod("whole")),
        format!("\"UUID\":\"GPU-2\",\"vgpu\":\"0\",{}", pod("replica")),
        "\"UUID\":\"GPU-2\",\"vgpu\":\"1\"".to_owned(),
    ];
    let points: Vec<String> =
        (0..60).map(|minute| format!("[{},\"0.25\"]", 1_791_194_400 + minute * 60)).collect();
    let series: Vec<String> = series
        .iter()
        .map(|labels| {
            format!(
                "{{\"metric\":{{\"__name__\":\"DCGM_FI_PROF_GR_ENGINE_ACTIVE\",{h100},{labels}}},\"values\":[{}]}}",
                points.join(",")
            )
        })
        .collect();
    format!(
        "{{\"status\":\"success\",\"data\":{{\"resultType\":\"matrix\",\"result\":[{}]}}}}",
        series.join(",")
    )
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn slices_are_charged_by_their_share_and_what_is_left_is_stranded(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    finance.import("bill.csv", bill()).await;
    finance.upload(&[("dcgm.json", slices().as_bytes())]).await;
    finance.run_jobs().await;
    let it = finance.json("/jobs/2026-10.json").await;
    assert_balanced(&it);
    // A GPU costs 10.10. 3g.40gb is half of one, 1g.10gb a seventh.
    let cost = |id: &str| decimal(&job(&it, id)["cost"]).normalize().to_string();
    assert_eq!([cost("half"), cost("whole"), cost("replica")], ["5.05", "10.1", "5.05"]);
    assert_eq!(job(&it, "half")["profile"], "3g.40gb");
    let page = finance.get(&format!("/jobs/job/{}", job(&it, "half")["job_no"])).await;
    assert!(page.body.contains("1 × 3g.40gb of NVIDIA H100 80GB HBM3"), "{}", page.body);
    let listed = finance.get("/jobs/2026-10").await;
    assert!(listed.body.contains("1 × 3g.40gb of NVIDIA H100 80GB HBM3"), "{}", listed.body);
    assert_eq!(job(&it, "half")["accelerators"], "0.5");
    // A half less a seventh of one.
    assert_eq!(decimal(&it["hours"]["stranded"]).round(4), "0.3571".parse().unwrap());
    assert_eq!(decimal(&it["cost"]["stranded"]).round(4), "3.6071".parse().unwrap());
    let spend = finance.json("/spend/2026-10.json?by=use").await;
    let groups = spend["groups"].as_array().unwrap();
    let stranded = groups.iter().find(|it| it["key"] == "Stranded by slices").unwrap();
    assert_eq!(decimal(&stranded["cost"]["amount"]), decimal(&it["cost"]["stranded"]), "{spend}");
    assert_eq!(finance.get("/jobs?by=slice").await.location(), "/jobs/2026-10?by=slice");
    let page = finance.get("/jobs/2026-10?by=slice").await;
    assert_eq!(html::texts(&page.body, "#groups tbody tr").len(), 2);
    assert!(page.body.contains("Whole GPUs") && page.body.contains("Stranded by slices"));
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn usage_of_any_tool_is_imported_as_plain_csv(db: PgPool) {
    let app = TestApp::new(db);
    let mut finance = app.signed_in(Role::Finance).await;
    finance.import("bill.csv", bill()).await;
    let csv = "Node Name,Start Time,End Time,GPU count,Project,Workload,User,GPU utilization,Memory MiB,Power\n\
        node-s2,2026-10-05T12:00:00Z,2026-10-05T12:30:00Z,4,vision,train-1,ana,40,61440,500\n\
        node-s2,2026-10-05T12:30:00Z,2026-10-05T13:00:00Z,4,vision,train-1,ana,60,61440,500\n\
        node-s2,2026-10-05T12:30:00Z,2026-10-05T12:00:00Z,4,vision,train-2,ana,60,,\n";
    let uploaded = finance.upload(&[("runai.csv", csv.as_bytes())]).await;
    finance.run_jobs().await;
    assert!(finance.get(uploaded.location()).await.body.contains("Usage import 1"));
    let import = finance.get("/usage/imports/1").await;
    assert!(import.body.contains("a time after that of from"), "{}", import.body);
    let it = finance.json("/jobs/2026-10.json").await;
    assert_balanced(&it);
    let held = job(&it, "train-1");
    assert_eq!((held["user"].as_str(), held["namespace"].as_str()), (Some("ana"), Some("vision")));
    assert_eq!(decimal(&held["accelerator_hours"]), Decimal::from(4));
    assert_eq!(decimal(&held["used_hours"]), Decimal::from(2));
    assert_eq!(decimal(&held["cost"]), Decimal::from(20));
    let address = format!("/jobs/job/{}", held["job_no"]);
    let one = finance.json(&format!("{address}.json")).await;
    let over_time = one["over_time"].as_array().unwrap();
    assert_eq!(over_time.len(), 1);
    assert_eq!(decimal(&over_time[0]["used_hours"]), Decimal::from(2));
    let meters =
        ["memory_gib", "power_watts", "energy_kwh"].map(|name| decimal(&one["meters"][name]).normalize());
    assert_eq!(meters.map(|it| it.to_string()), ["60", "500", "2"]);
    let page = finance.get(&address).await;
    for text in ["GPU-hours by hour", "60 GiB per GPU", "500 W per GPU", "2 kWh"] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
}
