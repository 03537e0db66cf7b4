//! The charge: one shape for every cost, in the words of the FOCUS specification.

use super::row::Problem;
use crate::enum_words::words;
use crate::money::Decimal;
use crate::period::{BillingMonth, ChargePeriod};

words! {
    /// FOCUS ChargeCategory.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ChargeCategory: as_str {
        #[default]
        Usage = "Usage";
        Purchase = "Purchase";
        Tax = "Tax";
        Credit = "Credit";
        Adjustment = "Adjustment";
    }
}

impl ChargeCategory {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.as_str().eq_ignore_ascii_case(text))
    }
}

words! {
    /// FOCUS PricingCategory. `Dynamic` is spot. `None` on charges that have no price (tax, credits).
    ///
    /// `Owned` is no word of FOCUS, which knows only what somebody sells: it is what an organization has of its own, machines
    /// and all that they cost. Files state it beside FOCUS' `Other`, in a column `x_PricingCategory`. Hours of such machines are
    /// on-prem GPU-hours and not cloud GPU-hours.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum PricingCategory: as_str {
        #[default]
        None = "";
        Standard = "Standard";
        Committed = "Committed";
        Dynamic = "Dynamic";
        Other = "Other";
        Owned = "Owned";
    }
}

impl PricingCategory {
    /// Those that FOCUS knows.
    pub const OF_FOCUS: [Self; 5] = [Self::None, Self::Standard, Self::Committed, Self::Dynamic, Self::Other];

    /// A word of FOCUS.
    pub fn parse(text: &str) -> Option<Self> {
        Self::OF_FOCUS.into_iter().find(|category| category.as_str().eq_ignore_ascii_case(text))
    }
}

/// What many charges have in common: the closed list of dimensions that pages group and filter by.
/// Nothing here varies by row: no price, no time, no rate. Empty text means "no value".
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChargeKey {
    /// Canonical provider name, see [`canonical_provider`](super::canonical_provider).
    pub provider: String,
    /// Canonical form that every format of one provider agrees on, so that a CUR and a FOCUS export
    /// of one account state the same scope.
    pub billing_account: String,
    pub sub_account: String,
    pub service: String,
    pub service_category: String,
    pub sku: String,
    pub region: String,
    /// The machine: `p5.48xlarge`, `Standard_ND96isr_H100_v5`.
    pub instance_type: String,
    /// What the provider meters: AWS usage type, FOCUS SkuMeter, a GPU SKU's description.
    pub meter: String,
    /// Accelerators per metered unit as the export itself states them (`product/gpu`, `GpuCount`);
    /// empty where it does not.
    pub stated_accelerators: String,
    pub category: ChargeCategory,
    /// FOCUS ChargeClass = Correction.
    pub is_correction: bool,
    pub pricing: PricingCategory,
    pub commitment_discount_id: String,
    /// FOCUS CommitmentDiscountStatus = Unused: what was paid for and used by nobody.
    pub is_unused_commitment: bool,
    /// Unit of the consumed quantity as the export writes it.
    pub unit: String,
    pub currency: String,
}

/// What a scope holds of an account and month.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeOf {
    /// What the provider bills.
    #[default]
    Bill,
    /// What adjusts the bill, and stands beside it.
    Adjustments,
    /// What divides the charges of the bill's machines among those who used them, and stands beside it.
    Usage,
}

