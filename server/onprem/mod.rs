//! On-premises clusters: what our own racks cost, month by month.

pub mod power;
