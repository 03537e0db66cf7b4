//! A cluster's month as a file: FOCUS 1.2, with the columns that data centres need. Pure.
//!
//! Site is RegionId, a unit of hardware is ResourceId, what was paid is BilledCost and what belongs to the month is
//! EffectiveCost, as the FOCUS working group maps data centres; list and contracted cost are the effective one, since
//! nobody else sells it. `x_PricingCategory` says that it is owned, `x_Basis` what a row rests on, and `x_Input` which
//! entry of the asset register it comes from. The bytes follow from the lines alone, so that the same month is the same file.

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::bill_totals::Sha;
use super::cost_lines::{Amounts, Component, Line, Machine};
use super::entry::{Asset, Cluster};
use crate::accelerator::{Accelerators, recognize};
use crate::billing::{ChargeCategory, ChargeKey};
use crate::period::BillingMonth;

/// FOCUS ProviderName of everything that is our own.
pub const PROVIDER: &str = "On-premises";

const COLUMNS: [&str; 33] = [
    "BillingAccountId",
    "BillingAccountName",
    "BillingCurrency",
    "BillingPeriodStart",
    "BillingPeriodEnd",
    "ChargePeriodStart",
    "ChargePeriodEnd",
    "ChargeCategory",
    "ChargeDescription",
    "ChargeFrequency",
    "BilledCost",
    "EffectiveCost",
    "ListCost",
    "ContractedCost",
    "ConsumedQuantity",
    "ConsumedUnit",
    "PricingCategory",
    "ProviderName",
    "PublisherName",
    "InvoiceIssuerName",
    "InvoiceId",
    "RegionId",
    "ResourceId",
    "ResourceName",
    "ServiceCategory",
    "ServiceName",
    "SkuId",
    "SkuMeter",
    "SkuPriceDetails",
    "Tags",
    "x_PricingCategory",
    "x_Basis",
    "x_Input",
];

/// The file of a month, as it is submitted.
pub struct MonthFile {
    pub bytes: Vec<u8>,
    pub sha256: Sha,
}

impl MonthFile {
    pub(super) fn of(cluster: &Cluster, month: BillingMonth, lines: &[Line], is_over: bool) -> Self {
        let bytes = bill(cluster, month, lines, is_over);
        Self { sha256: Sha256::digest(&bytes).into(), bytes }
    }
}

/// The file of a cluster's month. A month that is not over has no invoice, so that it counts as provisional.
pub fn bill(cluster: &Cluster, month: BillingMonth, lines: &[Line], is_over: bool) -> Vec<u8> {
    let mut file = Vec::new();
    #[expect(
        clippy::expect_used,
        reason = "each row is an array as long as the header, and memory takes them all"
    )]
    write(&mut file, cluster, month, lines, is_over).expect("a bill is written to memory");
    file
}

