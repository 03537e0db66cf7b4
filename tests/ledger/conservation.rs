//! The equations hold after deliveries, re-deliveries, additions and undos in any order, several at once.

use gpuledger::ledger::{Decision, Status, WhenUnsure};
use gpuledger::money::Decimal;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger};

/// What one account and month should count, by the definition: what no later delivery replaced.
#[derive(Default)]
struct Model(Vec<Stated>);

struct Stated {
    delivery: i64,
    is_addition: bool,
    is_undone: bool,
    slice: Option<u32>,
    billed: Decimal,
}

impl Stated {
    fn replaces(&self, earlier: &Self) -> bool {
        !self.is_undone && !self.is_addition && (self.slice.is_none() || self.slice == earlier.slice)
    }
}

impl Model {
    fn billed(&self) -> Decimal {
        self.counting().map(|stated| stated.billed).sum()
    }

    fn counting(&self) -> impl Iterator<Item = &Stated> {
        self.0.iter().enumerate().filter_map(|(at, stated)| {
            let is_replaced = self.0[at + 1..].iter().any(|later| later.replaces(stated));
            (!stated.is_undone && !is_replaced).then_some(stated)
        })
    }

    fn holds_a_whole_month(&self) -> bool {
        self.counting().any(|stated| stated.slice.is_none() && !stated.is_addition)
    }
}

struct Dice(ChaCha8Rng);

impl Dice {
    fn below(&mut self, n: u32) -> u32 {
        self.0.next_u32() % n
    }

    /// Up to twelve digits after the point, now and then a credit.
    fn cost(&mut self) -> Decimal {
        let amount = Decimal::new(i128::from(self.0.next_u64() >> 20), 12);
        if self.below(8) == 0 { -amount } else { amount }
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn any_order_of_deliveries_and_undos_conserves_every_cent(db: PgPool) {
    let ledger = TestLedger::new(db);
    for seed in 0..6 {
        let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed));
        let account = format!("account-{seed}");
        let mut model = Model::default();
        for step in 0..12 {
            let undoable: Vec<usize> = (0..model.0.len()).filter(|at| !model.0[*at].is_undone).collect();
            if !undoable.is_empty() && dice.below(3) == 0 {
                let at = undoable[dice.below(undoable.len() as u32) as usize];
                ledger.undo(model.0[at].delivery).await;
                model.0[at].is_undone = true;
            } else {
                let is_addition = dice.below(3) == 0;
                let slice = (dice.below(3) == 0).then(|| dice.below(3));
                let (file, billed) = random_month(&mut dice, &account, step);
                let path = match slice {
                    Some(slice) => ledger.file(&format!("{account}-slice-{slice}.csv"), file.slice()),
                    None => ledger.file(&format!("{account}-{step}.csv"), &file),
                };
                let decision = if is_addition { Decision::Add } else { Decision::Replace };
                let report = ledger.import(&[path], Some(decision), WhenUnsure::Wait).await.pop().unwrap();
                assert_eq!(report.status, Status::Loaded, "{report:?}");
                // Told to replace where the whole month is stated, a slice stands for the month.
                let slice = slice.filter(|_| is_addition || !model.holds_a_whole_month());
                model.0.push(Stated {
                    delivery: report.delivery.unwrap(),
                    is_addition,
                    is_undone: false,
                    slice,
                    billed,
                });
            }
            assert_eq!(ledger.billed(&account, "2026-09").await, model.billed(), "seed {seed}, step {step}");
        }
    }
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn imports_side_by_side_conserve_every_cent(db: PgPool) {
    let ledger = TestLedger::new(db);
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(7));
    let mut expected = Vec::new();
    let mut paths = Vec::new();
    for at in 0..4 {
        let (file, billed) = random_month(&mut dice, &format!("side-{at}"), at);
        paths.push(ledger.file(&format!("{at}.csv"), &file));
        expected.push(billed);
    }
    let (a, b, c, d) = tokio::join!(
        ledger.import(&paths[0..1], None, WhenUnsure::Wait),
        ledger.import(&paths[1..2], None, WhenUnsure::Wait),
        ledger.import(&paths[2..3], None, WhenUnsure::Wait),
        ledger.import(&paths[3..4], None, WhenUnsure::Wait),
    );
    for reports in [a, b, c, d] {
        assert_eq!(reports[0].status, Status::Loaded, "{:?}", reports[0]);
    }
    for (at, billed) in expected.into_iter().enumerate() {
        assert_eq!(ledger.billed(&format!("side-{at}"), "2026-09").await, billed);
    }
    ledger.assert_balanced().await;
}

