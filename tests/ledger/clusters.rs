//! The equations of on-premises hold after corrections to past months in any order, and fail where a month was changed.

use chrono::{DateTime, Duration, NaiveDate, Utc};
use gpuledger::audit::Actor;
use gpuledger::changes::{self, About, Document as _, Outcome, Right, Status};
use gpuledger::clock::Clock;
use gpuledger::jobs::{self, Inbox};
use gpuledger::ledger::Equation;
use gpuledger::money::{Currency, Decimal};
use gpuledger::onprem::power::{Band, MeterLocation, Reading, Tariff as Price, Weekdays};
use gpuledger::onprem::{
    self, Asset, AssetKind, AssetRegister, Cluster, ClusterMonth, Cost, CostKind, Edit, Entry, Event,
    EventKind, Every, Meter, MeterReadings, Method, Months, Paid, Pue, Span, Staff, State, Tariff,
    Utilization,
};
use gpuledger::period::BillingMonth;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use sqlx::PgPool;

use crate::support::{Focus, TestLedger, number};

const TODAY: &str = "2026-05-11";

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn now() -> DateTime<Utc> {
    format!("{TODAY}T09:00:00Z").parse().unwrap()
}

fn usd() -> Currency {
    Currency::exactly("USD")
}

fn from(first: &str) -> Span {
    Span { first: first.parse().unwrap(), last: None }
}

fn cluster(handle: &str) -> Entry {
    Entry::Cluster(Cluster {
        handle: handle.to_owned(),
        name: handle.to_owned(),
        site: "cellar".to_owned(),
        since: day("2026-02-01"),
        downtime: number("0.03"),
        utilization: number("0.7"),
        repeated: None,
        rack_kw: number("40"),
        cost_of_capital: number("0.08"),
        growth: number("0.02"),
        lead_months: 6,
    })
}

fn asset(name: &str, what: AssetKind, paid: Paid) -> Asset {
    let is_node = what == AssetKind::Node;
    Asset {
        cluster: "east".to_owned(),
        name: name.to_owned(),
        what,
        model: if is_node { "DGX H100".to_owned() } else { String::new() },
        accelerator: if is_node { "H100 SXM".to_owned() } else { String::new() },
        accelerators: if is_node { 8 } else { 0 },
        count: 3,
        price: number("300000.01"),
        currency: usd(),
        in_service: day("2026-02-10"),
        life_months: 30,
        residual: number("20000"),
        depreciation: Method::StraightLine,
        paid,
        idle_kw: if is_node { number("2.1") } else { Decimal::ZERO },
        load_kw: if is_node { number("8.4") } else { Decimal::ZERO },
        rated_kw: if is_node { number("10.2") } else { Decimal::ZERO },
        tags: [("team".to_owned(), "vision".to_owned())].into(),
    }
}

/// Two clusters, with everything in the first.
fn beginning() -> Vec<Entry> {
    let price = Price {
        bands: vec![Band {
            days: Weekdays::Workdays,
            from_hour: 7,
            until_hour: 22,
            price_per_kwh: number("0.137"),
        }],
        demand_per_kw_month: number("12.5"),
        time_zone: "America/New_York".parse().unwrap(),
        ..Price::flat(usd(), number("0.081"))
    };
    let declining = Method::DecliningBalance { factor: number("2") };
    vec![
        cluster("east"),
        cluster("west"),
        Entry::Asset(asset("node", AssetKind::Node, Paid::Bought)),
        Entry::Asset(Asset {
            depreciation: declining,
            ..asset("fabric", AssetKind::Fabric, Paid::Financed { yearly_rate: number("0.065"), months: 24 })
        }),
        Entry::Asset(asset(
            "shelf",
            AssetKind::Storage,
            Paid::Leased { monthly: number("1234.56"), months: 20 },
        )),
        Entry::Meter(Meter { cluster: "east".to_owned(), name: "pdu".to_owned(), place: MeterLocation::It }),
        Entry::Pue(Pue {
            cluster: "east".to_owned(),
            first: "2026-02".parse().unwrap(),
            value: number("1.31"),
        }),
        Entry::Tariff(Tariff {
            cluster: "east".to_owned(),
            name: "Energy".to_owned(),
            months: from("2026-02"),
            price,
        }),
        Entry::Staff(Staff {
            cluster: "east".to_owned(),
            role: "Operations".to_owned(),
            months: from("2026-02"),
            fte: number("1.5"),
            loaded_cost: number("190000"),
            currency: usd(),
            share: number("0.6"),
        }),
        Entry::Cost(Cost {
            cluster: "east".to_owned(),
            name: "Insurance".to_owned(),
            what: CostKind::Insurance,
            amount: number("10000"),
            currency: Currency::exactly("EUR"),
            every: Every::Quarter,
            months: from("2026-02"),
        }),
    ]
}

