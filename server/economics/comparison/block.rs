//! What blocks serve.
//!
//! A block serves what is asked for in its hours before anything else does, and first what cannot be interrupted; the rest
//! goes to the other layers. It is paid at the start of the month in which it begins, whether it is used or not. What is paid
//! for hours after the last month is no cost of these, and counts as sold then, as with commitments.

use super::entered::Block;
use crate::economics::profile::{Hour, MONTH, PARTS, Profile};

/// What blocks leave of a demand. Of each hour that one serves it is noted which block, which hour, and how many
/// thousandths of a GPU.
pub(super) fn served(blocks: &[Block], demand: &Profile, mut tell: impl FnMut(usize, usize, u64)) -> Profile {
    let mut hours = demand.hours().to_vec();
    let all = hours.len();
    let months = u32::try_from(all.div_ceil(MONTH)).unwrap_or(u32::MAX);
    for (at, block) in blocks.iter().enumerate() {
        for month in block.bought(months) {
            let lasts = block.lasts(month, all);
            for (n, hour) in hours.iter_mut().enumerate().take(lasts.end).skip(lasts.start) {
                tell(at, n, take(hour, u64::from(block.gpus) * PARTS));
            }
        }
    }
    Profile::from(hours)
}

/// Takes up to so much of what an hour asks for, and tells how much.
fn take(hour: &mut Hour, parts: u64) -> u64 {
    let firm = hour.firm.min(parts);
    let interruptible = hour.interruptible.min(parts - firm);
    hour.firm -= firm;
    hour.interruptible -= interruptible;
    firm + interruptible
}
