//! Hyperstack's cost of a resource over time, as its API answers it for one resource: `/billing/billing/history/…/{id}/graph` of a
//! virtual machine, a volume, a snapshot, a cluster or a bucket. A row is a resource and each of its datapoints a charge.
//!
//! | what | rule |
//! |---|---|
//! | account, currency | [`UNNAMED_ACCOUNT`], since `org_id` may stand behind the rows; US dollars, in which all of Hyperstack's prices are |
//! | charge period | from `datetime` on, as long as the shortest time between two datapoints of the row |
//! | billing month | the month in which a charge begins, in UTC: there is no billing period |
//! | billed cost | `value` of each datapoint, which must sum to `incurred_bill`: what binary floats lose goes to the largest |
//! | effective, list, contracted cost | billed: `non_discounted_bill` is of the whole answer and of no datapoint |
//! | category | Usage, at the Standard price |
//! | service | by the name of the object that the rows are in: `billing_history_vm_details` |
//! | quantity | none is stated |
//! | resource | `infrahub_id`, by which the API and the console know it, else `id`; its name is the tag `name` |
//! | accumulation | whole periods; an answer is one resource, so those of a month are imported together |
//!
//! From the vendor: its API reference and the models of its SDKs (`ResourceLevelGraphBillingDetails…`, `GraphDatetimeValueModel`).
//! They do not say whether `datetime` is the beginning of a span, which is taken, nor that a `value` is the cost of that
//! span alone. That follows from the sum, without which a row is rejected: of running totals it would be wrong.
//!
//! Its other answers are refused. `/billing/billing/history` and its lists state amounts and hours of the days that were asked
//! for, and not which days these were. Their `usage_time` is in hours by the reference, and in seconds by its own examples
//! (0.3483871 an hour and 163 are 0.01577). Billing events have times, and name neither resource nor the unit of their
//! duration.
//!
//! Hours are not known, then, neither those of the state ACTIVE nor of SHUTOFF. Both are billed alike, "as all resources remain
//! allocated" ("Virtual Machine States and Billing Status"), so both would be hours that were paid for; HIBERNATED pays for
//! disk and address alone. The cost here is that of all states.

mod columns;
mod points;

use super::account_id::UNNAMED_ACCOUNT;
use super::billing_period::month_of;
use super::charge::{Charge, PricingCategory};
use super::date_order::{DateColumns, DateOrder};
use super::header::{Columns, Header};
use super::row::{Column, Outcome, Problem, ReadRow, Row};
use super::rows::Members;
use super::{Format, Guide, Mandatory};
use points::Points;

pub(super) struct HyperstackCosts;

/// Canonical, see [`canonical_provider`](super::canonical_provider).
const PROVIDER: &str = "Hyperstack";
const CURRENCY: &str = "USD";

const MANDATORY: &[Mandatory] = &[
    Mandatory { name: "metrics.incurred_bill", keys: &["metricsincurredbill"] },
    Mandatory { name: "metrics.incurred_bill_graph", keys: &["metricsincurredbillgraph"] },
];

const NOTHING_BILLED: &str = "every datapoint is 0: nothing was billed";

/// What a resource is: a word in the name of the object that the rows are in, the meter, and the service and category of FOCUS.
/// The reference names that of a volume like that of a snapshot.
struct Kind {
    word: &'static str,
    meter: &'static str,
    service: &'static str,
    category: &'static str,
}

const KINDS: &[Kind] = &[
    Kind { word: "vm", meter: "Virtual machine", service: "Virtual machines", category: "Compute" },
    Kind { word: "cluster", meter: "Cluster", service: "Kubernetes clusters", category: "Compute" },
    Kind { word: "bucket", meter: "Bucket", service: "Object storage", category: "Storage" },
    Kind {
        word: "snapshot",
        meter: "Volume or snapshot",
        service: "Volumes and snapshots",
        category: "Storage",
    },
    Kind {
        word: "volume",
        meter: "Volume or snapshot",
        service: "Volumes and snapshots",
        category: "Storage",
    },
];
static ANY_KIND: Kind = Kind { word: "", meter: "Resource", service: "Other", category: "Other" };

impl Kind {
    fn of(members: &Members) -> &'static Self {
        let names = members.keys().filter(|name| name.starts_with("billing_history"));
        let mut words = names.flat_map(|name| name.split('_'));
        words.find_map(|word| KINDS.iter().find(|kind| kind.word == word)).unwrap_or(&ANY_KIND)
    }
}