struct Dice(ChaCha8Rng);

impl Dice {
    fn below(&mut self, n: u32) -> u32 {
        self.0.next_u32() % n
    }

    fn cents(&mut self, most: u32) -> Decimal {
        Decimal::new(i128::from(self.below(most * 100)) + 1, 2)
    }

    fn day(&mut self) -> NaiveDate {
        day("2026-02-10") + Duration::days(i64::from(self.below(100)))
    }
}

struct Racks {
    ledger: TestLedger,
    inbox: Inbox,
    months: Months,
    by: Actor,
}

impl Racks {
    async fn new(db: PgPool) -> Self {
        let ledger = TestLedger::new(db);
        let inbox = Inbox::new(ledger.folder.path());
        let months = Months::default();
        let racks = Self { ledger, inbox, months, by: Actor::person("ada@example.com", "test") };
        let outcome = racks.write(beginning()).await;
        assert!(matches!(outcome, Outcome::At { .. }), "{outcome:?}");
        racks
    }

    async fn write(&self, entries: Vec<Entry>) -> Outcome {
        let mut db = self.ledger.db.acquire().await.unwrap();
        let edits = changes::additions(&mut db, entries).await.unwrap();
        drop(db);
        self.change(edits).await
    }

    async fn change(&self, edits: Vec<Edit>) -> Outcome {
        let mut db = self.ledger.db.acquire().await.unwrap();
        let about = About { summary: "a correction", reason: None };
        changes::change::<AssetRegister>(&mut db, edits, about, Right::Apply, self.by.at(now()))
            .await
            .unwrap()
    }

    async fn publish(&self, cluster: &str, only: Option<BillingMonth>) -> usize {
        let mut db = self.ledger.db.acquire().await.unwrap();
        let with = (&self.inbox, &self.months);
        let submitted = jobs::submit_cluster(&mut db, with, cluster, only, self.by.at(now())).await.unwrap();
        drop(db);
        jobs::run_pending(&self.ledger.db, &self.ledger.originals, Clock::At(now())).await.unwrap();
        submitted.months
    }

    /// An entry as it is, changed.
    async fn edit(&self, wanted: impl Fn(&Entry) -> bool, change: impl FnOnce(&mut Entry)) -> Outcome {
        let mut db = self.ledger.db.acquire().await.unwrap();
        let (_, asset_register) = AssetRegister::current(&mut db).await.unwrap();
        drop(db);
        let Some((id, before)) = asset_register.entries.into_iter().find(|(_, entry)| wanted(entry)) else {
            return Outcome::Nothing;
        };
        let mut after = before.clone();
        change(&mut after);
        self.change(vec![Edit { id, before: Some(before), after: Some(after) }]).await
    }

    async fn edit_asset(&self, name: &str, change: impl FnOnce(&mut Asset)) -> Outcome {
        let is_it = |entry: &Entry| matches!(entry, Entry::Asset(it) if it.name == name);
        self.edit(is_it, |entry| {
            let Entry::Asset(it) = entry else { unreachable!() };
            change(it);
        })
        .await
    }

    async fn happens(&self, asset: &str, unit: u32, day: NaiveDate, what: EventKind) -> Outcome {
        let asset = asset.to_owned();
        self.write(vec![Entry::Event(Event { asset, units: vec![unit], day, what })]).await
    }

