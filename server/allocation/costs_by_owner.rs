//! What a month cost by what it is attributed to, in all and by day, and by who is charged and what was bought. Rollups have
//! a row for each key; these sums have one for each owner, and are what pages by owner, and the weights of shared costs, are
//! read from.

use sqlx::{AssertSqlSafe, Connection, PgConnection, Postgres, QueryBuilder};
use uuid::Uuid;

use super::cleanup::use_sums;
use super::key_owners::{self, MANY};
use super::key_row::{IS_ACCELERATED, IS_CREDIT, IS_UNUSED_COMMITMENT};
use super::rule_engine::content_id;
use crate::ledger::ActiveImports;
use crate::period::BillingMonth;

/// Parts of a month, from which on they are added up to one.
const PARTS: usize = 8;

/// Of a mapping that moves more than one key of so many, all is summed anew.
const FEW: i64 = 4;

const AMOUNTS: &str = "charges, billed_cost, effective_cost, list_cost, contracted_cost, part_seconds";

/// Who is charged with what is attributed.
const CHARGED: &str = "team, cost_centre, pool, pool_part";

/// What was bought, beside who is charged with it: an item.
const BOUGHT: &str = "currency, category, pricing, provider, billing_account, sub_account, service, region, accelerator, \
                      instance_type, meter, sku, unit, commitment_discount_id, is_unused_commitment";

/// A table of sums: by whom, and by what of a charge.
struct Grain {
    table: &'static str,
    /// What a key leads to under a mapping: its attribution, or its item.
    owner: &'static str,
    group: &'static str,
    /// What is summed beside [`AMOUNTS`].
    quantity: Option<&'static str>,
}

const COSTS: Grain = Grain {
    table: "attributed_costs",
    owner: "attribution_id",
    group: "currency, scope_id, is_accelerated, is_owned, is_unused, is_credit",
    quantity: None,
};
const DAYS: Grain = Grain {
    table: "attributed_days",
    owner: "attribution_id",
    // A running month is compared with the same days bill by bill, and what belongs to no day by its category and
    // service.
    group: "currency, scope_id, category, service, day, is_whole_period, is_accelerated, is_owned, is_unused",
    quantity: None,
};
const ITEMS: Grain =
    Grain { table: "item_costs", owner: "item_id", group: "is_credit", quantity: Some("metered_quantity") };
/// What a running month is compared with is read from these, whatever it is asked by.
const ITEM_DAYS: Grain = Grain {
    table: "item_days",
    owner: "item_id",
    group: "scope_id, is_credit, day, is_whole_period",
    quantity: Some("metered_quantity"),
};
/// Made from [`DAYS`]: most charts ask no more than who is charged with a day.
const CHARGED_DAYS: Grain = Grain { table: "charged_days", owner: CHARGED, ..DAYS };

/// Those that are made from rollups; each month of a part has all.
const GRAINS: [Grain; 4] = [COSTS, DAYS, ITEMS, ITEM_DAYS];

/// Sums that exist, of what is active as well, under another mapping.
struct Others {
    set_id: Uuid,
    parts: Vec<Uuid>,
}

/// Sums a month under a mapping that covers it, unless that was done. Answers the parts that it is the sum of.
pub(super) async fn attribute_costs(
    db: &mut PgConnection,
    month: BillingMonth,
    basis_id: Uuid,
    set_id: Uuid,
    visible: &ActiveImports,
) -> sqlx::Result<Vec<Uuid>> {
    let attributed_id = content_id(&(basis_id, set_id));
    if visible.deliveries().is_empty() {
        return Ok(Vec::new());
    }
    if use_sums(&mut *db, attributed_id).await? {
        return parts_of(db, attributed_id).await;
    }
    let mut tx = db.begin().await?;
    key_owners::wait_for_turn(&mut tx, attributed_id).await?;
    if use_sums(&mut tx, attributed_id).await? {
        return parts_of(&mut tx, attributed_id).await;
    }
    // Nobody removes them until this is done, and who reads them does not wait for it.
    let others = sqlx::query_as!(
        Others,
        r#"select set_id, (
               select coalesce(array_agg(part_id), '{}') from attributed_parts p
               where p.attributed_id = m.attributed_id
           ) as "parts!"
           from attributed_months m
           where basis_id = $1
           order by created_at desc
           limit 1
           for key share of m"#,
        basis_id,
    )
    .fetch_optional(&mut *tx)
    .await?;
    sqlx::query!(
        "insert into attributed_months (attributed_id, billing_month, set_id, basis_id) values ($1, $2, $3, $4)",
        attributed_id,
        month.first_day(),
        set_id,
        basis_id,
    )
    .execute(&mut *tx)
    .await?;
    let part = Part { id: new_part(&mut tx).await?, month, basis_id, set_id, visible };
    let (parts, rows) = match others {
        Some(others) if part.moves_few(&mut tx, &others).await? => {
            part.add_difference(&mut tx, others).await?
        }
        _ => (vec![part.id], part.add_whole(&mut tx).await?),
    };
    sqlx::query!(
        "insert into attributed_parts (attributed_id, part_id) select $1, unnest($2::uuid[])",
        attributed_id,
        &parts,
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    if rows >= MANY {
        sqlx::query("analyze attributed_costs, attributed_days, charged_days, items, item_costs, item_days")
            .execute(db)
            .await?;
    }
    Ok(parts)
}

