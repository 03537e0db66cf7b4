//! The private PostgreSQL, with everything that may happen to its processes.

use super::sandbox::*;
use gpuledger::store::private::{self, Error, Setup};
use gpuledger::store::{self, Database, Store};
use rustix::process::{Pid, geteuid};
use sqlx::{Connection, Executor};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

#[tokio::test]
async fn it_makes_a_database_in_an_empty_data_directory() {
    let sandbox = Sandbox::new();
    let private = sandbox.join().await;

    let mut db = connect(&private).await;
    let [encoding, collation, fsync, addresses]: [String; 4] = sqlx::query_scalar(
        "select array[pg_encoding_to_char(encoding), datcollate, current_setting('fsync'),
                      current_setting('listen_addresses')]
         from pg_database where datname = current_database() and datname = 'gpuledger'",
    )
    .fetch_one(&mut db)
    .await
    .map(|row: Vec<String>| row.try_into().unwrap())
    .unwrap();

    assert_eq!([encoding, collation, fsync, addresses], ["UTF8", "C", "on", ""]);
    let socket = fs::metadata(sandbox.postgres("socket")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn it_finds_its_data_again() {
    let sandbox = Sandbox::new();
    let private = sandbox.join().await;
    leave_mark(&private).await;
    private.leave().await.unwrap();

    let again = sandbox.join().await;
    assert!(has_mark(&mut connect(&again).await).await);
}

#[tokio::test]
async fn it_serves_all_who_join_at_once() {
    let sandbox = Sandbox::new();
    let (one, two, three) = tokio::join!(sandbox.join(), sandbox.join(), sandbox.join());

    leave_mark(&one).await;
    assert!(has_mark(&mut connect(&two).await).await);
    assert!(has_mark(&mut connect(&three).await).await);
}

#[tokio::test]
async fn it_stops_when_the_last_one_leaves() {
    let sandbox = Sandbox::new();
    let (one, two) = (sandbox.join().await, sandbox.join().await);
    let (postmaster, supervisor) = (sandbox.postmaster().unwrap(), sandbox.supervisor());

    one.leave().await.unwrap();
    connect(&two).await.close().await.unwrap();
    assert_eq!(sandbox.postmaster(), Some(postmaster));

    two.leave().await.unwrap();
    assert!(!is_alive(postmaster));
    wait_until("the supervisor has ended", || !is_alive(supervisor));
}

#[tokio::test]
async fn it_can_be_joined_while_it_stops() {
    let sandbox = Sandbox::new();
    leave_mark(&sandbox.join().await).await;
    for _ in 0..10 {
        let private = sandbox.join().await;
        assert!(has_mark(&mut connect(&private).await).await);
    }
}

#[tokio::test]
async fn it_comes_back_for_its_users_when_the_supervisor_is_killed() {
    let sandbox = Sandbox::new();
    let (one, _two) = (sandbox.join().await, sandbox.join().await);
    leave_mark(&one).await;
    let supervisor = sandbox.supervisor();

    kill([supervisor]);

    wait_until("another supervisor is there", || {
        sandbox.postmaster().is_some_and(|_| sandbox.supervisor() != supervisor)
    });
    assert!(has_mark(&mut reconnect(&one).await).await);
}

#[tokio::test]
async fn it_comes_back_when_postgresql_is_killed() {
    let sandbox = Sandbox::new();
    let private = sandbox.join().await;
    leave_mark(&private).await;
    // A process that does not notice the end of its postmaster by itself, as in a long query.
    let mut busy = connect(&private).await;
    tokio::spawn(async move { busy.execute("select count(*) from generate_series(1, 1000000000)").await });
    let (postmaster, supervisor) = (sandbox.postmaster().unwrap(), sandbox.supervisor());

    kill([postmaster]);

    wait_until("PostgreSQL is another one", || sandbox.postmaster().is_some_and(|pid| pid != postmaster));
    assert!(has_mark(&mut reconnect(&private).await).await);
    assert_eq!(sandbox.supervisor(), supervisor);
}

#[tokio::test]
async fn it_stops_when_the_last_one_is_killed() {
    let sandbox = Sandbox::new();
    let mut other = sandbox.other_process();
    let postmaster = sandbox.postmaster().unwrap();

    other.kill().unwrap();
    other.wait().unwrap();

    wait_until("PostgreSQL has stopped", || !is_alive(postmaster));
}

#[tokio::test]
async fn it_serves_the_next_one_after_everything_was_killed() {
    let sandbox = Sandbox::new();
    let mut other = sandbox.other_process();
    leave_mark(&sandbox.join().await).await;

    let (postmaster, supervisor) = (sandbox.postmaster().unwrap(), sandbox.supervisor());
    kill([Pid::from_child(&other), supervisor, postmaster]);
    other.wait().unwrap();

    let private = sandbox.join().await;
    assert!(has_mark(&mut connect(&private).await).await);
}

#[tokio::test]
async fn it_replaces_an_orphan_that_still_runs() {
    let sandbox = Sandbox::new();
    let mut other = sandbox.other_process();
    leave_mark(&sandbox.join().await).await;

    let (postmaster, supervisor) = (sandbox.postmaster().unwrap(), sandbox.supervisor());
    kill([Pid::from_child(&other), supervisor]);
    other.wait().unwrap();

    let private = sandbox.join().await;
    assert!(has_mark(&mut connect(&private).await).await);
    assert_ne!(sandbox.postmaster(), Some(postmaster));
}

#[tokio::test]
async fn it_starts_although_the_old_pid_is_another_program_by_now() {
    let sandbox = Sandbox::new();
    sandbox.join().await.leave().await.unwrap();
    let mut stranger = Command::new("sleep").arg("60").spawn().unwrap();
    leave_pid_file(&sandbox, Pid::from_child(&stranger));

    sandbox.join().await;

    assert!(stranger.try_wait().unwrap().is_none(), "a program that is none of ours was ended");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[tokio::test]
async fn it_starts_although_nobody_reaped_the_old_postgresql() {
    let sandbox = Sandbox::new();
    sandbox.join().await.leave().await.unwrap();
    let mut zombie = Command::new("true").spawn().unwrap();
    let pid = Pid::from_child(&zombie);
    wait_until("it is a zombie", || !is_alive(pid));
    leave_pid_file(&sandbox, pid);

    sandbox.join().await;
    zombie.wait().unwrap();
}

#[tokio::test]
async fn it_works_in_a_directory_whose_path_is_too_long_for_a_socket() {
    let sandbox = Sandbox::at(&"long/".repeat(30));
    let (one, two) = (sandbox.join().await, sandbox.join().await);
    leave_mark(&one).await;
    assert!(has_mark(&mut connect(&two).await).await);
}

#[tokio::test]
async fn it_starts_over_from_a_half_made_data_directory() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.postgres("data.new.left/base")).unwrap();
    fs::write(sandbox.postgres("data.new.left/PG_VERSION"), "15\n").unwrap();
    make_passable(sandbox.data_dir());
    make_passable(&sandbox.postgres(""));

    leave_mark(&sandbox.join().await).await;
    assert_eq!(sandbox.unfinished(), None);
}