    async fn read(&self, first: NaiveDate, dice: &mut Dice) -> Outcome {
        let mut db = self.ledger.db.acquire().await.unwrap();
        let (_, asset_register) = AssetRegister::current(&mut db).await.unwrap();
        let meter = asset_register.entries.iter().find(|(_, entry)| matches!(entry, Entry::Meter(_)));
        let Some((meter_id, _)) = meter else { return Outcome::Nothing };
        let begins = first.and_time(chrono::NaiveTime::MIN).and_utc();
        let readings = (0..60).map(|hour| Reading {
            meter: "pdu".to_owned(),
            from: begins + Duration::hours(hour),
            until: begins + Duration::hours(hour + 1),
            kwh: dice.cents(30),
        });
        let readings = [MeterReadings { meter_id: *meter_id, readings: readings.collect() }];
        onprem::take_readings(&mut db, &readings, "readings", self.by.at(now())).await.unwrap()
    }

    async fn undo_a_change(&self, dice: &mut Dice) -> Outcome {
        let mut db = self.ledger.db.acquire().await.unwrap();
        let mut changes = changes::latest::<AssetRegister>(&mut db, 100).await.unwrap();
        // Not what began it all.
        changes.retain(|change| change.outline.status == Status::Applied && change.outline.id > 1);
        if changes.is_empty() {
            return Outcome::Nothing;
        }
        let change = &changes[dice.below(changes.len() as u32) as usize];
        changes::undo::<AssetRegister>(&mut db, change.outline.id, None, self.by.at(now())).await.unwrap()
    }

    async fn undo_a_delivery(&self, dice: &mut Dice) {
        let counting: Vec<i64> = sqlx::query_scalar("select delivery_id from visible_deliveries order by 1")
            .fetch_all(&self.ledger.db)
            .await
            .unwrap();
        if !counting.is_empty() {
            self.ledger.undo(counting[dice.below(counting.len() as u32) as usize]).await;
        }
    }

    /// Something that people find out later.
    async fn correct(&self, dice: &mut Dice) -> Outcome {
        let name = ["node", "fabric", "shelf"][dice.below(3) as usize];
        let unit = dice.below(3) + 1;
        let (amount, on) = (dice.cents(400_000), dice.day());
        match dice.below(11) {
            10 => {
                let first = BillingMonth::of(dice.day());
                let utilization = Decimal::new(i128::from(dice.below(101)), 2);
                let (cluster, downtime) = ("east".to_owned(), number("0.05"));
                let used = Utilization { cluster, first, downtime, utilization, repeated: None };
                self.write(vec![Entry::Utilization(used)]).await
            }
            0 => {
                self.edit_asset(name, |it| {
                    it.price = amount;
                    it.residual = amount.multiply(number("0.1")).round(2);
                })
                .await
            }
            1 => {
                let months = dice.below(40) + 1;
                self.edit_asset(name, |it| it.life_months = months).await
            }
            2 => self.happens(name, unit, on, EventKind::Disposal { proceeds: amount }).await,
            3 => self.happens(name, unit, on, EventKind::WriteOff).await,
            4 => self.happens(name, unit, on, EventKind::Move { to: "west".to_owned() }).await,
            5 => {
                let value = Decimal::new(i128::from(dice.below(80)) + 100, 2);
                self.edit(
                    |entry| matches!(entry, Entry::Pue(_)),
                    |entry| {
                        let Entry::Pue(it) = entry else { unreachable!() };
                        it.value = value;
                    },
                )
                .await
            }
            6 => {
                let price = Decimal::new(i128::from(dice.below(90_000)), 6);
                self.edit(
                    |entry| matches!(entry, Entry::Tariff(_)),
                    |entry| {
                        let Entry::Tariff(it) = entry else { unreachable!() };
                        it.price.price_per_kwh = price;
                    },
                )
                .await
            }
            7 => {
                self.edit(
                    |entry| matches!(entry, Entry::Staff(_)),
                    |entry| {
                        let Entry::Staff(it) = entry else { unreachable!() };
                        it.loaded_cost = amount;
                    },
                )
                .await
            }
            8 => self.read(on, dice).await,
            _ => self.undo_a_change(dice).await,
        }
    }