impl Format for HyperstackCosts {
    fn name(&self) -> &'static str {
        "hyperstack-costs"
    }

    fn label(&self) -> &'static str {
        "Hyperstack cost datapoints"
    }

    fn guides(&self) -> &'static [Guide] {
        &[Guide {
            provider: "Hyperstack",
            export: "Cost datapoints (API)",
            steps: "For a whole month (start_date, end_date), query /billing/billing/history/virtual-machine/{vm_id}/graph for each virtual \
                    machine, and the same of volumes, snapshots, clusters and buckets. Upload all answers of the month together.",
            forms: "JSON",
        }]
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        MANDATORY
    }

    fn has_its_columns(&self, header: &Header) -> bool {
        header.has("metricsincurredbillgraph")
    }

    fn list(&self) -> Option<&'static str> {
        Some("*.billing_history")
    }

    fn names(&self) -> Vec<&'static str> {
        columns::KNOWN.names()
    }

    fn billed_columns(&self) -> Vec<Vec<&str>> {
        vec![vec!["metricsincurredbill"]]
    }

    fn columns(&self, header: &Header) -> Columns {
        columns::KNOWN.columns(header)
    }

    fn feeds(&self, key: &str) -> Option<&'static str> {
        columns::KNOWN.feeds(key)
    }

    fn reader(&self, header: &Header) -> Box<dyn ReadRow + Send> {
        Box::new(Reader::new(header))
    }
}

struct Reader {
    at: At,
    kind: &'static Kind,
    last_needed: usize,
    key_columns: Vec<usize>,
    /// The datapoints of the row that is being read, and which of them is the charge that is being read.
    points: Points,
    point: usize,
    resource: String,
    scratch: Vec<u8>,
    text: String,
}

/// Where the members are.
struct At {
    ids: [Column; 2],
    name: Column,
    bill: Column,
    graph: Column,
}

impl Reader {
    fn new(header: &Header) -> Self {
        let at = At {
            ids: [header.find("attributesinfrahubid"), header.find("attributesid")],
            name: header.find("attributesresourcename"),
            bill: header.find("metricsincurredbill"),
            graph: header.find("metricsincurredbillgraph"),
        };
        Self {
            kind: &ANY_KIND,
            last_needed: Mandatory::last(MANDATORY, header),
            key_columns: at.name.into_iter().collect(),
            at,
            points: Points::default(),
            point: 0,
            resource: String::new(),
            scratch: Vec::new(),
            text: String::new(),
        }
    }

    /// Fills the charge with a datapoint of the row; false behind the last.
    fn fill(&self, row: &Row<'_>, charge: &mut Charge) -> Result<bool, Problem> {
        let Some(point) = self.points.get(self.point) else { return Ok(false) };
        charge.period = point.period;
        charge.billing_month = month_of(row, self.at.graph, point.period.start)?;
        charge.resource_id.push_str(&self.resource);
        charge.billed_cost = point.value;
        charge.effective_cost = point.value;
        charge.list_cost = point.value;
        charge.contracted_cost = point.value;
        charge.key_cells.extend_from_slice(self.kind.meter.as_bytes());
        charge.key_cells.push(b'\n');
        Ok(true)
    }
}

impl ReadRow for Reader {
    fn last_needed(&self) -> usize {
        self.last_needed
    }

    /// Times are in the list of datapoints, in one form.
    fn dates(&self) -> DateColumns {
        DateColumns { columns: Vec::new(), billing_period: None, usual: DateOrder::Undecided }
    }

    fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    fn stand_in(&mut self, members: &Members) {
        self.kind = Kind::of(members);
    }

    fn members(&self, members: &Members, rows: u64) -> Option<String> {
        let total: u64 = members.get("total_count")?.get().parse().ok()?;
        (total > rows).then(|| {
            format!("{rows} of {total} resources: query the others, too, and import all of them together")
        })
    }

    fn read(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        let Self { at, points, resource, scratch, .. } = self;
        let bill = row.needed_amount_in(CURRENCY, at.bill)?;
        points.read(row.cell(at.graph, scratch), bill).map_err(|problem| match problem {
            points::NoPoints::Unreadable(expected) => row.problem(at.graph, expected),
            points::NoPoints::OtherSum(sum) => Problem {
                column: at.graph,
                found: format!("values that sum to {sum}"),
                expected: format!("values that sum to metrics.incurred_bill, {bill}").into(),
            },
        })?;
        resource.clear();
        for id in at.ids {
            if resource.is_empty() {
                row.text(id, resource)?;
            }
        }
        for point in self.points.iter() {
            month_of(&row, self.at.graph, point.period.start)?;
        }
        if let Some(remark) = self.points.remark() {
            row.remark(remark);
        }
        self.point = 0;
        if self.fill(&row, charge)? { Ok(Outcome::Charge) } else { Ok(Outcome::Skipped(NOTHING_BILLED)) }
    }

    fn further(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<bool, Problem> {
        self.point += 1;
        self.fill(&row, charge)
    }

    fn key(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Self { at, kind, text, .. } = self;
        let key = &mut charge.key;
        key.provider.push_str(PROVIDER);
        key.billing_account.push_str(UNNAMED_ACCOUNT);
        key.currency.push_str(CURRENCY);
        key.service.push_str(kind.service);
        key.service_category.push_str(kind.category);
        key.meter.push_str(kind.meter);
        key.pricing = PricingCategory::Standard;
        text.clear();
        row.verbatim(at.name, text)?;
        charge.tags.set("name", text);
        Ok(())
    }
}