async fn parts_of(db: &mut PgConnection, attributed_id: Uuid) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar!(
        "select part_id from attributed_parts where attributed_id = $1 order by 1",
        attributed_id
    )
    .fetch_all(db)
    .await
}

/// A part outlives the month it was made for where others were made from it, so it has a number of its own.
async fn new_part(db: &mut PgConnection) -> sqlx::Result<Uuid> {
    sqlx::query_scalar!(r#"select gen_random_uuid() as "id!""#).fetch_one(db).await
}

/// Rows that are added. Ids stand in the text as numbers, for the reason that [`ActiveImports::push`] gives.
struct Part<'a> {
    id: Uuid,
    month: BillingMonth,
    basis_id: Uuid,
    set_id: Uuid,
    visible: &'a ActiveImports,
}

impl Part<'_> {
    /// Everything of every key. Answers how many rows that made.
    async fn add_whole(&self, db: &mut PgConnection) -> sqlx::Result<u64> {
        self.lead_keys(
            &mut *db,
            &format!(
                "select charge_key_id, attribution_id from key_attributions \
                 where set_id = '{}' and charge_key_id in (select charge_key_id from keyed_costs where basis_id = '{}')",
                self.set_id, self.basis_id
            ),
        )
        .await?;
        self.add_led(db, "").await
    }

    /// Looks for the keys that another mapping attributes otherwise, and answers whether they are few.
    async fn moves_few(&self, db: &mut PgConnection, others: &Others) -> sqlx::Result<bool> {
        let (basis_id, set_id, was_id) = (self.basis_id, self.set_id, others.set_id);
        // A table, so that PostgreSQL counts them before it looks for their days.
        let moved = format!(
            "create temporary table moved_keys on commit drop as \
             select distinct c.charge_key_id, was.attribution_id as before_id, ka.attribution_id as after_id \
             from keyed_costs c \
             join key_attributions ka on ka.charge_key_id = c.charge_key_id and ka.set_id = '{set_id}' \
             join key_attributions was on was.charge_key_id = c.charge_key_id and was.set_id = '{was_id}' \
             where c.basis_id = '{basis_id}' and was.attribution_id <> ka.attribution_id"
        );
        sqlx::query(AssertSqlSafe(moved)).execute(&mut *db).await?;
        sqlx::query("analyze moved_keys").execute(&mut *db).await?;
        let are_few = format!(
            "select (select count(*) from moved_keys) * {FEW} <= \
             (select count(*) from keyed_costs where basis_id = '{basis_id}')"
        );
        sqlx::query_scalar(AssertSqlSafe(are_few)).fetch_one(db).await
    }

    /// What the keys that [`Self::moves_few`] found cost: taken from where they were, added where they are. Answers the
    /// parts of the month, and how many rows were made.
    async fn add_difference(
        &self,
        db: &mut PgConnection,
        mut others: Others,
    ) -> sqlx::Result<(Vec<Uuid>, u64)> {
        self.lead_keys(
            &mut *db,
            "select charge_key_id, after_id as attribution_id, 1 as sign from moved_keys \
             union all select charge_key_id, before_id, -1 from moved_keys",
        )
        .await?;
        let rows = self.add_led(&mut *db, " * ka.sign").await?;
        others.parts.push(self.id);
        if others.parts.len() < PARTS {
            return Ok((others.parts, rows));
        }
        let merged = Self { id: new_part(&mut *db).await?, ..*self };
        let rows = merged.add_sum(&mut *db, &others.parts).await?;
        for Grain { table, .. } in GRAINS.into_iter().chain([CHARGED_DAYS]) {
            let unneeded = format!("delete from {table} where part_id = '{}'", self.id);
            sqlx::query(AssertSqlSafe(unneeded)).execute(&mut *db).await?;
        }
        Ok((vec![merged.id], rows))
    }

    /// What keys lead to, in a table for this transaction: their attributions as they are selected, and the items that
    /// follow from these. Items that nobody has had before are kept; they are few, and stay.
    async fn lead_keys(&self, db: &mut PgConnection, keys: &str) -> sqlx::Result<()> {
        let item = format!("convert_to(row({CHARGED}, {BOUGHT})::text, 'UTF8')");
        for statement in [
            format!(
                "create temporary table led_keys on commit drop as \
                 select ka.*, encode(substring(sha256({item}) for 16), 'hex')::uuid as item_id \
                 from ({keys}) ka join charge_keys k using (charge_key_id) join attributions a using (attribution_id)"
            ),
            "analyze led_keys".to_owned(),
            format!(
                "insert into items (item_id, {CHARGED}, {BOUGHT}) \
                 select item_id, {CHARGED}, {BOUGHT} \
                 from (select distinct on (item_id) * from led_keys order by item_id) ka \
                 join charge_keys k using (charge_key_id) join attributions a using (attribution_id) \
                 order by item_id \
                 on conflict do nothing"
            ),
        ] {
            sqlx::query(AssertSqlSafe(statement)).execute(&mut *db).await?;
        }
        Ok(())
    }

    /// What the keys of [`Self::lead_keys`] cost, each amount `times` what is said of its key. Answers how many rows that made.
    async fn add_led(&self, db: &mut PgConnection, times: &str) -> sqlx::Result<u64> {
        let mut rows = 0;
        for grain in GRAINS {
            let mut query = self.insert(&grain, times);
            self.push_rows(&mut query, &grain);
            query.push(") c join led_keys ka using (charge_key_id)");
            grain.push_group(&mut query);
            rows += query.build().execute(&mut *db).await?.rows_affected();
        }
        self.add_charged_days(&mut *db).await?;
        sqlx::query("drop table led_keys").execute(db).await?;
        Ok(rows)
    }

    /// What parts amount to together.
    async fn add_sum(&self, db: &mut PgConnection, parts: &[Uuid]) -> sqlx::Result<u64> {
        let mut rows = 0;
        for grain in GRAINS {
            let mut query = self.insert(&grain, "");
            query.push(format!("select * from {} where part_id = any(", grain.table));
            query.push_bind(parts.to_vec());
            // Without charges there is no amount left either.
            query.push(format!(")) c group by {}, {} having sum(charges) <> 0", grain.owner, grain.group));
            rows += query.build().execute(&mut *db).await?.rows_affected();
        }
        self.add_charged_days(db).await?;
        Ok(rows)
    }

    /// What the days of this part amount to by who is charged with them.
    async fn add_charged_days(&self, db: &mut PgConnection) -> sqlx::Result<()> {
        let mut query = self.insert(&CHARGED_DAYS, "");
        query.push(format!("select * from {} where part_id = '{}') ka", DAYS.table, self.id));
        CHARGED_DAYS.push_group(&mut query);
        query.build().execute(db).await?;
        Ok(())
    }

    /// `insert … select … from (`.
    fn insert(&self, grain: &Grain, times: &str) -> QueryBuilder<Postgres> {
        let Grain { table, owner, group, .. } = grain;
        QueryBuilder::new(format!(
            "insert into {table} (part_id, billing_month, {owner}, {group}, {}) \
             select uuid '{}', date '{}', {owner}, {group}, {} from (",
            grain.amounts(),
            self.id,
            self.month.first_day(),
            grain.sums(times),
        ))
    }

    /// `select …` of what is active in the month by key, with what a grain is summed by.
    fn push_rows(&self, query: &mut QueryBuilder<Postgres>, grain: &Grain) {
        let of_key = format!(
            "{IS_ACCELERATED} as is_accelerated, k.pricing = 'Owned' as is_owned, {IS_UNUSED_COMMITMENT} as is_unused"
        );
        if !grain.is_by_day() {
            query.push(format!(
                "select c.*, {of_key}, {IS_CREDIT} as is_credit \
                 from keyed_costs c cross join lateral (select c.*) k where c.basis_id = '{}'",
                self.basis_id
            ));
            return;
        }
        query.push("select c.*, ");
        if grain.table == DAYS.table {
            query.push(format!(
                "k.currency, case when c.is_whole_period then k.category else '' end as category, \
                 case when c.is_whole_period then k.service else '' end as service, {of_key}"
            ));
        } else {
            query.push(format!("{IS_CREDIT} as is_credit"));
        }
        query.push(format!(
            ", coalesce(c.metered_quantity * (k.unit_seconds * k.accelerator_parts), 0) as part_seconds \
             from daily_costs c join charge_keys k on k.charge_key_id = c.charge_key_id \
             where c.billing_month = '{}'",
            self.month.first_day()
        ));
        self.visible.push(query);
    }
}

impl Grain {
    fn is_by_day(&self) -> bool {
        self.group.split(", ").any(|column| column == "day")
    }

    fn amounts(&self) -> String {
        self.quantity.map_or_else(|| AMOUNTS.to_owned(), |quantity| format!("{AMOUNTS}, {quantity}"))
    }

    fn sums(&self, times: &str) -> String {
        let amounts = self.amounts();
        let sums: Vec<_> =
            amounts.split(", ").map(|amount| format!("sum({amount}{times}) as {amount}")).collect();
        sums.join(", ")
    }

    /// `group by …` of rows that have an attribution, in `ka`.
    fn push_group(&self, query: &mut QueryBuilder<Postgres>) {
        if self.owner == CHARGED {
            query.push(" join attributions a on a.attribution_id = ka.attribution_id");
        }
        query.push(format!(" group by {}, {}", self.owner, self.group));
    }
}