    async fn equations(&self) -> Vec<Equation> {
        let mut db = self.ledger.db.acquire().await.unwrap();
        onprem::check(&mut db, day(TODAY)).await.unwrap()
    }

    async fn months_by(&self, months: &Months, cluster: &str, today: &str) -> Vec<ClusterMonth> {
        let mut db = self.ledger.db.acquire().await.unwrap();
        let (revision, asset_register) = AssetRegister::current(&mut db).await.unwrap();
        months.of(&mut db, (revision, &asset_register), cluster, day(today)).await.unwrap()
    }

    /// How many months of the first cluster are computed for a look at them.
    async fn computations(&self, today: &str) -> u64 {
        let before = self.months.computations();
        self.months_by(&self.months, "east", today).await;
        self.months.computations() - before
    }

    /// What is remembered is what somebody would compute who remembers nothing.
    async fn assert_remembered_months_are_true(&self, today: &str) {
        for cluster in ["east", "west"] {
            let described = |months: Vec<ClusterMonth>| -> Vec<_> {
                months.into_iter().map(|it| (it.month, it.state, it.sums)).collect()
            };
            let anew = self.months_by(&Months::default(), cluster, today).await;
            assert_eq!(
                described(self.months_by(&self.months, cluster, today).await),
                described(anew),
                "{cluster}"
            );
        }
    }

    async fn states(&self) -> Vec<State> {
        self.months_by(&self.months, "east", TODAY).await.iter().map(|it| it.state).collect()
    }

    async fn broken(&self) -> Vec<Equation> {
        self.equations().await.into_iter().filter(|equation| !equation.holds).collect()
    }

