//! A ledger in a database of its own, and billing files in three words.

use std::fmt::Write as _;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use gpuledger::allocation;
use gpuledger::ledger::{
    self, Decision, Import, LookIn, Originals, Progress, Report, Source, Undone, WhenUnsure, gather,
};
use gpuledger::money::Decimal;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tempfile::TempDir;
use uuid::Uuid;

use super::now;

pub struct TestLedger {
    pub db: PgPool,
    pub folder: TempDir,
    pub originals: Originals,
}

impl TestLedger {
    /// With room for several imports at once, which the pool of a test has not.
    #[expect(clippy::needless_pass_by_value, reason = "sqlx gives a test its pool")]
    pub fn new(db: PgPool) -> Self {
        let db = PgPoolOptions::new().max_connections(20).connect_lazy_with((*db.connect_options()).clone());
        let folder = tempfile::tempdir().unwrap();
        let originals = Originals::new(folder.path());
        Self { db, folder, originals }
    }

    /// Writes a file into the test's folder.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub async fn import(
        &self,
        paths: &[PathBuf],
        decision: Option<Decision>,
        when_unsure: WhenUnsure,
    ) -> Vec<Report> {
        self.import_with(paths, decision, when_unsure, now()).await
    }

    /// Imports files that came at another time than now.
    pub async fn import_at(&self, paths: &[PathBuf], submitted_at: DateTime<Utc>) -> Vec<Report> {
        self.import_with(paths, None, WhenUnsure::Wait, submitted_at).await
    }

    async fn import_with(
        &self,
        paths: &[PathBuf],
        decision: Option<Decision>,
        when_unsure: WhenUnsure,
        submitted_at: DateTime<Utc>,
    ) -> Vec<Report> {
        // What is asked here is what loading and publishing do; that rejected rows wait for review is told in `web::reviews`.
        sqlx::query("update import_reviews set review = 'never'").execute(&self.db).await.unwrap();
        let files = paths.iter().map(|path| Source::new(path.file_name().unwrap().to_string_lossy(), path));
        let import = Import {
            deliveries: gather(files.collect(), LookIn::Folders),
            read_as: gpuledger::ledger::read_as(&mut self.db.acquire().await.unwrap(), None).await.unwrap(),
            labels: allocation::label_keys(&mut self.db.acquire().await.unwrap()).await.unwrap(),
            decision,
            reason: None,
            when_unsure,
            batch_id: Uuid::new_v4(),
            by: "test",
            submitted_at,
            now: now(),
            progress: Progress::default(),
        };
        ledger::import(&self.db, &self.originals, import).await.unwrap()
    }

    /// Imports one file and answers its report.
    pub async fn deliver(&self, name: &str, content: impl AsRef<[u8]>) -> Report {
        let path = self.file(name, content);
        self.import(&[path], None, WhenUnsure::Wait).await.pop().unwrap()
    }

    pub async fn undo(&self, delivery: i64) {
        let mut db = self.db.acquire().await.unwrap();
        let undone = ledger::undo(&mut db, delivery, "test", now()).await.unwrap();
        assert!(matches!(undone, Undone::At(_)), "{undone:?}");
    }

    /// Every equation holds, the originals included.
    pub async fn assert_balanced(&self) {
        let mut db = self.db.acquire().await.unwrap();
        let mut equations = ledger::check(&mut db).await.unwrap();
        equations.extend(ledger::check_kept(&mut db, &self.originals).await.unwrap());
        equations.extend(ledger::check_originals(&mut db, &self.originals).await.unwrap());
        let broken: Vec<_> = equations.iter().filter(|equation| !equation.holds).collect();
        assert!(broken.is_empty(), "{broken:#?}");
    }

    /// What pages count of an account and month, all costs billed.
    pub async fn billed(&self, account: &str, month: &str) -> Decimal {
        let mut db = self.db.acquire().await.unwrap();
        sqlx::query_scalar(
            "select coalesce(sum(m.billed_cost), 0)
             from monthly_costs m
             join visibility v on v.delivery_id = m.delivery_id and v.scope_id = m.scope_id and v.until_sequence is null
             join charge_keys k using (charge_key_id)
             where k.billing_account = $1 and to_char(m.billing_month, 'YYYY-MM') = $2",
        )
        .bind(account)
        .bind(month)
        .fetch_one(&mut *db)
        .await
        .unwrap()
    }
}

/// A FOCUS file: its columns and one line a charge.
pub struct Focus(String);

