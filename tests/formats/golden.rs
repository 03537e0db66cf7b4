//! Every folder under `tests/fixtures/exports/` is one export of our own; what it amounts to is a snapshot.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use gpuledger::billing::{self, Charge};

use super::read;
use crate::support::files;

#[test]
fn fixtures_come_to_what_they_came_to() {
    let mut seen = 0;
    for path in files::our_exports() {
        let case = path.parent().unwrap();
        let name = format!("{}__{}", name(case.parent().unwrap()), name(case));
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, described(&path));
        });
        seen += 1;
    }
    assert!(seen > 10, "fixtures are found");
}

fn name(path: &std::path::Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// An export in words.
fn described(path: &Path) -> String {
    let export = match billing::open("input.csv", File::open(path).unwrap(), &billing::ReadAs::any()) {
        Ok(export) => export,
        Err(refusal) => return format!("refused: {refusal}"),
    };
    let mut out = format!("{} ({:?})\n", export.format().name(), export.accumulation());
    let columns = export.columns();
    for (title, list) in
        [("unknown", &columns.unknown), ("absent", &columns.absent), ("note", &columns.notes)]
    {
        for item in list {
            writeln!(out, "{title}: {item}").unwrap();
        }
    }
    let reading = read(export).unwrap();
    writeln!(
        out,
        "{} rows, billed {}, effective {}, list {}, contracted {}",
        reading.rows,
        reading.billed(),
        reading.effective(),
        reading.list(),
        reading.contracted()
    )
    .unwrap();
    for charge in &reading.charges {
        out.push('\n');
        out.push_str(&charge_line(charge));
    }
    out.push('\n');
    for rejection in &reading.rejected {
        writeln!(out, "rejected: {rejection}").unwrap();
    }
    for reason in &reading.skipped {
        writeln!(out, "skipped: {reason}").unwrap();
    }
    for remark in &reading.remarks {
        writeln!(out, "remark: {remark}").unwrap();
    }
    out
}

/// Every field that holds something.
fn charge_line(charge: &Charge) -> String {
    let key = &charge.key;
    let mut out = format!("{} {}", key.category.as_str(), key.pricing.as_str()).trim().to_owned();
    if key.is_correction {
        out.push_str(" correction");
    }
    if charge.lacks_cost {
        out.push_str(" without cost");
    }
    if charge.is_metered {
        out.push_str(" metered");
    }
    out.push('\n');
    let Charge { billed_cost, effective_cost, list_cost, contracted_cost, .. } = charge;
    writeln!(out, "  cost: {billed_cost} billed, {effective_cost} effective, {list_cost} list, {contracted_cost} contracted").unwrap();
    let minutes = |time: chrono::DateTime<chrono::Utc>| time.format("%Y-%m-%dT%H:%M").to_string();
    let quantity = charge.consumed_quantity.map(|quantity| quantity.to_string()).unwrap_or_default();
    let tags: Vec<String> = charge.tags.iter().map(|(key, value)| format!("{key}={value:?}")).collect();
    for (title, value) in [
        (
            "period",
            format!(
                "{} to {} in {}",
                minutes(charge.period.start),
                minutes(charge.period.end),
                charge.billing_month()
            ),
        ),
        ("account", format!("{} {} / {}", key.provider, key.billing_account, key.sub_account)),
        ("service", format!("{} [{}]", key.service, key.service_category)),
        ("what", [key.region.as_str(), &key.sku, &key.meter].join(" | ")),
        ("machine", format!("{} x{}", key.instance_type, key.stated_accelerators)),
        ("quantity", format!("{quantity} {}", key.unit)),
        ("currency", key.currency.clone()),
        ("commitment", key.commitment_discount_id.clone()),
        ("resource", charge.resource_id.clone()),
        ("invoice", charge.invoice_id.clone()),
        ("tags", tags.join(" ")),
    ] {
        if value.chars().any(char::is_alphanumeric) && value != " x" {
            writeln!(out, "  {title}: {value}").unwrap();
        }
    }
    out
}
