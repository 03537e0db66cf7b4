//! The supervisor: a small process that runs PostgreSQL for everyone who uses a data directory, and ends it after them.
//!
//! Nobody who uses the database can be PostgreSQL's parent, because any of them may be the first to leave. So the
//! first one starts a supervisor, which is this program again under another name, in a session of its own.

use super::account::Account;
use super::error::{About, Error, Result};
use super::place::Place;
use super::programs::Programs;
use super::server::Server;
use crate::command_output::remark;
use rustix::process::setsid;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// The hidden subcommand that [`start`] runs and that calls [`keep`].
pub const SUBCOMMAND: &str = "keep-postgres";

/// What a supervisor says when PostgreSQL takes connections; anything else is why it does not.
const READY: &str = "ready\n";

/// How long to wait before a server that died is started again; doubled each time in vain.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Starts a supervisor and waits until its PostgreSQL is ready.
///
/// `lock`, the supervisor's lock, is handed over as its standard input: a lock belongs to the open file, so at no moment
/// between us and the supervisor is it free.
pub fn start(place: &Place, supervisor: &Path, programs: &Programs, lock: File) -> Result<()> {
    let mut command = Command::new(supervisor);
    command.arg0("gpuledger").arg(SUBCOMMAND);
    command.arg("--data-dir").arg(place.data_dir()).arg("--postgres").arg(programs.postgres());
    command.stdin(lock).stdout(Stdio::piped()).stderr(place.open_log()?).current_dir("/");
    let mut child = command.spawn().about("cannot run", supervisor)?;
    // The lock's open file must be the supervisor's alone from here on.
    drop(command);
    let answer = first_word(&mut child);
    // Reaps the supervisor whenever it ends, so that it does not stay a zombie for as long as we live.
    thread::spawn(move || child.wait());
    answer
}

fn first_word(supervisor: &mut Child) -> Result<()> {
    let Some(output) = supervisor.stdout.take() else { return Ok(()) };
    let mut output = BufReader::new(output);
    let mut word = String::new();
    let heard = output.read_line(&mut word);
    if word == READY {
        return Ok(());
    }
    let _ = heard.and_then(|_| output.read_to_string(&mut word));
    let said_nothing =
        "the process that looks after PostgreSQL ended without a word; postgres.log may say why";
    Err(Error::Supervisor(if word.trim().is_empty() {
        said_nothing.to_owned()
    } else {
        word.trim().to_owned()
    }))
}

/// What a supervisor waits for.
enum Event {
    ServerEnded,
    /// The last user left; nobody can join while this lock is held.
    LastUserLeft(File),
}

/// Runs PostgreSQL until the last user of the data directory has left. Only for processes that [`start`] started.
///
/// Must be called from the program's main thread: PostgreSQL is a child of the calling thread and ends with it.
pub fn keep(data_dir: &Path, postgres: &Path) -> Result<()> {
    let answer =
        Supervisor::begin(data_dir, postgres).and_then(|supervisor| Ok((supervisor.start()?, supervisor)));
    let (server, supervisor) = match answer {
        Ok(started) => started,
        Err(error) => {
            say(&error.to_string());
            return Err(error);
        }
    };
    say(READY);
    supervisor.run(server);
    Ok(())
}

/// Whoever started us may have been killed meanwhile; then nobody listens, and that is no matter.
fn say(word: &str) {
    let _ = io::stdout().write_all(word.as_bytes()).and_then(|()| io::stdout().flush());
}

struct Supervisor {
    place: Place,
    postgres: PathBuf,
    account: Account,
    events: Sender<Event>,
    inbox: Receiver<Event>,
}

impl Supervisor {
    fn begin(data_dir: &Path, postgres: &Path) -> Result<Supervisor> {
        let place = Place::of(data_dir)?;
        expect_lock(&place)?;
        // Away from the terminal of whoever started us: its Ctrl-C and its end are not for us.
        let _ = setsid();
        let account = Account::choose(&place)?;
        let (events, inbox) = mpsc::channel();
        watch_users(&place, events.clone())?;
        Ok(Supervisor { place, postgres: postgres.to_owned(), account, events, inbox })
    }

    fn run(&self, mut server: Server) {
        // Holds the users' lock, once it is ours, until PostgreSQL has stopped.
        let mut closed = None;
        while closed.is_none() {
            match self.inbox.recv() {
                Ok(Event::ServerEnded) => {
                    server.stop();
                    match self.restart() {
                        Ok(restarted) => server = restarted,
                        Err(_last_user_left) => return,
                    }
                }
                Ok(Event::LastUserLeft(lock)) => closed = Some(lock),
                Err(mpsc::RecvError) => break,
            }
        }
        server.stop();
    }

    fn start(&self) -> Result<Server> {
        let server = Server::start(&self.place, &self.postgres, &self.account)?;
        let (pid, events) = (server.pid(), self.events.clone());
        thread::spawn(move || {
            Server::end_of(pid);
            events.send(Event::ServerEnded)
        });
        Ok(server)
    }

    /// Starts PostgreSQL again, however often that takes; gives up, with the users' lock, when the last user leaves.
    fn restart(&self) -> Result<Server, Option<File>> {
        remark!("gpuledger: PostgreSQL ended while in use; starting it again");
        let mut pause = FIRST_PAUSE;
        loop {
            match self.inbox.recv_timeout(pause) {
                Ok(Event::LastUserLeft(lock)) => return Err(Some(lock)),
                Err(RecvTimeoutError::Disconnected) => return Err(None),
                Ok(Event::ServerEnded) | Err(RecvTimeoutError::Timeout) => {}
            }
            match self.start() {
                Ok(server) => return Ok(server),
                Err(error) => remark!("gpuledger: {error}"),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// Refuses to be started by anyone who does not hand over the supervisor's lock.
fn expect_lock(place: &Place) -> Result<()> {
    let lock = place.supervisor_lock()?.metadata().about("cannot read", place.root())?;
    let input = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    let input = input.and_then(|input| input.metadata()).about("cannot read", Path::new("/dev/stdin"))?;
    let is_handed_over = (lock.dev(), lock.ino()) == (input.dev(), input.ino());
    if is_handed_over { Ok(()) } else { Err(Error::NotForPeople) }
}

/// Every user holds this lock shared, so the kernel grants it to us alone when the last one is gone, even by `kill -9`.
fn watch_users(place: &Place, events: Sender<Event>) -> Result<()> {
    let lock = place.users_lock()?;
    thread::spawn(move || match lock.lock() {
        Ok(()) => drop(events.send(Event::LastUserLeft(lock))),
        Err(error) => remark!("gpuledger: cannot wait for the users to leave: {error}"),
    });
    Ok(())
}