#[tokio::test]
async fn it_starts_over_after_making_the_data_directory_was_cut_short() {
    let sandbox = Sandbox::new();
    let mut other = sandbox.joining_process();
    wait_until("initdb is at work", || sandbox.unfinished().is_some_and(|data| data.join("base").exists()));
    other.kill().unwrap();

    leave_mark(&sandbox.join().await).await;
    assert_eq!(sandbox.unfinished(), None);
    other.wait().unwrap();
}

#[tokio::test]
async fn it_leaves_the_data_of_another_major_version_alone() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.postgres("data")).unwrap();
    fs::write(sandbox.postgres("data/PG_VERSION"), "9.6\n").unwrap();
    make_passable(sandbox.data_dir());
    make_passable(&sandbox.postgres(""));

    let message = sandbox.refusal(&sandbox.setup()).await;

    assert!(message.contains("made by PostgreSQL 9, and only "), "{message}");
    assert_eq!(fs::read_dir(sandbox.postgres("data")).unwrap().count(), 1);
    assert_eq!(sandbox.unfinished(), None);
}

#[tokio::test]
async fn it_leaves_files_that_are_not_postgresqls_alone() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.postgres("data/photos")).unwrap();
    make_passable(sandbox.data_dir());
    make_passable(&sandbox.postgres(""));

    let message = sandbox.refusal(&sandbox.setup()).await;
    assert!(message.contains("is not a PostgreSQL data directory"), "{message}");
}