/// One row of cost and usage data, ready for the ledger. Readers reuse one value for all rows of a
/// file: [`Charge::clear`], then fill.
#[derive(Clone, Debug, Default)]
pub struct Charge {
    pub key: ChargeKey,
    pub resource_id: String,
    /// Tag keys in the canonical spelling of the format (`user:` prefix dropped); keys are case-sensitive.
    pub tags: Tags,
    /// The month that most of its billing period lies in.
    pub billing_month: BillingMonth,
    pub period: ChargePeriod,
    pub billed_cost: Decimal,
    pub effective_cost: Decimal,
    pub list_cost: Decimal,
    pub contracted_cost: Decimal,
    /// In `key.unit`.
    pub consumed_quantity: Option<Decimal>,
    /// What each hour of its day has of the quantity, by its number (UTC). Empty where that is not stated: it is spread evenly over the
    /// hours of its period.
    pub hours: Vec<(u8, Decimal)>,
    /// Whether the quantity is usage that was paid for: covered by a commitment or not, but never a
    /// negation, fee, credit or unused commitment. Accelerator-hours count only these.
    pub is_metered: bool,
    /// Whether it is usage whose cost is not stated: what it costs is for a rate card to say, and until then it is not 0 but unknown.
    pub lacks_cost: bool,
    /// Whether it names an earlier row of the same export that it corrects. Both count.
    pub corrects_a_row: bool,
    /// Of what its scope is.
    pub scope: ScopeOf,
    /// Empty until the provider has issued the invoice.
    pub invoice_id: String,
    /// What key and tags were read from: in rows of one file where it is equal, they are. Empty where that is not known.
    pub key_cells: Vec<u8>,
}

/// Bytes of a provider, an account, an id. PostgreSQL indexes up to 2,700.
pub(super) const MAX_ID: usize = 1000;
/// Bytes of what else a charge is grouped by. A resource of AWS has up to 2,048, a description some hundreds.
const MAX_TEXT: usize = 4000;
/// Tags of a row. Of a resource AWS and Microsoft allow 50 and Google 64; AWS splits the bill by 500.
const MAX_TAGS: usize = 1000;
/// Bytes of one, name and value. Providers allow some hundreds.
const MAX_TAG: usize = 2000;

/// Whether what is billed below zero takes back a cost and no hours, as AWS's negations do: for a quantity above zero. Its
/// hours are not paid for.
pub(super) fn is_negation(cost: Decimal, quantity: Decimal) -> bool {
    cost.is_negative() && !quantity.is_negative() && !quantity.is_zero()
}

impl Charge {
    pub fn billing_month(&self) -> BillingMonth {
        self.billing_month
    }

    /// Puts its tags in order, without what is too long to be one; true where there was something of the kind.
    ///
    /// # Errors
    /// What is so long that no provider writes it: it would cost others time, whoever compares, sorts and indexes it.
    pub(super) fn settle(&mut self) -> Result<bool, Problem> {
        let problem = |found: String, most: usize, what: &str| Problem {
            column: None,
            found,
            expected: format!("at most {most}{what}").into(),
        };
        if let Some((name, bytes, most)) = self.too_long() {
            return Err(problem(format!("a {name} of {bytes} bytes"), most, " bytes"));
        }
        let is_shortened = self.tags.leave_out_longer(MAX_TAG);
        self.tags.settle();
        let tags = self.tags.len();
        if tags > MAX_TAGS { Err(problem(format!("{tags} tags"), MAX_TAGS, "")) } else { Ok(is_shortened) }
    }

    /// The first text that is longer than any provider writes: what it is, its bytes, and how many it may have.
    fn too_long(&self) -> Option<(&'static str, usize, usize)> {
        let key = &self.key;
        let ids = [
            ("billing account", &key.billing_account),
            ("sub-account", &key.sub_account),
            ("commitment discount", &key.commitment_discount_id),
            ("invoice", &self.invoice_id),
        ];
        let texts = [
            ("resource", &self.resource_id),
            ("service", &key.service),
            ("service category", &key.service_category),
            ("SKU", &key.sku),
            ("region", &key.region),
            ("machine", &key.instance_type),
            ("meter", &key.meter),
            ("number of accelerators", &key.stated_accelerators),
            ("unit", &key.unit),
        ];
        let ids = ids.into_iter().map(|(name, text)| (name, text.len(), MAX_ID));
        let texts = texts.into_iter().map(|(name, text)| (name, text.len(), MAX_TEXT));
        ids.chain(texts).find(|(_, bytes, most)| bytes > most)
    }