fn write(
    file: &mut Vec<u8>,
    cluster: &Cluster,
    month: BillingMonth,
    lines: &[Line],
    is_over: bool,
) -> Result<(), csv::Error> {
    let mut file = csv::Writer::from_writer(file);
    file.write_record(COLUMNS)?;
    let invoice = if is_over { format!("{}-{month}", cluster.handle) } else { String::new() };
    let at = |day: chrono::NaiveDate| format!("{day}T00:00:00Z");
    let whole = month.days();
    let (begins, ends) = (at(whole.start), at(whole.end));
    for line in lines {
        let currency = line.currency.to_string();
        let (from, until) = (at(line.days.start), at(line.days.end));
        let machine = line.machine.as_ref().map(instance_type);
        let details = line.machine.as_ref().zip(machine.as_ref()).map(|(it, name)| {
            json!({ "InstanceType": name, "GpuCount": it.accelerators.to_string() }).to_string()
        });
        let mut tags = serde_json::Map::new();
        for (key, value) in &line.tags {
            tags.insert(key.clone(), value.clone().into());
        }
        tags.insert("cluster".to_owned(), cluster.handle.clone().into());
        let tags = serde_json::Value::Object(tags).to_string();
        let input = line.input.to_string();
        for (resource, Amounts { billed, effective, quantity }) in line.parts() {
            let resource = resource.unwrap_or_default();
            let (quantity, unit) =
                quantity.map(|(quantity, unit)| (quantity.to_string(), unit)).unwrap_or_default();
            let (billed, effective) = (billed.to_string(), effective.to_string());
            let record: [&str; COLUMNS.len()] = [
                &cluster.handle,
                &cluster.name,
                &currency,
                &begins,
                &ends,
                &from,
                &until,
                line.component.category(),
                &line.description,
                line.component.frequency(),
                &billed,
                &effective,
                &effective,
                &effective,
                &quantity,
                unit,
                "Other",
                PROVIDER,
                PROVIDER,
                PROVIDER,
                &invoice,
                &cluster.site,
                &resource,
                &resource,
                line.component.service_category(),
                line.component.name(),
                &line.name,
                // A meter for everything: what describes one row is no part of what many have in common.
                machine.as_deref().unwrap_or_else(|| line.component.name()),
                details.as_deref().unwrap_or_default(),
                &tags,
                "Owned",
                line.basis.as_str(),
                &input,
            ];
            file.write_record(record)?;
        }
    }
    file.flush()?;
    Ok(())
}

/// `8x H100 SXM`: what the hours are of is decided by these words alone, whatever people call the machine.
fn instance_type(machine: &Machine) -> String {
    format!("{}x {}", machine.accelerators, machine.accelerator)
}

/// How many accelerators the ledger counts for an hour of an asset's unit, by what its bill says.
pub(super) fn counted(asset: &Asset) -> Option<Accelerators> {
    let machine = Machine {
        model: asset.model.clone(),
        accelerator: asset.accelerator.clone(),
        accelerators: asset.accelerators,
    };
    let name = instance_type(&machine);
    let key = ChargeKey {
        provider: PROVIDER.to_owned(),
        service: Component::Depreciation.name().to_owned(),
        instance_type: name.clone(),
        meter: name,
        stated_accelerators: asset.accelerators.to_string(),
        category: ChargeCategory::Usage,
        unit: "Hours".to_owned(),
        ..ChargeKey::default()
    };
    recognize(&key).map(|found| found.per_unit)
}