    async fn execute(&self, statement: &'static str) {
        let changed = sqlx::query(statement).execute(&self.ledger.db).await.unwrap().rows_affected();
        assert_eq!(changed, 1, "{statement}");
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn corrections_to_past_months_in_any_order_leave_every_equation_true(db: PgPool) {
    let racks = Racks::new(db).await;
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(5));
    let (mut corrected, mut published) = (0, racks.publish("east", None).await);
    assert_eq!(published, 3, "February to April; May goes on");
    published += racks.publish("east", Some("2026-05".parse().unwrap())).await;
    assert_eq!(published, 4, "as far as it has gone, since it was asked for");
    assert_eq!(racks.broken().await, []);
    for step in 0..60 {
        let outcome = racks.correct(&mut dice).await;
        corrected += u32::from(matches!(outcome, Outcome::At { .. }));
        match dice.below(7) {
            0 => published += racks.publish("east", None).await,
            1 => published += racks.publish("west", None).await,
            2 => {
                let month = BillingMonth::of(dice.day());
                published += racks.publish("east", Some(month)).await;
            }
            3 => racks.undo_a_delivery(&mut dice).await,
            _ => {}
        }
        let broken = racks.broken().await;
        assert!(broken.is_empty(), "step {step}, {outcome:?}: {broken:#?}");
        racks.assert_remembered_months_are_true(["2026-05-11", "2026-05-12", "2026-06-01"][step % 3]).await;
    }
    assert!(corrected > 20 && published > 20, "{corrected} corrections, {published} months");
    racks.ledger.assert_balanced().await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_month_that_is_not_what_the_asset_register_says_is_reported(db: PgPool) {
    let racks = Racks::new(db).await;
    racks.happens("node", 2, day("2026-03-20"), EventKind::WriteOff).await;
    racks.publish("east", None).await;
    let described = racks.equations().await;
    for name in [
        "east 2026-03, revision 2, Depreciation, effective USD",
        "east 2026-03, revision 2, Energy, billed USD",
        "east 2026-03, revision 2, Insurance, effective EUR",
        "east 2026-03, revision 2, Disposal, effective USD",
        "east 2026-03, revision 2",
        "node, 3 × 300000.01 USD",
        "shelf, 3 × 24691.20 USD",
        "west, 1 entries",
    ] {
        assert!(described.iter().any(|equation| equation.of == name), "{name}: {described:#?}");
    }
    // Nineteen days of three nodes and twelve of two.
    let hours = described.iter().find(|equation| equation.of == "east 2026-03, revision 2").unwrap();
    assert_eq!(hours.right, Decimal::from((19 * 3 + 12 * 2) * 8 * 24));
    assert_eq!(racks.broken().await, []);

    racks
        .execute(
            "update monthly_costs set effective_cost = effective_cost + 0.01
             where ctid = (select m.ctid from monthly_costs m join charge_keys k using (charge_key_id)
                           where m.billing_month = '2026-03-01' and k.service = 'Staff')
               and billing_month = '2026-03-01'",
        )
        .await;
    let broken: Vec<String> = racks.broken().await.into_iter().map(|equation| equation.of).collect();
    assert_eq!(broken, ["east 2026-03, revision 2, Staff, effective USD"]);
    racks
        .execute(
            "update monthly_costs set metered_quantity = metered_quantity - 1
             where ctid = (select m.ctid from monthly_costs m join charge_keys k using (charge_key_id)
                           where m.billing_month = '2026-04-01' and k.resource_id = 'node-03')
               and billing_month = '2026-04-01'",
        )
        .await;
    let broken: Vec<String> = racks.broken().await.into_iter().map(|equation| equation.of).collect();
    assert_eq!(broken, ["east 2026-03, revision 2, Staff, effective USD", "east 2026-04, revision 2"]);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_file_that_no_asset_register_was_asked_for_is_named_and_held_to_what_it_says(db: PgPool) {
    let racks = Racks::new(db).await;
    let focus = Focus::new().hour("east", "", "2026-03-05T10", "40", "vision");
    racks.ledger.deliver("by-hand.csv", focus.owned()).await;
    let described = racks.equations().await;
    let found =
        described.iter().filter(|it| it.name == "month that no asset register was asked for = its file");
    let found: Vec<&Equation> = found.collect();
    assert_eq!(found.len(), 2, "{described:#?}");
    assert_eq!((found[0].left, found[0].holds), (Decimal::from(40), true));
    assert!(found[0].of.starts_with("east 2026-03, delivery "), "{}", found[0].of);
    // It is not replaced with the others, but only where somebody asks for that.
    assert_eq!(racks.publish("east", None).await, 2, "February and April");
    let of_march =
        |described: &[Equation]| described.iter().filter(|it| it.name.contains("no asset register")).count();
    assert_eq!(of_march(&racks.equations().await), 2);
    racks.execute("update monthly_costs set billed_cost = 41 where billing_month = '2026-03-01'").await;
    assert_eq!(racks.broken().await.len(), 1);
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn an_asset_register_with_a_problem_is_reported(db: PgPool) {
    let racks = Racks::new(db).await;
    racks
        .execute(
            "update document_entries set content = jsonb_set(content, '{residual}', '\"300000.02\"')
             where content ->> 'name' = 'node'",
        )
        .await;
    let broken: Vec<String> =
        racks.broken().await.iter().map(|it| format!("{} [{}]", it.name, it.of)).collect();
    assert_eq!(broken, ["problems of the asset register = 0 [east, 9 entries]"]);
}

fn edit_cluster(change: impl FnOnce(&mut Cluster)) -> impl FnOnce(&mut Entry) {
    |entry| {
        let Entry::Cluster(it) = entry else { unreachable!() };
        change(it);
    }
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_month_is_computed_once_for_what_decides_it(db: PgPool) {
    let racks = Racks::new(db).await;
    let is = |handle: &'static str| move |entry: &Entry| matches!(entry, Entry::Cluster(it) if it.handle == handle);
    assert_eq!(racks.computations(TODAY).await, 4, "February to May");
    assert_eq!(racks.computations(TODAY).await, 0, "they are remembered");
    assert_eq!(racks.publish("east", None).await, 3);
    assert_eq!(racks.computations(TODAY).await, 0, "publishing decides nothing of them");

    assert_eq!(racks.computations("2026-05-12").await, 1, "the month that goes on has another day");
    assert_eq!(racks.computations(TODAY).await, 0);
    assert_eq!(racks.computations("2026-06-01").await, 2, "May is over, and June has begun");

    racks.edit(is("west"), edit_cluster(|it| it.name = "Farther".to_owned())).await;
    assert_eq!(racks.computations(TODAY).await, 0, "another cluster was changed");
    racks.edit_asset("fabric", |it| it.price = number("310000")).await;
    assert_eq!(racks.computations(TODAY).await, 4, "what an asset costs decides all of them");

    let mut dice = Dice(ChaCha8Rng::seed_from_u64(7));
    let before = racks.months_by(&racks.months, "east", TODAY).await;
    racks.read(day("2026-03-31"), &mut dice).await;
    assert_eq!(racks.computations(TODAY).await, 2, "the readings lie in March and April");
    let after = racks.months_by(&racks.months, "east", TODAY).await;
    let changed: Vec<bool> = before.iter().zip(&after).map(|(one, other)| one.sums != other.sums).collect();
    assert_eq!(changed, [false, true, true, false]);
    let mut db = racks.ledger.db.acquire().await.unwrap();
    let last = changes::latest::<AssetRegister>(&mut db, 1).await.unwrap().remove(0).outline.id;
    changes::undo::<AssetRegister>(&mut db, last, None, racks.by.at(now())).await.unwrap();
    assert_eq!(racks.computations(TODAY).await, 2, "they were taken back");
    let undone = racks.months_by(&racks.months, "east", TODAY).await;
    assert!(before.iter().zip(&undone).all(|(one, other)| one.sums == other.sums));

    racks.happens("node", 1, day("2026-04-01"), EventKind::Move { to: "west".to_owned() }).await;
    assert_eq!(racks.computations(TODAY).await, 4);
    let west = racks.months_by(&racks.months, "west", TODAY).await;
    assert_eq!(west[2].sums.accelerators, 8);
    racks.edit_asset("node", |it| it.price = number("200000")).await;
    let west = (west, racks.months_by(&racks.months, "west", TODAY).await);
    assert_ne!(
        west.0[2].sums, west.1[2].sums,
        "what moved here is priced anew, though it was entered elsewhere"
    );
    racks.assert_remembered_months_are_true(TODAY).await;
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_month_of_which_only_words_changed_is_not_due_and_may_be_published(db: PgPool) {
    use State::{Differs, Published, Reworded, Running};
    let racks = Racks::new(db).await;
    racks.publish("east", None).await;
    assert_eq!(racks.states().await, [Published, Published, Published, Running]);
    let is_east = |entry: &Entry| matches!(entry, Entry::Cluster(it) if it.handle == "east");
    racks.edit(is_east, edit_cluster(|it| it.name = "Eastern racks".to_owned())).await;
    assert_eq!(racks.states().await, [Reworded, Reworded, Reworded, Running]);
    assert_eq!(racks.publish("east", None).await, 0, "nothing is due");
    assert_eq!(racks.publish("east", Some("2026-03".parse().unwrap())).await, 1);
    assert_eq!(racks.states().await, [Reworded, Published, Reworded, Running]);
    // Back to the name of before: that file counted, and counts as it is.
    racks.edit(is_east, edit_cluster(|it| it.name = "east".to_owned())).await;
    assert_eq!(racks.states().await, [Published, Reworded, Published, Running]);

    // Whose it is is no word: rules ask for tags.
    racks.edit_asset("node", |it| it.tags = [("team".to_owned(), "nlp".to_owned())].into()).await;
    assert_eq!(racks.states().await, [Differs, Differs, Differs, Running]);
    assert_eq!(racks.publish("east", None).await, 3);
    assert_eq!(racks.states().await, [Published, Published, Published, Running]);
    assert_eq!(racks.broken().await, []);
}
