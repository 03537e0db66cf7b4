//! Importing what is computed from a bill beside it, and taking it out.

use std::path::Path;

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::audit::{self, Actor, Object, Verb};
use crate::billing::{ComputedBill, ReadAs, normalized_key};
use crate::ledger::{
    self, Bundle, Decision, Import, Originals, Progress, Source, Status, Undone, WhenUnsure,
};
use crate::period::BillingMonth;

/// Why a month of what is computed may become smaller.
const REASON: &str = "Computed again from its bill.";

/// The bill that something is computed from.
#[derive(Clone, Copy)]
pub(super) struct Beside<'a> {
    pub computed: ComputedBill,
    /// Of the bill.
    pub scope_id: i64,
    pub provider: &'a str,
    pub billing_account: &'a str,
    pub month: BillingMonth,
    /// Everything that it is computed from.
    pub scopes: &'a [i64],
    pub deliveries: &'a [i64],
}

/// What became of a computed file.
pub(super) enum Imported {
    Loaded(i64),
    /// Why not. The same file would be refused again, unless the machine failed.
    Refused {
        message: String,
        has_failed: bool,
    },
}

impl Beside<'_> {
    /// Imports a computed file. All tags of it that are in the keys of the bill, and these further ones, are those of keys: rules may
    /// ask for each of them.
    pub async fn import(
        &self,
        (pool, db): (&PgPool, &mut PgConnection),
        originals: &Originals,
        (path, tags): (&Path, &[&str]),
        now: DateTime<Utc>,
    ) -> sqlx::Result<Imported> {
        let mut labels = self.tags(db).await?;
        labels.extend(tags.iter().map(|tag| normalized_key(tag)));
        let import = Import {
            deliveries: vec![Bundle::Files(vec![Source::new(self.file_name(), path)])],
            read_as: ReadAs::computed(self.computed),
            labels,
            decision: Some(Decision::Replace),
            reason: Some(REASON),
            when_unsure: WhenUnsure::Discard,
            batch_id: Uuid::new_v4(),
            by: &Actor::server().name,
            submitted_at: now,
            now,
            progress: Progress::default(),
        };
        let reports =
            ledger::import(pool, originals, import).await.map_err(|interrupted| interrupted.error)?;
        let Some(report) = reports.into_iter().next() else {
            return Ok(Imported::Refused { message: "there was nothing in it".to_owned(), has_failed: true });
        };
        if let Some(delivery) = report.delivery.filter(|_| report.status == Status::Loaded) {
            return Ok(Imported::Loaded(delivery));
        }
        let message = report.message.unwrap_or_else(|| "it could not be imported".to_owned());
        let computed = self.computed.name();
        tracing::warn!(
            scope = self.scope_id,
            computed,
            message,
            "what was computed of a bill could not be imported"
        );
        // The import could not, since this session holds originals.
        ledger::remove_after_failure(db, originals).await;
        Ok(Imported::Refused { message, has_failed: report.status == Status::Failed })
    }

    /// Makes an import the next version of what was computed before: undoing one undoes all, and none of the former becomes active
    /// again.
    pub async fn supersede(
        &self,
        db: &mut PgConnection,
        (before, delivery): (Option<i64>, i64),
        follows_bill: bool,
    ) -> sqlx::Result<()> {
        sqlx::query!(
            "update deliveries again
             set follows_bill = $3, reprices = coalesce(before.reprices, before.delivery_id),
                 place_sequence = coalesce(before.place_sequence, before.published_sequence)
             from (select $2::bigint as delivery_id) given
             left join deliveries before using (delivery_id)
             where again.delivery_id = $1",
            delivery,
            before,
            follows_bill,
        )
        .execute(db)
        .await?;
        Ok(())
    }

    /// Takes what was computed out. False where it cannot be: somebody has to undo its imports.
    pub async fn take_out(&self, db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<bool> {
        let by = Actor::server();
        // One of them undoes all versions.
        for delivery in self.loaded(&mut *db).await? {
            let sequence = match ledger::undo(&mut *db, delivery, &by.name, now).await? {
                Undone::At(sequence) => sequence,
                Undone::Already => continue,
                Undone::Overlaps(_) | Undone::Archived(_) => return Ok(false),
            };
            let (object, details) = (Object::Delivery(delivery), json!({ "sequence": sequence }));
            audit::record(&mut *db, by.at(now), Verb::DeliveryUndone, &object, details).await?;
        }
        Ok(true)
    }

    /// The imports of it that were not undone, the latest last.
    pub async fn loaded(&self, db: &mut PgConnection) -> sqlx::Result<Vec<i64>> {
        sqlx::query_scalar!(
            "select d.delivery_id
             from deliveries d
             join delivery_scopes using (delivery_id)
             join scopes s using (scope_id)
             where s.adjusts = $1 and s.is_usage = $2 and d.status = 'loaded'
             order by d.published_sequence",
            self.scope_id,
            self.computed == ComputedBill::Usage,
        )
        .fetch_all(db)
        .await
    }

    /// The names of all tags in the keys of what it is computed from, as they are compared.
    async fn tags(&self, db: &mut PgConnection) -> sqlx::Result<Vec<String>> {
        let names = sqlx::query_scalar!(
            r#"select distinct tag as "tag!"
               from monthly_costs m
               join charge_keys k using (charge_key_id)
               cross join lateral jsonb_object_keys(k.tags) tag
               where m.billing_month = $1 and m.scope_id = any($2) and m.delivery_id = any($3)"#,
            self.month.first_day(),
            self.scopes,
            self.deliveries,
        )
        .fetch_all(db)
        .await?;
        Ok(names.iter().map(|name| normalized_key(name)).collect())
    }

    fn file_name(&self) -> String {
        let plain = |text: &str| -> String {
            text.chars().map(|it| if it.is_ascii_alphanumeric() || it == '-' { it } else { '-' }).collect()
        };
        let (provider, account) = (plain(self.provider), plain(self.billing_account));
        format!("{}-{provider}-{account}-{}.csv", self.computed.name(), self.month)
    }
}
