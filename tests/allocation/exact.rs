//! Whatever an organization writes and is billed, every cent has one owner.

use gpuledger::changes::{self, Document as _};
use std::collections::BTreeMap;

use gpuledger::accounts::Viewer;
use gpuledger::allocation::{
    self, Configuration, Edit, Entry, FixedShare, Hours, HoursOf, Months, Quantity, QuantityKind, Recipient,
    SharedCostPool, Split, Target, Team, normalized, problems,
};
use gpuledger::audit::Actor;
use gpuledger::exchange::{self, Rate};
use gpuledger::money::{Currency, Decimal};
use gpuledger::period::Period;
use gpuledger::report::{self, Answers, CostMetric, Filter, Group, Grouping, Question, Spend};
use rand::Rng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sqlx::{PgConnection, PgPool};

use crate::support::configuration::{change, pool, rule, team, to_pool, to_team, write};
use crate::support::{Focus, TestLedger, now};

pub const TEAMS: [&str; 6] = ["vision", "speech", "robotics", "search", "ads", "core"];
const SERVICES: [&str; 5] = ["GPU", "Support", "Storage", "Network", "Tax"];
const UNIT: &str = "tokens";
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
    let mut file = Focus::new().with_column("x_PricingCategory");
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
        let (pricing, own_pricing) =
            if chance.random_bool(0.25) { ("Other", "Owned") } else { ("Standard", "") };
        let machine = [r#""{""InstanceType"":""8xH100"",""GpuCount"":8}""#, ""].choose(chance).unwrap();
        file = file.line(&format!(
            "NeoCloud,acme,s{},2026-{month:02}-01T00:00:00Z,2026-{:02}-01T00:00:00Z,2026-{month:02}-05T10:00:00Z,\
             2026-{month:02}-05T11:00:00Z,{},{pricing},{},Compute,sku,eu-1,,{machine},1,Hours,{cost},{},{cost},{cost},{},\
             \"{{\"\"team\"\":\"\"{spelling}\"\",\"\"experiment\"\":\"\"e{experiment}\"\"}}\",NeoCloud,NeoCloud,{own_pricing}",
            chance.random_range(0..4),
            month + 1,
            CATEGORIES.choose(chance).unwrap(),
            SERVICES.choose(chance).unwrap(),
            amount(chance),
            ["EUR", "GBP"].choose(chance).filter(|_| chance.random_bool(0.2)).unwrap_or(&"USD"),
        ));
    }
    file
}

fn split(chance: &mut ChaCha8Rng, teams: &[&str]) -> Split {
    match chance.random_range(0..6) {
        0 => Split::Evenly,
        1 => Split::DirectCost,
        2 => {
            let of = *HoursOf::ALL.choose(chance).unwrap();
            let account = ["acme", "s1"].choose(chance).filter(|_| chance.random_bool(0.3));
            Split::AcceleratorHours(Hours { of, account: account.map(|it| (*it).to_owned()) })
        }
        3 => Split::WhoUsedIt,
        4 => Split::Quantity { unit: UNIT.to_owned() },
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

/// Until August, or from September on.
fn some_months(chance: &mut ChaCha8Rng) -> Months {
    let (august, september) = ("2026-08".parse().unwrap(), "2026-09".parse().unwrap());
    if chance.random_bool(0.5) {
        Months { first: None, last: Some(august) }
    } else {
        Months { first: Some(september), last: None }
    }
}

/// Parts of teams before them; the first has no parent. Some were another's before September, some are there for one
/// of the months only. Answers those that are there in both, too.
fn teams<'a>(chance: &mut ChaCha8Rng, handles: &[&'a str]) -> (Vec<Entry>, Vec<&'a str>) {
    let (mut entries, mut steady) = (Vec::new(), Vec::new());
    for (index, handle) in handles.iter().enumerate() {
        let mut with = |months: Months, chance: &mut ChaCha8Rng| {
            let parent = handles[..index].choose(chance).filter(|_| chance.random_bool(0.6));
            let parent = parent.map(|parent| (*parent).to_owned());
            let (handle, name) = ((*handle).to_owned(), handle.to_uppercase());
            entries.push(Entry::Team(Team { handle, name, parent, months, ..Team::default() }));
        };
        match chance.random_range(0..10) {
            0 | 1 if index > 0 => {
                let months = some_months(chance);
                with(months, chance);
                continue;
            }
            2..5 => {
                with(Months { first: None, last: Some("2026-08".parse().unwrap()) }, chance);
                with(Months::from("2026-09".parse().unwrap()), chance);
            }
            _ => with(Months::default(), chance),
        }
        steady.push(*handle);
    }
    (entries, steady)
}

