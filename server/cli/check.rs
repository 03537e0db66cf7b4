//! `gpuledger check`.

use super::{Done, Session, print_json};
use crate::adjustments;
use crate::allocation;
use crate::clock;
use crate::command_output::say;
use crate::ledger;
use crate::onprem;
use crate::telemetry::divide;

#[derive(clap::Args)]
pub struct Arguments {
    /// Also read the kept originals again, with another reader.
    #[arg(long)]
    deep: bool,
}

pub async fn run(session: Session, arguments: Arguments) -> anyhow::Result<Done> {
    let mut db = session.pool.acquire().await?;
    ledger::sweep(&mut db).await?;
    let mut equations = ledger::check(&mut db).await?;
    equations.extend(ledger::check_kept(&mut db, &session.originals).await?);
    equations.extend(allocation::check(&mut db).await?);
    equations.extend(divide::check(&mut db).await?);
    equations.extend(adjustments::check(&mut db, clock::now()).await?);
    equations.extend(onprem::check(&mut db, clock::now().date_naive()).await?);
    if arguments.deep {
        equations.extend(ledger::check_originals(&mut db, &session.originals).await?);
    }
    let failed = equations.iter().filter(|equation| !equation.holds).count();
    if session.json {
        print_json(&equations)?;
    } else {
        for equation in &equations {
            let (sign, mark) = if equation.holds { ("=", " ok ") } else { ("≠", "FAIL") };
            say!("{mark}  {} [{}]: {} {sign} {}", equation.name, equation.of, equation.left, equation.right)?;
        }
        say!("{} equations, {failed} do not hold", equations.len())?;
    }
    Ok(if failed == 0 { Done::Well } else { Done::Failed })
}
