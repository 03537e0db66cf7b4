//! What is computed from.

use chrono::NaiveDate;
use uuid::Uuid;

use crate::accelerator::Recognized;
use crate::billing::charge::ChargeKey;
use crate::money::Decimal;

/// What a key of a bill cost on a day.
#[derive(Clone, Debug)]
pub struct BilledDay {
    pub key_id: Uuid,
    pub key: ChargeKey,
    pub resource_id: String,
    /// A JSON object.
    pub tags: String,
    pub day: NaiveDate,
    /// It belongs to no single day: a fee of the month.
    pub is_whole_period: bool,
    pub billed: Decimal,
    pub effective: Decimal,
    pub list: Decimal,
    pub contracted: Decimal,
    /// In units of the key, of what was paid for.
    pub quantity: Decimal,
    /// The same of each hour of the day, of what names its hours. Empty where the key bears no accelerators, or machines were not asked
    /// for.
    pub hours: Vec<Decimal>,
    pub accelerator: Option<Recognized>,
}