impl Focus {
    pub fn new() -> Self {
        Self(
            "ProviderName,BillingAccountId,SubAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,\
             ChargePeriodEnd,ChargeCategory,PricingCategory,ServiceName,ServiceCategory,SkuId,RegionId,ResourceId,\
             SkuPriceDetails,ConsumedQuantity,ConsumedUnit,BilledCost,EffectiveCost,ListCost,ContractedCost,\
             BillingCurrency,Tags,InvoiceIssuerName,PublisherName\n"
                .to_owned(),
        )
    }

    /// An hour of an 8-GPU machine of a sub-account at `2026-09-05T10`, tagged with a team.
    pub fn hour(mut self, account: &str, sub_account: &str, at: &str, cost: &str, team: &str) -> Self {
        let month = &at[..7];
        let (year, number) = month.split_once('-').unwrap();
        let next = match number {
            "12" => format!("{}-01", year.parse::<u32>().unwrap() + 1),
            number => format!("{year}-{:02}", number.parse::<u32>().unwrap() + 1),
        };
        let hour: u32 = at[11..13].parse().unwrap();
        let day = &at[..10];
        let start: chrono::DateTime<chrono::Utc> = format!("{day}T{hour:02}:00:00Z").parse().unwrap();
        let end = (start + chrono::Duration::hours(1)).format("%Y-%m-%dT%H:%M:%SZ");
        writeln!(
            self.0,
            "NeoCloud,{account},{sub_account},{month}-01T00:00:00Z,{next}-01T00:00:00Z,{day}T{hour:02}:00:00Z,\
             {end},Usage,Standard,GPU Cloud,Compute,gpu-8x,eu-1,node-{sub_account},\
             \"{{\"\"InstanceType\"\":\"\"8xH100\"\",\"\"GpuCount\"\":8}}\",1,Hours,{cost},{cost},{cost},{cost},USD,\
             \"{{\"\"team\"\":\"\"{team}\"\"}}\",NeoCloud,NeoCloud"
        )
        .unwrap();
        self
    }

    /// The last line in another currency.
    pub fn billed_in(mut self, currency: &str) -> Self {
        let at = self.0.rfind(",USD,").unwrap();
        self.0.replace_range(at + 1..at + 4, currency);
        self
    }

    /// The last line as one of another meter, which counts this many of a unit and no hours.
    pub fn counted_in(mut self, meter: &str, quantity: &str, unit: &str) -> Self {
        let at = self.0[..self.0.len() - 1].rfind('\n').map_or(0, |at| at + 1);
        let line = self.0[at..].replace(",gpu-8x,", &format!(",{meter},")).replace(
            "\"{\"\"InstanceType\"\":\"\"8xH100\"\",\"\"GpuCount\"\":8}\",1,Hours",
            &format!(",{quantity},{unit}"),
        );
        self.0.replace_range(at.., &line);
        self
    }

    /// The last line with another tag.
    pub fn labelled(mut self, key: &str, value: &str) -> Self {
        let at = self.0.rfind("}\",NeoCloud").unwrap();
        self.0.insert_str(at, &format!(",\"\"{key}\"\":\"\"{value}\"\""));
        self
    }

    /// A line as it stands.
    pub fn line(mut self, line: &str) -> Self {
        self.0.push_str(line);
        self.0.push('\n');
        self
    }

    /// The same charges as Oracle writes them: in slices that add up.
    pub fn slice(&self) -> String {
        let mut lines = self.0.lines();
        let header = lines.next().unwrap();
        let mut text = format!("{header},oci_ReferenceNumber\n");
        for (number, line) in lines.enumerate() {
            writeln!(text, "{line},ref-{number}").unwrap();
        }
        text
    }

    /// The same charges with the numbers of their invoices: they are final.
    pub fn invoiced(&self) -> String {
        let mut lines = self.0.lines();
        let mut text = format!("{},InvoiceId\n", lines.next().unwrap());
        for line in lines {
            text.extend([line, ",INV-1\n"]);
        }
        text
    }

    /// The same charges as those of machines of the organization's own.
    pub fn owned(&self) -> String {
        let mut lines = self.0.lines();
        let mut text = format!("{},x_PricingCategory\n", lines.next().unwrap());
        for line in lines {
            let line = line.replace("NeoCloud", "On-premises").replace(",Standard,", ",Other,");
            text.extend([line.as_str(), ",Owned\n"]);
        }
        text
    }

    /// With a column more; each line says what stands in it.
    pub fn with_column(mut self, name: &str) -> Self {
        self.0.insert_str(self.0.find('\n').unwrap(), &format!(",{name}"));
        self
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}

impl From<String> for Focus {
    /// A file that was edited as text.
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl AsRef<[u8]> for Focus {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}
