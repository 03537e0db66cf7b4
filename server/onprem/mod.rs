//! On-premises clusters: what our own racks cost, month by month.

pub mod depreciation;
pub mod power;