/// Teams, pools that may hand on to each other, and rules in any order, without a problem.
pub fn organization(chance: &mut ChaCha8Rng) -> Vec<Entry> {
    loop {
        let entries = written(chance);
        // Whose parent is gone in a month is not kept.
        if problems(&Configuration { entries: (1..).zip(entries.iter().cloned()).collect() }).is_empty() {
            return entries;
        }
    }
}

fn written(chance: &mut ChaCha8Rng) -> Vec<Entry> {
    let mut handles = TEAMS.to_vec();
    handles.shuffle(chance);
    handles.truncate(chance.random_range(1..=TEAMS.len()));
    let (mut entries, teams) = teams(chance, &handles);
    let network = pool("network", if chance.random_bool(0.5) { Split::Evenly } else { Split::DirectCost });
    entries.push(Entry::Pool(network));
    let support = pool("support", split(chance, &teams));
    let weighs = matches!(support.split, Split::Evenly | Split::DirectCost | Split::AcceleratorHours(_));
    let hands_on = weighs && chance.random_bool(0.7);
    let excludes = chance.random_bool(0.5) && !matches!(support.split, Split::Fixed { .. });
    let without = if excludes { vec![teams[0].to_owned()] } else { Vec::new() };
    let mut pools = if hands_on { vec!["network".to_owned()] } else { Vec::new() };
    if hands_on && chance.random_bool(0.5) {
        pools.push("serving".to_owned());
    }
    entries.push(Entry::Pool(pool("serving", Split::Quantity { unit: UNIT.to_owned() })));
    entries.push(Entry::Pool(SharedCostPool { pools, without, ..support }));
    let mut places: Vec<i64> = (0..7).collect();
    places.shuffle(chance);
    entries.push(rule(places[0], "service", "Network", to_pool("network")));
    entries.push(rule(places[1], "service", "Support", to_pool("support")));
    let mut tax = rule(places[2], "category", "Tax", to_pool("support"));
    if let Entry::Rule(tax) = &mut tax
        && chance.random_bool(0.5)
    {
        tax.months = some_months(chance);
    }
    entries.push(tax);
    entries.push(rule(places[5], "category", "Purchase", to_pool("serving")));
    entries.push(rule(places[3], "account", "s1", to_team(teams[0])));
    if chance.random_bool(0.7) {
        entries.push(rule(places[4], "", "", Target::Labels));
    }
    entries
}

/// Rates of what is billed, but of pounds for one month alone; and how much teams made.
pub async fn surroundings(db: &mut PgConnection, chance: &mut ChaCha8Rng) {
    let rate = |month: &str, currency: &str, rate: &str| Rate {
        month: month.parse().unwrap(),
        currency: Currency::exactly(currency),
        quoted_in: Currency::exactly("USD"),
        rate: rate.parse().unwrap(),
        source: "test".into(),
    };
    let rates = [
        rate("2026-07", "EUR", "1.1"),
        rate("2026-08", "EUR", "1.0837"),
        rate("2026-09", "EUR", "1.09125"),
        rate("2026-09", "GBP", "1.26"),
    ];
    let by = Actor::person("ada@example.com", "test");
    exchange::set(db, &rates, by.at(now())).await.unwrap();
    let mut quantities = Vec::new();
    for day in ["2026-08-03", "2026-08-30", "2026-09-05"] {
        for owner in TEAMS {
            if chance.random_bool(0.4) {
                continue;
            }
            quantities.push(Quantity {
                day: day.parse().unwrap(),
                kind: QuantityKind::Team,
                owner: owner.to_owned(),
                unit: UNIT.to_owned(),
                quantity: Decimal::new(chance.random_range(1..1_000_000), 3),
            });
        }
    }
    allocation::set_quantities(db, &quantities, by.at(now())).await.unwrap();
}

