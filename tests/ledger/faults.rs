//! `kill -9` of a command, of PostgreSQL and of the server in the middle of an import: the ledger is as it was,
//! and the same file loads afterwards.
//!
//! No moment is a time. Each is something that the database shows, and a lock of the test's keeps the import from
//! going further meanwhile.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use gpuledger::generate::{self, Format, Plan, Totals};
use gpuledger::store::private::Private;
use rustix::process::Signal;
use serde_json::Value;
use sqlx::{Executor as _, PgConnection};

use crate::store::sandbox::{Sandbox, connect, kill};
use crate::support::{Http, Server, gpuledger};

/// How far the import is that came after delivery `$1`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    Begun,
    RowsArrive,
    AboutToPublish,
    Published,
}

impl Moment {
    const ALL: [Moment; 4] = [Moment::Begun, Moment::RowsArrive, Moment::AboutToPublish, Moment::Published];

    fn sql(self) -> &'static str {
        match self {
            Moment::Begun => "select exists (select from deliveries where delivery_id > $1)",
            // Those of a large file arrive where nobody can look yet.
            Moment::RowsArrive => {
                "select exists (select from charges where delivery_id > $1)
                     or exists (
                         select from deliveries
                         join pg_class on starts_with(relname, 'charges_of_' || delivery_id || '_')
                         where delivery_id > $1
                     )"
            }
            Moment::AboutToPublish => {
                "select exists (select from deliveries where delivery_id > $1 and format is not null)
                    and exists (select from pg_locks where not granted)"
            }
            Moment::Published => {
                "select exists (select from deliveries where delivery_id > $1 and status = 'loaded')"
            }
        }
    }
}

/// Rows of a file that goes into the table of its month, and of one that gets a table of its own.
const SIZES: [u64; 2] = [6_000, 24_000];

/// A data directory of its own, and a file that takes a while to load.
struct Scene {
    sandbox: Sandbox,
    file: PathBuf,
    totals: Totals,
}

impl Scene {
    fn new(rows: u64) -> Self {
        let sandbox = Sandbox::new();
        let file = sandbox.root().join("month.csv");
        let plan = Plan::new(Format::AwsCur, rows, "2026-09".parse().unwrap(), 11);
        let totals = generate::write(&plan, &mut BufWriter::new(File::create(&file).unwrap())).unwrap();
        let scene = Self { sandbox, file, totals };
        // So that the moments are moments of the import, not of setting up a database.
        assert!(scene.run(&["check"]).status.success());
        scene
    }

    fn run(&self, arguments: &[&str]) -> Output {
        gpuledger(self.sandbox.data_dir(), None, arguments).output().unwrap()
    }

