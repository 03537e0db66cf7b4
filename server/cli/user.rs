//! `gpuledger user`: accounts without a browser.

use std::io::Read;

use anyhow::{Context, bail};

use super::{Done, Session, print_json};
use crate::accounts::people::{self, Added};
use crate::accounts::{Email, NewPerson, Password, Role};
use crate::clock;

#[derive(clap::Subcommand)]
pub enum User {
    /// Add someone who can sign in.
    Add(Add),
}

#[derive(clap::Args)]
pub struct Add {
    #[arg(long)]
    email: String,

    /// admin, finance or lead.
    #[arg(long)]
    role: String,

    /// A team whose spend a lead sees. May be repeated.
    #[arg(long)]
    team: Vec<String>,

    /// Read the password from standard input.
    #[arg(long, required = true)]
    password_stdin: bool,
}

pub async fn run(session: Session, user: User) -> anyhow::Result<Done> {
    let User::Add(add) = user;
    let mut password = String::new();
    std::io::stdin().read_to_string(&mut password).context("the password could not be read")?;
    let email = Email::parse(&add.email).context("that is no e-mail address")?;
    let role: Role = add.role.parse().map_err(|_| anyhow::anyhow!("the role is admin, finance or lead"))?;
    if role == Role::Lead && add.team.is_empty() {
        bail!("a lead sees the spend of their teams: name at least one with --team");
    }
    let password = Password::choose(password.trim_end_matches(['\r', '\n']), email.as_str())
        .map_err(|why| anyhow::anyhow!("{why}"))?;
    let hash = password.hash(&mut clock::dice()).await?;
    let mut db = session.pool.acquire().await?;
    let person = NewPerson { email, name: None, role, teams: people::parse_teams(&add.team.join(",")) };
    match people::add(&mut db, &person, &hash, clock::now()).await? {
        Added::EmailTaken => bail!("{} has an account already", person.email),
        Added::As(id) => {
            if session.json {
                print_json(&serde_json::json!({ "email": person.email.to_string(), "id": id }))?;
            } else {
                println!("{} can sign in now.", person.email);
            }
            Ok(Done::Well)
        }
    }
}