/// A month of one account, with a rejected row among the good ones, and what its charges sum to.
fn random_month(dice: &mut Dice, account: &str, step: u32) -> (Focus, Decimal) {
    let (mut file, mut billed) = (Focus::new(), Decimal::ZERO);
    for row in 0..=dice.below(30) {
        let cost = dice.cost();
        billed += cost;
        let at = format!("2026-09-{:02}T{:02}", 1 + dice.below(30), dice.below(24));
        let team = ["vision", "nlp", ""][dice.below(3) as usize];
        file = file.hour(account, &format!("s{}", dice.below(4)), &at, &cost.to_string(), team);
        if row == 3 {
            file = file.hour(account, "s1", &at, &format!("no number {step}"), team);
        }
    }
    (file, billed)
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn costs_that_equal_the_billed_one_are_not_written_again_and_are_read_all_the_same(db: PgPool) {
    let ledger = TestLedger::new(db);
    let file = Focus::new().hour("acme", "s1", "2026-09-05T10", "1.50", "vision").hour(
        "acme",
        "s1",
        "2026-09-05T11",
        "1.50",
        "vision",
    );
    // The last has four costs; one of them equals the billed one and is written with other digits.
    let at = file.text().rfind("1.50,1.50,1.50,1.50").unwrap();
    let mut file = file.text().to_owned();
    file.replace_range(at..at + 19, "1.50,0,2.25,1.5");
    ledger.deliver("september.csv", &file).await;
    let costs = async |table: &str| -> Vec<(Option<String>, Option<String>, Option<String>)> {
        let costs = format!(
            "select effective_cost::text, list_cost::text, contracted_cost::text from {table} order by row_no"
        );
        sqlx::query_as(sqlx::AssertSqlSafe(costs)).fetch_all(&ledger.db).await.unwrap()
    };
    let some = |text: &str| Some(text.to_owned());
    let other = (some("0"), some("2.25"), some("1.5"));
    assert_eq!(costs("charges").await, [(None, None, None), other.clone()]);
    assert_eq!(costs("full_charges").await, [(some("1.50"), some("1.50"), some("1.50")), other]);
    ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn hours_of_a_day_are_written_from_the_first_to_the_last(db: PgPool) {
    type Row = (Option<i32>, Option<i32>, Option<Decimal>, Option<Decimal>, Option<Decimal>);

    let ledger = TestLedger::new(db);
    let file = Focus::new()
        .hour("acme", "s1", "2026-09-05T12", "1", "vision")
        .hour("acme", "s1", "2026-09-05T10", "1", "vision")
        .hour("acme", "s2", "2026-09-05T00", "1", "vision")
        .hour("acme", "s2", "2026-09-05T23", "1", "vision");
    // Of a whole month no hour is known.
    let whole = Focus::new()
        .hour("acme", "s3", "2026-09-05T00", "1", "vision")
        .text()
        .replace("2026-09-05T00:00:00Z,2026-09-05T01:00:00Z", "2026-09-01T00:00:00Z,2026-10-01T00:00:00Z");
    let file = [file.text(), whole.split_once('\n').unwrap().1].concat();
    ledger.deliver("september.csv", file).await;
    let hours =
        "select array_lower(hourly_quantity, 1), array_upper(hourly_quantity, 1), hourly_quantity[11],
                        hourly_quantity[12], hourly_quantity[13]
                 from daily_costs join charge_keys using (charge_key_id) order by sub_account";
    let hours: Vec<Row> = sqlx::query_as(hours).fetch_all(&ledger.db).await.unwrap();
    let [zero, one] = [0, 1].map(|hours| Some(Decimal::from(hours)));
    let expected = [
        (Some(11), Some(13), one, zero, one),
        (Some(1), Some(24), zero, zero, zero),
        (None, None, None, None, None),
    ];
    assert_eq!(hours, expected);
    let is_null = "select count(*) from daily_costs where hourly_quantity is null";
    assert_eq!(sqlx::query_scalar::<_, i64>(is_null).fetch_one(&ledger.db).await.unwrap(), 0);
    ledger.assert_balanced().await;
}