    fn begin_import(&self) -> Child {
        let mut command = gpuledger(self.sandbox.data_dir(), None, &["import", self.file.to_str().unwrap()]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn serve(&self) -> Server {
        Server::start(gpuledger(self.sandbox.data_dir(), None, &[]))
    }

    /// Every equation holds, and the month is either not there or whole. True when it is there.
    fn assert_sound(&self) -> bool {
        let check = self.run(&["check"]);
        assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
        let report = self.run(&["report", "spend", "--period", "2026-09", "--cost", "billed", "--json"]);
        let report: Value = serde_json::from_slice(&report.stdout).unwrap();
        let Some(amount) = report["total"]["amount"].as_str() else {
            return false;
        };
        assert_eq!(amount.parse(), Ok(self.totals.billed));
        true
    }

    fn assert_loads(&self) {
        let import = self.run(&["import", self.file.to_str().unwrap()]);
        assert!(import.status.success(), "{}", String::from_utf8_lossy(&import.stdout));
        self.assert_whole();
    }

    /// The month is there, and is what the kept original says.
    fn assert_whole(&self) {
        assert!(self.assert_sound());
        let deep = self.run(&["check", "--deep"]);
        assert!(deep.status.success(), "{}", String::from_utf8_lossy(&deep.stdout));
    }
}

/// Who looks at the database while an import runs, and can keep it from going on.
struct Watch {
    lease: Private,
    db: PgConnection,
    /// Not what looks: a transaction that has read `charges` sees no partition that is attached later.
    hold: Option<PgConnection>,
    newest: i64,
}

impl Watch {
    async fn begin(scene: &Scene) -> Self {
        let lease = scene.sandbox.join().await;
        let mut db = connect(&lease).await;
        let newest = sqlx::query_scalar("select coalesce(max(delivery_id), 0) from deliveries");
        let newest = newest.fetch_one(&mut db).await.unwrap();
        Self { lease, db, hold: None, newest }
    }

    /// Locks rows, which is let go with the connection.
    async fn lock(&self, rows: &'static str) -> PgConnection {
        let mut db = connect(&self.lease).await;
        db.execute("begin").await.unwrap();
        db.execute(rows).await.unwrap();
        db
    }

    /// Nobody publishes while `hold` is held.
    async fn keep_from_publishing(&mut self) {
        self.hold = Some(self.lock("select from ledger for update").await);
    }

    async fn wait_for(&mut self, moment: Moment, mut is_running: impl FnMut() -> bool) {
        let began = Instant::now();
        loop {
            // Asked first: what ended before the question was there to be seen.
            let runs = is_running();
            let is_there: bool =
                sqlx::query_scalar(moment.sql()).bind(self.newest).fetch_one(&mut self.db).await.unwrap();
            if is_there {
                return;
            }
            assert!(runs, "it ended before {moment:?}");
            assert!(began.elapsed() < Duration::from_secs(30), "waited in vain for {moment:?}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// Imports up to each moment, at which `strike` ends something.
async fn strike_at_each_moment(scene: &Scene, strike: impl Fn(&mut Child)) {
    for moment in Moment::ALL {
        let mut watch = Watch::begin(scene).await;
        if moment != Moment::Published {
            watch.keep_from_publishing().await;
        }
        let mut import = scene.begin_import();
        watch.wait_for(moment, || import.try_wait().unwrap().is_none()).await;
        // From here on the import is alone with PostgreSQL.
        let Watch { lease, hold, .. } = watch;
        drop(lease);
        strike(&mut import);
        import.wait().unwrap();
        drop(hold);
        assert_eq!(scene.assert_sound(), moment == Moment::Published, "{moment:?}");
    }
    scene.assert_loads();
    let lease = scene.sandbox.join().await;
    // Of those that were struck before they were published nothing is left.
    let left = "select count(*) from pg_class where relname ~ '_of_[0-9]+_' and relkind = 'r'";
    let left: i64 = sqlx::query_scalar(left).fetch_one(&mut connect(&lease).await).await.unwrap();
    assert_eq!(left, if scene.totals.rows > 20_000 { 4 } else { 0 });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_import_leaves_nothing_that_counts() {
    for rows in SIZES {
        let scene = Scene::new(rows);
        strike_at_each_moment(&scene, |import| import.kill().unwrap()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_postgresql_leaves_nothing_that_counts() {
    for rows in SIZES {
        let scene = Scene::new(rows);
        strike_at_each_moment(&scene, |_| kill([scene.sandbox.postmaster().expect("PostgreSQL runs")])).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_whose_server_was_killed_is_loaded_once_by_the_next() {
    let scene = Scene::new(SIZES[0]);
    let kill_server = |mut server: Server| {
        server.signal(Signal::KILL);
        assert!(!server.end().success());
    };

    // While its rows arrive.
    let mut watch = Watch::begin(&scene).await;
    watch.keep_from_publishing().await;
    let mut server = scene.serve();
    let link = server.setup_link.clone().expect("nobody has an account");
    let setup = link.strip_prefix(&server.address).unwrap();
    let mut browser = Http::new(&server.address);
    let fields = "email=ada%40example.org&name=Ada&password=seven+blue+herons+again";
    assert_eq!(browser.submit(setup, setup, fields).status, 303);
    assert_eq!(browser.upload("month.csv", &fs::read_to_string(&scene.file).unwrap()).status, 303);
    watch.wait_for(Moment::RowsArrive, || server.is_running()).await;
    kill_server(server);
    drop(watch);
    assert!(!scene.assert_sound());

    // The next server begins again, and ends when the month counts and the job does not know it yet.
    let mut watch = Watch::begin(&scene).await;
    watch.keep_from_publishing().await;
    let mut server = scene.serve();
    watch.wait_for(Moment::AboutToPublish, || server.is_running()).await;
    let mut job = watch.lock("select from jobs for update").await;
    watch.hold = None;
    watch.wait_for(Moment::Published, || server.is_running()).await;
    kill_server(server);
    // PostgreSQL still does what it was asked for before: it would say that the job is done once it may.
    // One whose client is gone may end by itself meanwhile: what counts is that none is left to be told to end.
    let end_the_others = "select count(*) filter (where pg_terminate_backend(pid)) from pg_stat_activity
                          where backend_type = 'client backend' and pid <> pg_backend_pid()";
    let began = Instant::now();
    while sqlx::query_scalar::<_, i64>(end_the_others).fetch_one(&mut job).await.unwrap() > 0 {
        assert!(began.elapsed() < Duration::from_secs(30), "connections of a server that was killed stay");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop((job, watch));

    // The third finds that it counts, and is done.
    let server = scene.serve();
    let mut watch = Watch::begin(&scene).await;
    let done = "select exists (select from jobs where status = 'done' and attempts = 3)";
    let began = Instant::now();
    while !sqlx::query_scalar::<_, bool>(done).fetch_one(&mut watch.db).await.unwrap() {
        assert!(began.elapsed() < Duration::from_secs(30), "the job is not done: {}", server.log());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    scene.assert_whole();
    let counts: i64 =
        sqlx::query_scalar("select count(*) from charges join visible_deliveries using (delivery_id)")
            .fetch_one(&mut watch.db)
            .await
            .unwrap();
    assert_eq!(counts, i64::try_from(scene.totals.rows).unwrap());
    let waiting = fs::read_dir(scene.sandbox.data_dir().join("incoming")).unwrap().count();
    assert_eq!(waiting, 0, "the upload is kept once, as an original");
}
