//! Whatever an organization writes and is billed, every cent has one owner.

use std::collections::BTreeMap;

use gpuledger::accounts::Viewer;
use gpuledger::allocation::{
    self, Edit, Entry, FixedShare, Pool, Recipient, Split, Target, normalized, problems,
};
use gpuledger::money::{Currency, Decimal};
use gpuledger::report::{self, Answers, CostBasis, Filter, Grouping, Question, Spend};
use rand::Rng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sqlx::{PgConnection, PgPool};

use crate::support::book::{change, pool, rule, team, to_pool, to_team, write};
use crate::support::{Focus, TestLedger};

pub const TEAMS: [&str; 6] = ["vision", "speech", "robotics", "search", "ads", "core"];
const SERVICES: [&str; 5] = ["GPU", "Support", "Storage", "Network", "Tax"];
const CATEGORIES: [&str; 5] = ["Usage", "Usage", "Purchase", "Tax", "Credit"];

/// An amount of up to thirty digits, below zero now and then.
fn amount(chance: &mut ChaCha8Rng) -> String {
    let digits = chance.random_range(0..20usize);
    let fraction: String = (0..digits).map(|_| char::from(b'0' + chance.random_range(0..10u8))).collect();
    let whole = chance.random_range(0..100_000u32);
    let sign = if chance.random_bool(0.1) { "-" } else { "" };
    if digits == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

pub fn bill(chance: &mut ChaCha8Rng, month: u32) -> Focus {
    let mut file = Focus::new();
    for _ in 0..chance.random_range(1..60) {
        let spelling = match (TEAMS.choose(chance).unwrap(), chance.random_range(0..5)) {
            (team, 0) => team.to_uppercase(),
            (team, 1) => format!(" {team} "),
            (_, 2) => String::new(),
            (_, 3) => "nobody".to_owned(),
            (team, _) => (*team).to_owned(),
        };
        let experiment = chance.random_range(0..5);
        let cost = amount(chance);
        file = file.line(&format!(
            "NeoCloud,acme,s{},2026-{month:02}-01T00:00:00Z,2026-{:02}-01T00:00:00Z,2026-{month:02}-05T10:00:00Z,\
             2026-{month:02}-05T11:00:00Z,{},Standard,{},Compute,sku,eu-1,,,1,Hours,{cost},{},{cost},{cost},{},\
             \"{{\"\"team\"\":\"\"{spelling}\"\",\"\"experiment\"\":\"\"e{experiment}\"\"}}\",NeoCloud,NeoCloud",
            chance.random_range(0..4),
            month + 1,
            CATEGORIES.choose(chance).unwrap(),
            SERVICES.choose(chance).unwrap(),
            amount(chance),
            if chance.random_bool(0.1) { "EUR" } else { "USD" },
        ));
    }
    file
}

fn split(chance: &mut ChaCha8Rng, teams: &[&str]) -> Split {
    match chance.random_range(0..5) {
        0 => Split::Evenly,
        1 => Split::DirectCost,
        2 => Split::AcceleratorHours,
        3 => Split::WhoUsedIt,
        _ => {
            let one = Decimal::from(1);
            let weights: Vec<Decimal> = teams.iter().map(|_| chance.random_range(1i64..100).into()).collect();
            let shares = one.apportion(&weights, 12).unwrap();
            let shares = teams
                .iter()
                .zip(shares)
                .map(|(team, share)| FixedShare { to: Recipient::Team((*team).to_owned()), share });
            Split::Fixed { shares: shares.collect() }
        }
    }
}

/// Teams, pools that may hand on to each other, and rules in any order.
pub fn organization(chance: &mut ChaCha8Rng) -> Vec<Entry> {
    let mut teams = TEAMS.to_vec();
    teams.shuffle(chance);
    teams.truncate(chance.random_range(1..=TEAMS.len()));
    let mut entries: Vec<Entry> = teams.iter().map(|handle| team(handle)).collect();
    let network = pool("network", if chance.random_bool(0.5) { Split::Evenly } else { Split::DirectCost });
    entries.push(Entry::Pool(network));
    let support = pool("support", split(chance, &teams));
    let weighs = matches!(support.split, Split::Evenly | Split::DirectCost | Split::AcceleratorHours);
    let hands_on = weighs && chance.random_bool(0.7);
    let excludes = chance.random_bool(0.5) && !matches!(support.split, Split::Fixed { .. });
    let without = if excludes { vec![teams[0].to_owned()] } else { Vec::new() };
    let pools = if hands_on { vec!["network".to_owned()] } else { Vec::new() };
    entries.push(Entry::Pool(Pool { pools, without, ..support }));
    let mut places: Vec<i64> = (0..6).collect();
    places.shuffle(chance);
    entries.push(rule(places[0], "service", "Network", to_pool("network")));
    entries.push(rule(places[1], "service", "Support", to_pool("support")));
    entries.push(rule(places[2], "category", "Tax", to_pool("support")));
    entries.push(rule(places[3], "account", "s1", to_team(teams[0])));
    if chance.random_bool(0.7) {
        entries.push(rule(places[4], "", "", Target::Labels));
    }
    entries
}

async fn ask(db: &mut PgConnection, by: Grouping, cost: CostBasis, filters: Vec<Filter>) -> Spend {
    let period = "2026-08..2026-09".parse().unwrap();
    let question = Question { by, cost, filters, ..Question::of(period, Viewer::Everything) };
    report::spend(db, &question).await.unwrap()
}

fn total(spend: &Spend) -> Decimal {
    spend.total.as_ref().map(|total| total.amount).unwrap_or_default()
}

/// The cents of all teams and of what is unallocated are those of the month, and a team's those of its lines; the
/// statement of two months is the sum of theirs.
async fn statements_sum_to_the_cent(db: &mut PgConnection, cost: CostBasis, seed: u64) {
    let answers = Answers::default();
    let mut sums: BTreeMap<(String, String), Decimal> = BTreeMap::new();
    for period in ["2026-08", "2026-09", "2026-08..2026-09"] {
        let question = Question {
            cost,
            currency: Some(Currency::exactly("USD")),
            ..Question::of(period.parse().unwrap(), Viewer::Everything)
        };
        let mut whole = Decimal::ZERO;
        let mut unallocated = Decimal::ZERO;
        for month in question.period.months() {
            let of_month = Question { period: month.into(), ..question.clone() };
            whole += total(&report::spend(db, &of_month).await.unwrap()).round(2);
            let cents = report::month_in_cents(db, &answers, &of_month).await.unwrap();
            unallocated += cents.get(&None).copied().unwrap_or_default().total;
        }
        let book = allocation::book(db, 10_000).await.unwrap();
        let mut charged = Decimal::ZERO;
        for team in TEAMS {
            let Some(who) = report::seen_team(&book, &Viewer::Everything, team, question.period) else {
                continue;
            };
            let statement = report::statement(db, &answers, who, &question).await.unwrap();
            let stated = statement.total.map(|total| total.amount).unwrap_or_default();
            let lines = statement.teams.iter().flat_map(|team| &team.direct).map(|line| line.amount);
            let parts = statement.teams.iter().flat_map(|team| &team.shared).map(|part| part.amount);
            assert_eq!(lines.chain(parts).sum::<Decimal>(), stated, "seed {seed}, {team} in {period}");
            assert_eq!(statement.direct + statement.shared, stated);
            assert_eq!(stated, stated.round(2));
            for part in statement.teams.iter().flat_map(|team| &team.shared) {
                let exact = part.total.multiply(part.share);
                assert!((part.amount - exact).abs() <= Decimal::new(1, 2), "seed {seed}, {team}: {part:?}");
            }
            sums.insert((period.to_owned(), team.to_owned()), stated);
            charged += stated;
        }
        assert_eq!(charged + unallocated, whole, "seed {seed}, {period}");
        let of_nobody = answers.unallocated(db, &question, 0, Some(1)).await.unwrap().stated;
        assert_eq!(of_nobody.unallocated, unallocated, "seed {seed}, {period}");
        assert_eq!(of_nobody.direct + of_nobody.shared, charged, "seed {seed}, {period}");
        assert_eq!(of_nobody.total, whole, "seed {seed}, {period}");
    }
    for team in TEAMS {
        let of = |period: &str| sums.get(&(period.to_owned(), team.to_owned())).copied().unwrap_or_default();
        assert_eq!(of("2026-08") + of("2026-09"), of("2026-08..2026-09"), "seed {seed}, {team}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn every_cent_has_one_owner_whatever_is_written_and_billed(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut db = ledger.db.acquire().await.unwrap();
    let mut written: Vec<(i64, Entry)> = Vec::new();
    for seed in 0..10 {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        // One month or the other is stated anew, and everybody is reorganized.
        let month = 8 + u32::try_from(seed % 2).unwrap();
        ledger.deliver(&format!("{seed}.csv"), &bill(&mut chance, month)).await;
        let entries = organization(&mut chance);
        let ids = allocation::entry_ids(&mut db, entries.len()).await.unwrap();
        let gone = written.drain(..).map(|(id, entry)| Edit { id, before: Some(entry), after: None });
        let come = ids.iter().zip(&entries).map(|(id, entry)| Edit {
            id: *id,
            before: None,
            after: Some(entry.clone()),
        });
        let edits: Vec<Edit> = gone.chain(come).collect();
        change(&mut db, edits).await;
        written = ids.into_iter().zip(entries).collect();
        assert!(problems(&allocation::book(&mut db, 10_000).await.unwrap()).is_empty());

        for cost in [CostBasis::Effective, CostBasis::Billed] {
            let expected = ask(&mut db, Grouping::Service, cost, Vec::new()).await;
            let mut by_team: BTreeMap<Option<String>, Decimal> = BTreeMap::new();
            for by in
                [Grouping::Team, Grouping::Experiment, Grouping::CostCentre, Grouping::Pool, Grouping::Rule]
            {
                let answer = ask(&mut db, by.clone(), cost, Vec::new()).await;
                assert_eq!(total(&answer), total(&expected), "seed {seed}, by {by}");
                assert_eq!(
                    answer.groups.iter().map(|group| group.cost.amount).sum::<Decimal>(),
                    total(&expected)
                );
                if by == Grouping::Team {
                    by_team =
                        answer.groups.iter().map(|group| (group.key.clone(), group.cost.amount)).collect();
                }
            }
            // A team's own page says the same, by whatever it is grouped.
            for (team, cost_of_team) in by_team {
                let filter = || vec![Filter::keep(Grouping::Team, vec![team.clone().unwrap_or_default()])];
                for by in
                    [Grouping::Service, Grouping::Month, Grouping::Experiment, Grouping::Pool, Grouping::Day]
                {
                    let answer = ask(&mut db, by.clone(), cost, filter()).await;
                    assert_eq!(total(&answer), cost_of_team, "seed {seed}, team {team:?}, by {by}");
                }
                assert_eq!(team.as_deref().map(normalized), team);
            }
            Box::pin(statements_sum_to_the_cent(&mut db, cost, seed)).await;
        }
        let equations = allocation::check(&mut db).await.unwrap();
        assert!(equations.len() >= 4, "{equations:?}");
        let broken: Vec<_> = equations.iter().filter(|equation| !equation.holds).collect();
        assert!(broken.is_empty(), "seed {seed}: {broken:#?}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_owners_cost_stays_true_however_often_rules_change(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut db = ledger.db.acquire().await.unwrap();
    let mut chance = ChaCha8Rng::seed_from_u64(7);
    ledger.deliver("bill.csv", &bill(&mut chance, 9)).await;
    let mut entries: Vec<Entry> = TEAMS.iter().map(|handle| team(handle)).collect();
    entries.push(rule(0, "service", "GPU", to_team(TEAMS[0])));
    let id = *write(&mut db, entries.clone()).await.last().unwrap();
    let mut was = entries.pop().unwrap();
    // More often than sums are made from each other before they are added up to one.
    for turn in 0..20 {
        let service = SERVICES.choose(&mut chance).unwrap();
        let becomes = rule(0, "service", service, to_team(TEAMS.choose(&mut chance).unwrap()));
        change(&mut db, vec![Edit { id, before: Some(was), after: Some(becomes.clone()) }]).await;
        was = becomes;
        let by_team = ask(&mut db, Grouping::Team, CostBasis::Effective, Vec::new()).await;
        let by_service = ask(&mut db, Grouping::Service, CostBasis::Effective, Vec::new()).await;
        assert_eq!(total(&by_team), total(&by_service), "turn {turn}");
        // Who has nothing any more is not there.
        let filter = |team: &str| vec![Filter::keep(Grouping::Team, vec![team.to_owned()])];
        for group in &by_team.groups {
            let team = group.key.clone().unwrap_or_default();
            let of_team = ask(&mut db, Grouping::Service, CostBasis::Effective, filter(&team)).await;
            assert_eq!(total(&of_team), group.cost.amount, "turn {turn}, {team}");
            assert!(!of_team.groups.is_empty(), "turn {turn}, {team}");
        }
    }
    let equations = allocation::check(&mut db).await.unwrap();
    assert!(equations.iter().all(|equation| equation.holds), "{equations:#?}");
}