impl Component {
    /// FOCUS ChargeCategory.
    fn category(self) -> &'static str {
        match self {
            Self::Purchase => "Purchase",
            Self::Disposal => "Adjustment",
            _ => "Usage",
        }
    }

    /// FOCUS ChargeFrequency.
    fn frequency(self) -> &'static str {
        match self {
            Self::Purchase | Self::Disposal => "One-Time",
            Self::Depreciation | Self::Energy => "Usage-Based",
            _ => "Recurring",
        }
    }

    /// FOCUS ServiceCategory.
    fn service_category(self) -> &'static str {
        match self {
            Self::Purchase | Self::Depreciation | Self::Lease | Self::Disposal => "Compute",
            Self::Links => "Networking",
            Self::Licences => "Developer Tools",
            _ => "Other",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::asset_register::AssetRegister;
    use super::super::cost_lines::lines;
    use super::super::entry::Entry;
    use super::super::sheet::Kind;
    use super::super::summary::{MonthSummary, owned_hours};
    use super::super::testing::{asset_register, entry, month, of_a, try_entry};
    use super::*;
    use crate::accelerator::{accelerator_hours, recognize};
    use crate::billing::{self, Charge, PricingCategory, Step};
    use crate::money::{Currency, Decimal, number};

    /// Two days of a node of eight, a person, a thing that was sold.
    fn small() -> AssetRegister {
        of_a([
            entry(
                Kind::Assets,
                "in_service=2026-01-30|count=1|model=DGX H100|idle_kw=1|load_kw=2|tags=team=a \"b\"",
            ),
            entry(
                Kind::Assets,
                "name=switch|what=fabric|accelerators=|accelerator=|in_service=2026-01-31|count=2",
            ),
            entry(Kind::Events, "asset=switch|units=2|day=2026-01-31|what=disposal|proceeds=36000"),
            entry(Kind::Tariffs, "price_per_kwh=0.10"),
            entry(Kind::Power, "value=1.25"),
            entry(Kind::Staff, "role=ops, nights|fte=0.5|loaded_cost=120000"),
        ])
    }

    fn file_of(asset_register: &AssetRegister, is_over: bool) -> Vec<u8> {
        let january = month("2026-01");
        let lines = lines(asset_register, &[], "a", january);
        bill(asset_register.cluster("a").unwrap(), january, &lines, is_over)
    }

    fn read(file: &[u8]) -> Vec<Charge> {
        let mut export =
            billing::open("a-2026-01.csv", Cursor::new(file.to_vec()), &billing::ReadAs::any()).unwrap();
        assert_eq!(export.format().name(), "focus");
        let (mut charges, mut charge) = (Vec::new(), Charge::default());
        while let Some(step) = export.next(&mut charge).unwrap() {
            match step {
                Step::Charge => charges.push(charge.clone()),
                Step::Rejected(rejection) => panic!("{rejection}"),
                Step::Skipped(reason) => panic!("{reason}"),
            }
        }
        charges
    }

    #[test]
    fn a_small_month_is_this_file() {
        let file = String::from_utf8(file_of(&small(), true)).unwrap();
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!("bill__small_month", file);
        });
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let asset_register = small();
        let lines = lines(&asset_register, &[], "a", month("2026-01"));
        let charges = read(&file_of(&asset_register, true));
        let rows: Vec<_> =
            lines.iter().flat_map(|line| line.parts().map(move |(unit, part)| (line, unit, part))).collect();
        assert_eq!(charges.len(), rows.len());
        for (charge, (line, unit, part)) in charges.iter().zip(rows) {
            let costs = [charge.effective_cost, charge.list_cost, charge.contracted_cost];
            assert_eq!((charge.billed_cost, costs), (part.billed, [part.effective; 3]));
            assert_eq!(charge.consumed_quantity, part.quantity.map(|(quantity, _)| quantity));
            assert_eq!(charge.key.service, line.component.name());
            assert_eq!(charge.key.pricing, PricingCategory::Owned);
            assert_eq!((charge.key.provider.as_str(), charge.key.billing_account.as_str()), (PROVIDER, "a"));
            assert_eq!((charge.key.region.as_str(), charge.invoice_id.as_str()), ("fra", "a-2026-01"));
            assert_eq!(charge.resource_id, unit.unwrap_or_default());
            assert_eq!(charge.billing_month(), month("2026-01"));
            assert_eq!(charge.tags.get("cluster"), Some("a"));
        }
        let summary = MonthSummary::of(month("2026-01"), &lines, &Currency::exactly("USD"));
        let sum = |cost: fn(&Charge) -> Decimal| charges.iter().map(cost).sum::<Decimal>();
        assert_eq!(sum(|it| it.effective_cost), summary.effective);
        assert_eq!(sum(|it| it.billed_cost), summary.billed);
        assert!(read(&file_of(&asset_register, false)).iter().all(|charge| charge.invoice_id.is_empty()));
    }

    #[test]
    fn its_nodes_are_recognized_with_as_many_accelerators_as_they_have() {
        for (model, accelerator, accelerators, expected) in [
            ("DGX H100", "H100 SXM", 8, "H100"),
            ("", "H100 SXM", 8, "H100"),
            ("8x MI300X", "MI300X", 8, "MI300X"),
            ("HGX H200", "H200 SXM", 8, "H200"),
            ("DGX B200", "B200 SXM", 8, "B200"),
            ("DGX A100 80 GB", "A100 SXM4 80GB", 8, "A100"),
            ("rack, liquid", "H100 PCIe", 4, "H100"),
        ] {
            let asset_register = of_a([entry(
                Kind::Assets,
                &format!("model={model}|accelerator={accelerator}|accelerators={accelerators}"),
            )]);
            let charges = read(&file_of(&asset_register, true));
            let mut hours = Decimal::ZERO;
            for charge in charges.iter().filter(|charge| charge.is_metered) {
                let found = recognize(&charge.key).unwrap_or_else(|| panic!("{model}: {:?}", charge.key));
                assert_eq!(found.model.name, expected, "{model}");
                let parts = charge.consumed_quantity.unwrap().times(found.per_unit.parts());
                hours += accelerator_hours(parts.times(found.seconds_per_unit.into()), 6);
            }
            let owned = owned_hours(&lines(&asset_register, &[], "a", month("2026-01")));
            assert_eq!(hours, owned, "{model}");
            assert_eq!(owned, number("1488").times(accelerators), "{model}");
        }
    }

    #[test]
    fn the_same_month_is_the_same_bytes() {
        assert_eq!(file_of(&small(), true), file_of(&small(), true));
        let renumbered = AssetRegister { entries: small().entries.into_iter().rev().collect() };
        assert_eq!(file_of(&renumbered, true), file_of(&small(), true));
        assert_ne!(file_of(&small(), true), file_of(&small(), false), "a month that goes on is another file");
    }

    /// A kind of entry with a text that a spreadsheet would compute in each field that takes one, as far as the field
    /// lets it in; else with that text behind a letter.
    fn tempting(kind: Kind, pairs: &str, names: &[&str], sign: &str) -> Entry {
        let mut taken = pairs.to_owned();
        for name in names {
            let texts = [format!("{sign}1+cmd|' /C calc'!A0"), format!("x{sign}1")];
            let with = |text: &String| format!("{taken}|{name}={}", text.replace('|', ""));
            let text = texts.iter().find(|text| try_entry(kind, &with(text)).is_ok());
            taken = with(text.unwrap_or_else(|| panic!("{name} takes neither")));
        }
        entry(kind, taken.trim_start_matches('|'))
    }

    #[test]
    fn no_cell_of_it_is_a_formula() {
        for sign in ["=", "+", "-", "@", "＝", "＋", "－", "＠", " ="] {
            let asset_register = asset_register([
                tempting(Kind::Clusters, "", &["name", "site"], sign),
                tempting(Kind::Assets, "idle_kw=1|load_kw=2", &["name", "model", "accelerator"], sign),
                tempting(Kind::Assets, "what=fabric|accelerators=|accelerator=", &["name", "model"], sign),
                entry(Kind::Assets, &format!("name=tagged|tags=k={sign}v")),
                tempting(Kind::Tariffs, "price_per_kwh=-0.10|demand_per_kw=10", &["name"], sign),
                tempting(Kind::Staff, "fte=0.5|loaded_cost=120000", &["role"], sign),
                tempting(Kind::StaffHours, "hours=2|hourly_cost=90", &["role"], sign),
                tempting(Kind::Costs, "what=insurance|amount=-100|every=year", &["name"], sign),
                tempting(
                    Kind::Colocation,
                    "contracted_kw=10|price_per_kw=150|includes_energy=no",
                    &["name"],
                    sign,
                ),
            ]);
            let file = file_of(&asset_register, true);
            let mut reader = csv::Reader::from_reader(file.as_slice());
            let mut tempted = 0;
            for record in reader.records() {
                for cell in &record.unwrap() {
                    let is_number = cell.parse::<Decimal>().is_ok();
                    tempted += usize::from(cell.contains(sign.trim()) && !is_number);
                    let begins = cell.trim_start_matches(' ').chars().next();
                    let is_formula = begins.is_some_and(|it| "=+-@＝＋－＠\t\r".contains(it));
                    assert!(is_number || !is_formula, "{sign:?}: {cell}");
                }
            }
            assert!(tempted > 100, "{sign:?}: {tempted} cells have it somewhere");
        }
    }
}
