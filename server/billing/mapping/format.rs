//! A mapping as a format: what the rest of the product reads files by.

use std::sync::Arc;

use super::document::{self, Decimals, Field, Mapping, States};
use super::reader::Reader;
use crate::billing::header::{Columns, Header, key_of};
use crate::billing::row::ReadRow;
use crate::billing::rows::Layout;
use crate::billing::{Accumulation, FORMATS, Format, Guide, Mandatory};

/// The format that reads files as this version of a mapping says.
pub fn read_by(mapping: Mapping, version: i32) -> Arc<dyn Format> {
    Arc::new(Mapped {
        name: format!("{}@{version}", mapping.name),
        label: format!("mapping {} (version {version})", mapping.name),
        guides: &[],
        mapping: Arc::new(mapping),
    })
}

/// The format of a mapping that comes with the product.
pub(super) fn built_in(mapping: Mapping, label: &str, guides: &'static [Guide]) -> Arc<dyn Format> {
    Arc::new(Mapped {
        name: mapping.name.clone(),
        label: label.to_owned(),
        guides,
        mapping: Arc::new(mapping),
    })
}

/// Whether a format that is built in has this name: an import by a mapping of the same name would say two things.
pub fn is_built_in(name: &str) -> bool {
    FORMATS.iter().any(|format| format.name() == name)
}

struct Mapped {
    name: String,
    label: String,
    guides: &'static [Guide],
    mapping: Arc<Mapping>,
}

impl Format for Mapped {
    fn name(&self) -> &str {
        &self.name
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn guides(&self) -> &'static [Guide] {
        self.guides
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        &[]
    }

    fn layout(&self) -> Layout {
        let file = &self.mapping.file;
        let decimal = self.mapping.numbers.decimal.byte();
        Layout { separator: file.separator.byte(), header_row: Some(file.header_row), decimal, sheet: None }
    }

    fn sheet(&self) -> Option<&str> {
        self.mapping.file.sheet.as_deref()
    }

    fn accumulation(&self, _header: &Header) -> Accumulation {
        match self.mapping.file.states {
            States::Month => Accumulation::WholePeriod,
            States::Part => Accumulation::Slice,
        }
    }

    fn is_mapping(&self) -> bool {
        true
    }

    fn check(&self, header: &Header) -> Result<(), String> {
        self.mapping.check_columns(header)
    }

    fn recognizes(&self, header: &Header) -> bool {
        self.mapping.is_for(header.names())
    }

    fn has_its_columns(&self, header: &Header) -> bool {
        let columns = &self.mapping.file.columns;
        let known = columns.iter().filter(|name| header.has(&key_of(name).0)).count();
        known * 2 > columns.len()
    }

    fn billed_columns(&self) -> Vec<Vec<&str>> {
        let fields = &self.mapping.fields;
        fields.cost.iter().chain(&fields.tax).map(|name| vec![name.as_str()]).collect()
    }

    fn counted_once(&self, header: &Header) -> Vec<usize> {
        let fields = &self.mapping.fields;
        let counted = fields.cost.iter().chain(&fields.tax).chain(&fields.quantity);
        counted.filter_map(|name| document::find(header, name)).collect()
    }

    fn has_decimal_commas(&self) -> bool {
        self.mapping.numbers.decimal == Decimals::Comma
    }

    fn columns(&self, header: &Header) -> Columns {
        let named: Vec<_> =
            self.mapping.named().into_iter().filter_map(|name| document::find(header, name)).collect();
        let unknown = header.names().iter().enumerate().filter(|(at, _)| !named.contains(at));
        Columns { unknown: unknown.map(|(_, name)| name.clone()).collect(), ..Columns::default() }
    }

    fn feeds(&self, key: &str) -> Option<&'static str> {
        let is = |name: &str| key_of(name).0 == key;
        let of = |field: &Field| field.column().is_some_and(is);
        let Mapping { period, fields, tags, category, .. } = &*self.mapping;
        let required = [
            (fields.cost.as_deref().is_some_and(is), "BilledCost, EffectiveCost"),
            (fields.tax.as_deref().is_some_and(is), "BilledCost, EffectiveCost"),
            (is(&period.start), "ChargePeriodStart, BillingPeriodStart"),
            (period.end.as_deref().is_some_and(is), "ChargePeriodEnd"),
            (of(&fields.currency), "BillingCurrency"),
            (of(&fields.account), "BillingAccountId"),
            (of(&fields.provider), "ProviderName"),
            (fields.quantity.as_deref().is_some_and(is), "ConsumedQuantity"),
            (category.as_ref().is_some_and(|category| is(&category.column)), "ChargeCategory"),
            (tags.values().any(|name| is(name)), "Tags"),
        ];
        let optional = [
            (&fields.sub_account, "SubAccountId"),
            (&fields.service, "ServiceName"),
            (&fields.sku, "SkuId"),
            (&fields.description, "SkuMeter"),
            (&fields.resource, "ResourceId"),
            (&fields.region, "RegionId"),
            (&fields.accelerator, "the machine"),
            (&fields.accelerator_count, "its accelerators"),
            (&fields.unit, "ConsumedUnit"),
            (&fields.invoice, "InvoiceId"),
        ];
        let found = required.into_iter().find(|(is_it, _)| *is_it).map(|(_, name)| name);
        let given = || optional.into_iter().find(|(field, _)| field.as_ref().is_some_and(of));
        found.or_else(|| given().map(|(_, name)| name))
    }

    fn reader(&self, header: &Header) -> Box<dyn ReadRow + Send> {
        Box::new(Reader::new(Arc::clone(&self.mapping), header))
    }
}