/// A cost in dollars: of what was billed in them, or of everything, converted.
#[derive(Clone)]
struct Asked {
    cost: CostMetric,
    into: Option<Currency>,
}

impl Asked {
    fn all() -> [Self; 3] {
        let usd = Some(Currency::exactly("USD"));
        [
            Self { cost: CostMetric::Effective, into: None },
            Self { cost: CostMetric::Billed, into: None },
            Self { cost: CostMetric::Effective, into: usd },
        ]
    }

    fn during(&self, period: Period) -> Question {
        Question {
            cost: self.cost,
            currency: self.into.is_none().then(|| Currency::exactly("USD")),
            convert_into: self.into.clone(),
            ..Question::of(period, Viewer::Everything)
        }
    }
}

async fn ask(db: &mut PgConnection, by: Grouping, asked: &Asked, filters: Vec<Filter>) -> Spend {
    let period = "2026-08..2026-09".parse().unwrap();
    let question = Question { by, filters, ..asked.during(period) };
    Answers::default().priced_spend(db, &question).await.unwrap()
}

fn total(spend: &Spend) -> Decimal {
    spend.total.as_ref().map(|total| total.amount).unwrap_or_default()
}

/// Cloud GPU-hours, and on-prem GPU-hours.
fn hours(spend: &Spend) -> [Decimal; 2] {
    [spend.accelerator_hours, spend.owned_hours]
}