    /// Empties every field and keeps the allocations.
    pub fn clear(&mut self) {
        let key = &mut self.key;
        for text in [
            &mut key.provider,
            &mut key.billing_account,
            &mut key.sub_account,
            &mut key.service,
            &mut key.service_category,
            &mut key.sku,
            &mut key.region,
            &mut key.instance_type,
            &mut key.meter,
            &mut key.stated_accelerators,
            &mut key.commitment_discount_id,
            &mut key.unit,
            &mut key.currency,
            &mut self.resource_id,
            &mut self.invoice_id,
        ] {
            text.clear();
        }
        key.category = ChargeCategory::Usage;
        key.is_correction = false;
        key.is_unused_commitment = false;
        key.pricing = PricingCategory::None;
        self.tags.clear();
        self.key_cells.clear();
        self.billed_cost = Decimal::ZERO;
        self.effective_cost = Decimal::ZERO;
        self.list_cost = Decimal::ZERO;
        self.contracted_cost = Decimal::ZERO;
        self.consumed_quantity = None;
        self.hours.clear();
        self.is_metered = false;
        self.lacks_cost = false;
        self.corrects_a_row = false;
        self.scope = ScopeOf::Bill;
    }
}

/// Tags of a charge: values are never empty, and as the file has them, spaces at their ends included: to a provider
/// they are different values, and so they are to an invoice that is split by them. Keys are unique, and in order, once
/// they are [settled](Self::settle). One text holds them all, so that a reader can reuse it for every row.
#[derive(Clone, Debug, Default)]
pub struct Tags {
    text: String,
    spans: Vec<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    middle: u32,
    end: u32,
}

impl Tags {
    /// Sets a tag; the last value of a key wins once they are settled. A key or value that is empty is no tag.
    pub fn set(&mut self, key: &str, value: &str) {
        self.set_prefixed("", key, value);
    }

    /// As [`Self::set`], for the key `prefix` followed by `key`.
    pub fn set_prefixed(&mut self, prefix: &str, key: &str, value: &str) {
        if key.is_empty() || value.is_empty() {
            return;
        }
        let start = self.text.len() as u32;
        self.text.push_str(prefix);
        self.text.push_str(key);
        let middle = self.text.len() as u32;
        self.text.push_str(value);
        self.spans.push(Span { start, middle, end: self.text.len() as u32 });
    }

    /// Leaves out those with more bytes than this, name and value; says whether there were any.
    pub(super) fn leave_out_longer(&mut self, most: usize) -> bool {
        let before = self.spans.len();
        self.spans.retain(|span| (span.end - span.start) as usize <= most);
        self.spans.len() < before
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// In the order they were set, or of their keys once they are settled.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        (0..self.spans.len()).map(|at| self.at(at))
    }

    /// Orders by key, which makes equal sets equal sequences, and keeps the last value of each. Once for all tags of a
    /// row: looking for each among the others would take minutes where somebody writes them by the ten thousand.
    pub fn settle(&mut self) {
        let Self { text, spans } = self;
        spans.sort_unstable_by(|a, b| a.key(text).cmp(b.key(text)).then(a.start.cmp(&b.start)));
        spans.dedup_by(|later, kept| {
            let is_same = later.key(text) == kept.key(text);
            if is_same {
                *kept = *later;
            }
            is_same
        });
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Bytes of all names and values.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Empties and keeps the allocations.
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    fn at(&self, at: usize) -> (&str, &str) {
        let Span { middle, end, .. } = self.spans[at];
        (self.spans[at].key(&self.text), &self.text[middle as usize..end as usize])
    }
}

impl Span {
    fn key(self, text: &str) -> &str {
        &text[self.start as usize..self.middle as usize]
    }
}

/// Of settled ones.
impl PartialEq for Tags {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Tags {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_tag_wins() {
        let mut tags = Tags::default();
        tags.set("team", "a");
        tags.set("Team", "b");
        tags.set("env", "");
        tags.set("team", "c");
        tags.set_prefixed("te", "am", "d");
        tags.set("Alpha", "1");
        tags.settle();
        assert_eq!(tags.iter().collect::<Vec<_>>(), [("Alpha", "1"), ("Team", "b"), ("team", "d")]);
        tags.clear();
        assert!(tags.is_empty() && tags.get("team").is_none());
    }
}
