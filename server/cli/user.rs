//! `gpuledger user`: accounts without a browser; also the way back in when nobody can sign in any more.

use std::io::Read;

use anyhow::{Context, bail};
use sqlx::PgConnection;

use super::{Done, Session, print_json};
use crate::accounts::manage::{self, Managed};
use crate::accounts::people::{self, Added};
use crate::accounts::{Email, NewPerson, Password, Person, Role, link};
use crate::clock;
use crate::command_output::{remark, say};
use crate::config::BaseUrl;
use crate::web::paths::PasswordLink;

#[derive(clap::Subcommand)]
pub enum User {
    /// Add someone, with a password or with a link by which they choose one.
    Add(Add),
    /// Print who has an account.
    List,
    /// Let someone in no longer; their sessions and tokens end at once.
    Disable(Whom),
    /// Let someone in again.
    Enable(Whom),
    /// Print a link, valid once and for three days, by which someone chooses a new password.
    ResetLink(Whom),
}

#[derive(clap::Args)]
pub struct Add {
    #[arg(long)]
    email: String,

    #[arg(long)]
    role: Role,

    /// A team whose spend a lead sees. May be repeated.
    #[arg(long, required_if_eq("role", "lead"))]
    team: Vec<String>,

    #[arg(long)]
    name: Option<String>,

    /// Read the password from standard input; without this a link to choose one is printed.
    #[arg(long)]
    password_stdin: bool,
}

#[derive(clap::Args)]
pub struct Whom {
    #[arg(long)]
    email: String,
}

pub async fn run(session: Session, user: User) -> anyhow::Result<Done> {
    let mut db = session.pool.acquire().await?;
    match user {
        User::Add(add) => self::add(&session, &mut db, add).await,
        User::List => list(&session, &people::list(&mut db).await?),
        User::Disable(whom) => {
            let person = find(&mut db, &whom).await?;
            let managed = manage::disable(&mut db, person.user_id, session.by.at(clock::now())).await?;
            settled(&session, &mut db, &whom, managed, "is disabled; sessions and tokens ended").await
        }
        User::Enable(whom) => {
            let person = find(&mut db, &whom).await?;
            let managed = manage::enable(&mut db, person.user_id, session.by.at(clock::now())).await?;
            settled(&session, &mut db, &whom, managed, "can sign in again").await
        }
        User::ResetLink(whom) => {
            let person = find(&mut db, &whom).await?;
            let link = make_link(&session, &mut db, &person).await?;
            tell(&session, &person, Some(&link))
        }
    }
}

async fn add(session: &Session, db: &mut PgConnection, add: Add) -> anyhow::Result<Done> {
    let email = Email::parse(&add.email).with_context(|| format!("“{}” is no e-mail address", add.email))?;
    if people::find_by_email(db, email.as_str()).await?.is_some() {
        bail!("{email} has an account already");
    }
    let hash = if add.password_stdin { Some(read_password(&email).await?) } else { None };
    let name = add.name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let person = NewPerson { email, name, role: add.role, teams: people::parse_teams(&add.team.join(",")) };
    let Added::As(id) = people::add(db, &person, hash.as_deref(), session.by.at(clock::now())).await? else {
        bail!("{} has an account already", person.email);
    };
    let person = people::find(db, id).await?.context("the account is gone")?;
    let link = if hash.is_none() { Some(make_link(session, db, &person).await?) } else { None };
    tell(session, &person, link.as_deref())
}

async fn read_password(email: &Email) -> anyhow::Result<String> {
    let mut password = String::new();
    std::io::stdin().read_to_string(&mut password).context("the password could not be read")?;
    let password = Password::choose(password.trim_end_matches(['\r', '\n']), email.as_str())
        .map_err(|why| anyhow::anyhow!("{why}"))?;
    Ok(password.hash(&mut clock::dice()).await?)
}

async fn make_link(session: &Session, db: &mut PgConnection, person: &Person) -> anyhow::Result<String> {
    let made = link::make(db, person, &mut clock::dice(), session.by.at(clock::now())).await?;
    let token = made.with_context(|| format!("{} is disabled: enable them first", person.email))?;
    Ok(link_of(&session.base_url, token.as_str()))
}

fn link_of(base: &BaseUrl, token: &str) -> String {
    format!("{base}{}", PasswordLink { token: token.to_owned() })
}

async fn find(db: &mut PgConnection, whom: &Whom) -> anyhow::Result<Person> {
    let found = people::find_by_email(db, whom.email.trim()).await?;
    found.with_context(|| format!("no account has the address {}", whom.email))
}

async fn settled(
    session: &Session,
    db: &mut PgConnection,
    whom: &Whom,
    managed: Managed,
    sentence: &str,
) -> anyhow::Result<Done> {
    match managed {
        Managed::Done => {}
        Managed::Unchanged => remark!("Nothing changed: it was so already."),
        Managed::LastAdmin => {
            bail!("{} is the last administrator who can sign in; nothing was changed", whom.email)
        }
        Managed::Nobody => bail!("no account has the address {}", whom.email),
    }
    let person = find(db, whom).await?;
    if session.json {
        print_json(&person)?;
    } else {
        say!("{} {sentence}.", person.email)?;
    }
    Ok(Done::Well)
}

fn list(session: &Session, people: &[Person]) -> anyhow::Result<Done> {
    if session.json {
        print_json(&people)?;
        return Ok(Done::Well);
    }
    for person in people {
        let state = match (person.is_disabled(), person.has_password) {
            (true, _) => " disabled",
            (false, false) => " invited",
            (false, true) => "",
        };
        say!("{} {} {}{state}", person.email, person.role, person.teams.join(", "))?;
    }
    Ok(Done::Well)
}

fn tell(session: &Session, person: &Person, link: Option<&str>) -> anyhow::Result<Done> {
    if session.json {
        print_json(&serde_json::json!({ "email": person.email, "id": person.user_id, "link": link }))?;
    } else if let Some(link) = link {
        say!("{} chooses a password here, once and within three days:\n{link}", person.email)?;
    } else {
        say!("{} can sign in now.", person.email)?;
    }
    Ok(Done::Well)
}