#[tokio::test]
async fn it_says_where_it_looked_for_programs_in_vain() {
    let sandbox = Sandbox::new();
    let setup = Setup { programs: Some(sandbox.root().to_owned()), ..sandbox.setup() };

    let message = sandbox.refusal(&setup).await;
    assert!(message.starts_with(&format!("GPULEDGER_PG_BIN is {}", sandbox.root().display())), "{message}");
}

#[test]
fn it_says_what_to_install() {
    let message = Error::NoPrograms.to_string();
    assert!(message.contains("apt-get install postgresql") && message.contains("DATABASE_URL"), "{message}");
}

#[tokio::test]
async fn it_names_the_directory_that_keeps_postgresql_out() {
    if !geteuid().is_root() {
        eprintln!("skipped: only root starts PostgreSQL as another user");
        return;
    }
    let sandbox = Sandbox::new();
    fs::set_permissions(sandbox.root(), Permissions::from_mode(0o700)).unwrap();

    let message = sandbox.refusal(&sandbox.setup()).await;
    assert!(message.contains(&format!("chmod o+x {}", sandbox.root().display())), "{message}");
    assert!(!message.contains("data/postgres"), "{message}");
}

#[tokio::test]
async fn it_passes_on_why_postgresql_does_not_start() {
    let sandbox = Sandbox::new();
    sandbox.join().await.leave().await.unwrap();
    fs::write(sandbox.postgres("data/postgresql.auto.conf"), "no_such_setting = 1\n").unwrap();

    let message = sandbox.refusal(&sandbox.setup()).await;
    assert!(message.contains("no_such_setting") && message.contains("postgres.log"), "{message}");
}

#[tokio::test]
async fn a_supervisor_that_a_person_starts_refuses() {
    let sandbox = Sandbox::new();
    let _private = sandbox.join().await;
    let data_dir = sandbox.data_dir().to_str().unwrap();
    let by_hand = Command::new(env!("CARGO_BIN_EXE_gpuledger"))
        .args([private::SUBCOMMAND, "--data-dir", data_dir, "--postgres", "postgres"])
        .output()
        .unwrap();
    assert_eq!(by_hand.status.code(), Some(1));
}

#[tokio::test]
async fn it_refuses_a_database_that_a_newer_version_used() {
    let sandbox = Sandbox::new();
    let database = Database::Private(sandbox.setup());
    let store = Store::open(&database).await.unwrap();
    let later = "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
                 values (99991231000000, 'later', true, '', 0)";
    let pool = store.pool(1, None);
    pool.execute(later).await.unwrap();
    pool.close().await;
    store.close().await.unwrap();

    let refused = Store::open(&database).await;
    assert!(matches!(refused, Err(store::Error::Newer(99_991_231_000_000))), "{refused:?}");
}

#[tokio::test]
async fn it_cancels_statements_that_take_longer_than_their_pool_allows() {
    let sandbox = Sandbox::new();
    let store = Store::open(&Database::Private(sandbox.setup())).await.unwrap();

    let pool = store.pool(1, Some(std::time::Duration::from_millis(20)));
    let error = pool.execute("select pg_sleep(60)").await.unwrap_err();
    assert_eq!(error.as_database_error().unwrap().code().unwrap(), "57014");
}

/// Not a test: what [`Sandbox::joining_process`] runs.
#[tokio::test]
#[ignore = "the other process of other tests"]
async fn helper_that_joins_and_stays() {
    let Some(data_dir) = std::env::var_os(HELPER_DATA_DIR) else { return };
    let supervisor = env!("CARGO_BIN_EXE_gpuledger").into();
    let _private = private::join(&Setup { supervisor, ..Setup::new(Path::new(&data_dir)) }).await.unwrap();
    println!("joined");
    std::future::pending::<()>().await;
}

fn leave_pid_file(sandbox: &Sandbox, pid: Pid) {
    let text = format!("{}\n", pid.as_raw_nonzero());
    fs::write(sandbox.postgres("data/postmaster.pid"), text).unwrap();
}

fn make_passable(directory: &Path) {
    fs::set_permissions(directory, Permissions::from_mode(0o711)).unwrap();
}