/// The cents of all teams and of what is unallocated are those of the month, and a team's those of its lines; the
/// statement of two months is the sum of theirs.
async fn statements_sum_to_the_cent(db: &mut PgConnection, asked: &Asked, seed: u64) {
    let answers = Answers::default();
    let mut sums: BTreeMap<(String, String), Decimal> = BTreeMap::new();
    for period in ["2026-08", "2026-09", "2026-08..2026-09"] {
        let question = asked.during(period.parse().unwrap());
        let mut whole = Decimal::ZERO;
        let mut unallocated = Decimal::ZERO;
        for month in question.period.months() {
            let of_month = Question { period: month.into(), ..question.clone() };
            whole += total(&Answers::default().priced_spend(db, &of_month).await.unwrap()).round(2);
            let cents = report::month_in_cents(db, &answers, &of_month).await.unwrap();
            unallocated += cents.get(&None).copied().unwrap_or_default().total;
        }
        let configuration = allocation::Configuration::as_of(db, 10_000).await.unwrap();
        let mut charged = Decimal::ZERO;
        for team in TEAMS {
            let Some(who) =
                report::seen_team(&configuration, &configuration, &Viewer::Everything, team, question.period)
            else {
                continue;
            };
            let statement = Box::pin(report::statement(db, &answers, who, &question)).await.unwrap();
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
            // Those inside it have statements of their own.
            let own = statement.teams.iter().filter(|it| it.team == team);
            charged += own.map(|it| it.total).sum::<Decimal>();
        }
        assert_eq!(charged + unallocated, whole, "seed {seed}, {period}");
        let of_nobody = Box::pin(answers.unallocated(db, &question, 0, Some(1))).await.unwrap().stated;
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
    let mut had_hours = false;
    for seed in 0..10 {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        // One month or the other is stated anew, and everybody is reorganized.
        let month = 8 + u32::try_from(seed % 2).unwrap();
        ledger.deliver(&format!("{seed}.csv"), &bill(&mut chance, month)).await;
        surroundings(&mut db, &mut chance).await;
        let entries = organization(&mut chance);
        let ids = changes::entry_ids(&mut db, entries.len()).await.unwrap();
        let gone = written.drain(..).map(|(id, entry)| Edit { id, before: Some(entry), after: None });
        let come = ids.iter().zip(&entries).map(|(id, entry)| Edit {
            id: *id,
            before: None,
            after: Some(entry.clone()),
        });
        let edits: Vec<Edit> = gone.chain(come).collect();
        change(&mut db, edits).await;
        written = ids.into_iter().zip(entries).collect();
        assert!(problems(&allocation::Configuration::as_of(&mut db, 10_000).await.unwrap()).is_empty());

        for asked in Asked::all() {
            let expected = ask(&mut db, Grouping::Service, &asked, Vec::new()).await;
            had_hours |= hours(&expected).iter().all(|hours| !hours.is_zero());
            let mut by_team: BTreeMap<Option<String>, (Decimal, [Decimal; 2])> = BTreeMap::new();
            for by in
                [Grouping::Team, Grouping::Experiment, Grouping::CostCentre, Grouping::Pool, Grouping::Rule]
            {
                let answer = ask(&mut db, by.clone(), &asked, Vec::new()).await;
                assert_eq!(total(&answer), total(&expected), "seed {seed}, by {by}");
                assert_eq!(hours(&answer), hours(&expected), "seed {seed}, by {by}");
                assert_eq!(answer.cost_per_owned_hour, expected.cost_per_owned_hour, "seed {seed}, by {by}");
                assert_eq!(
                    answer.groups.iter().map(|group| group.cost.amount).sum::<Decimal>(),
                    total(&expected)
                );
                if by == Grouping::Team {
                    let figures =
                        |group: &Group| (group.cost.amount, [group.accelerator_hours, group.owned_hours]);
                    by_team = answer.groups.iter().map(|group| (group.key.clone(), figures(group))).collect();
                }
            }
            // A team's own page says the same, by whatever it is grouped.
            for (team, (cost_of_team, hours_of_team)) in by_team {
                let filter = || vec![Filter::keep(Grouping::Team, vec![team.clone().unwrap_or_default()])];
                for by in
                    [Grouping::Service, Grouping::Month, Grouping::Experiment, Grouping::Pool, Grouping::Day]
                {
                    let answer = ask(&mut db, by.clone(), &asked, filter()).await;
                    assert_eq!(total(&answer), cost_of_team, "seed {seed}, team {team:?}, by {by}");
                    assert_eq!(hours(&answer), hours_of_team, "seed {seed}, team {team:?}, by {by}");
                }
                assert_eq!(team.as_deref().map(normalized), team);
            }
            Box::pin(statements_sum_to_the_cent(&mut db, &asked, seed)).await;
        }
        let equations = allocation::check(&mut db).await.unwrap();
        assert!(equations.len() >= 4, "{equations:?}");
        let broken: Vec<_> = equations.iter().filter(|equation| !equation.holds).collect();
        assert!(broken.is_empty(), "seed {seed}: {broken:#?}");
    }
    assert!(had_hours, "of both kinds");
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
    let asked = &Asked::all()[0];
    // More often than sums are made from each other before they are added up to one.
    for turn in 0..20 {
        let service = SERVICES.choose(&mut chance).unwrap();
        let becomes = rule(0, "service", service, to_team(TEAMS.choose(&mut chance).unwrap()));
        if becomes == was {
            continue;
        }
        change(&mut db, vec![Edit { id, before: Some(was), after: Some(becomes.clone()) }]).await;
        was = becomes;
        let by_team = ask(&mut db, Grouping::Team, asked, Vec::new()).await;
        let by_service = ask(&mut db, Grouping::Service, asked, Vec::new()).await;
        assert_eq!(total(&by_team), total(&by_service), "turn {turn}");
        // Who has nothing any more is not there.
        let filter = |team: &str| vec![Filter::keep(Grouping::Team, vec![team.to_owned()])];
        for group in &by_team.groups {
            let team = group.key.clone().unwrap_or_default();
            let of_team = ask(&mut db, Grouping::Service, asked, filter(&team)).await;
            assert_eq!(total(&of_team), group.cost.amount, "turn {turn}, {team}");
            assert!(!of_team.groups.is_empty(), "turn {turn}, {team}");
        }
    }
    let equations = allocation::check(&mut db).await.unwrap();
    assert!(equations.iter().all(|equation| equation.holds), "{equations:#?}");
}
