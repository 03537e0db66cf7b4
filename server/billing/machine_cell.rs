//! What a map in a cell says about a machine, remembered from row to row: CUR 2.0's `product`, FOCUS'
//! `SkuPriceDetails`, Azure's `AdditionalInfo`. Few distinct ones fill a file, and reading JSON is the dearest part of a row.

use super::json;
use super::row::{Column, Row};

#[derive(Default)]
pub(super) struct Machine {
    /// The cell it was read from, as the file writes it.
    cell: Vec<u8>,
    pub instance_type: String,
    pub accelerators: String,
    pub sku: String,
    pub region: String,
}

impl Machine {
    /// What the cell says; nothing where there is none.
    pub fn read(&mut self, row: &Row<'_>, column: Column, scratch: &mut Vec<u8>) -> &Self {
        let cell = row.raw(column);
        if cell != self.cell.as_slice() {
            self.cell.clear();
            self.cell.extend_from_slice(cell);
            let Self { instance_type, accelerators, sku, region, .. } = self;
            for text in [&mut *instance_type, accelerators, sku, region] {
                text.clear();
            }
            json::each(row.cell(column, scratch), |name, value| match name {
                "InstanceType" | "instance_type" => value.clone_into(instance_type),
                // Azure's, which it has no property of FOCUS for.
                "ServiceType" | "x_ServiceType" if instance_type.is_empty() => {
                    value.clone_into(instance_type);
                }
                "GpuCount" | "gpu" => value.clone_into(accelerators),
                "sku" => value.clone_into(sku),
                "region" | "region_code" => value.clone_into(region),
                _ => {}
            });
        }
        self
    }
}
