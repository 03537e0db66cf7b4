//! `/metrics`: what a monitoring system asks, in the OpenMetrics text that Prometheus reads. What happens in this
//! process is counted as it happens; what the database knows is asked when somebody asks.

use std::fmt::{self, Write as _};
use std::time::Duration;

use axum::extract::State;
use axum::http::{Method, header};
use axum::response::IntoResponse as _;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use sqlx::PgPool;

use super::error::Result;
use super::extract::Db;
use super::{App, paths};
use crate::report;

/// Seconds; the design holds a month page to 0.05.
const BUCKETS: [f64; 11] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Requests since the start of the process.
#[derive(Debug)]
pub struct Metrics {
    requests: Family<Answered, Counter>,
    durations: Family<Route, Histogram, fn() -> Histogram>,
    prepared: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: String,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: String,
    route: String,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let histogram: fn() -> Histogram = || Histogram::new(BUCKETS);
        Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(histogram),
            prepared: Gauge::default(),
        }
    }

    pub(super) fn count(&self, method: &Method, route: &str, status: u16, took: Duration) {
        // Methods of the standard only: a stranger may invent others.
        let method = if method.as_str().len() <= 7 { method.as_str() } else { "other" };
        let (method, route) = (method.to_owned(), route.to_owned());
        self.durations
            .get_or_create(&Route { method: method.clone(), route: route.clone() })
            .observe(took.as_secs_f64());
        self.requests.get_or_create(&Answered { method, route, status }).inc();
    }

    /// Notes that what pages of this version of the ledger read is there.
    pub(super) fn prepared(&self, version: i64) {
        self.prepared.set(version);
    }

    fn register(&self, registry: &mut Registry) {
        let of_pages = "Version of the ledger whose pages are prepared";
        registry.register("prepared_version", of_pages, self.prepared.clone());
        registry.register("http_requests", "Requests answered, by route and status", self.requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "Time until an answer began",
            Unit::Seconds,
            self.durations.clone(),
        );
    }
}

pub async fn show(_: paths::Metrics, State(app): State<App>, mut db: Db) -> Result {
    let activity = report::activity(&mut db).await?;
    let mut registry = Registry::with_prefix("gpuledger");
    app.metrics.register(&mut registry);
    registry.register("build", "The program", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
    register_activity(&mut registry, &activity);
    register_pools(&mut registry, &[("pages", &app.db), ("jobs", &app.jobs), ("files", &app.downloads.pool)]);
    let mut body = String::new();
    text::encode_registry(&mut body, &registry).map_err(anyhow::Error::from)?;
    if let Some(bytes) = resident_memory() {
        write_memory(&mut body, bytes).map_err(anyhow::Error::from)?;
    }
    text::encode_eof(&mut body).map_err(anyhow::Error::from)?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], body).into_response())
}

fn register_activity(registry: &mut Registry, activity: &report::Activity) {
    let by_status = |counts: &[(String, i64)]| {
        let family = Family::<[(&'static str, String); 1], Gauge>::default();
        for (status, count) in counts {
            family.get_or_create(&[("status", status.clone())]).set(*count);
        }
        family
    };
    registry.register("deliveries", "Deliveries, by what became of them", by_status(&activity.deliveries));
    registry.register("jobs", "Uploads, by where in the queue they are", by_status(&activity.jobs));
    registry.register(
        "rows_read",
        "Rows of billing files read for deliveries",
        ConstCounter::new(activity.rows_read.unsigned_abs()),
    );
    registry.register(
        "ledger_sequence",
        "Publishes and undos of the ledger so far",
        ConstGauge::new(activity.sequence),
    );
}

fn register_pools(registry: &mut Registry, pools: &[(&'static str, &PgPool)]) {
    let connections = Family::<[(&'static str, &'static str); 2], Gauge>::default();
    for (name, pool) in pools {
        let idle = pool.num_idle() as i64;
        let counts = [("idle", idle), ("busy", i64::from(pool.size()) - idle)];
        for (state, count) in counts {
            connections.get_or_create(&[("pool", *name), ("state", state)]).set(count.max(0));
        }
    }
    registry.register("database_connections", "Connections to PostgreSQL", connections);
}

/// Under the name that every process has in Prometheus, without our prefix.
fn write_memory(body: &mut String, bytes: u64) -> fmt::Result {
    writeln!(body, "# HELP process_resident_memory_bytes Memory of the process, without PostgreSQL.")?;
    writeln!(body, "# TYPE process_resident_memory_bytes gauge")?;
    writeln!(body, "process_resident_memory_bytes {bytes}")
}

fn resident_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}
