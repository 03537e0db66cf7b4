//! `/changes`: what people changed, and what they decide about it.

use crate::changes::Kind;

paths! {
    "/changes" => Changes;
    "/asset-register/changes" => AssetRegisterChanges;
    "/prices/changes" => PriceChanges;
    /// A change of the allocation.
    #[derive(Copy)]
    "/changes/{change}" => Change { change: i64 };
    "/asset-register/changes/{change}" => AssetRegisterChange { change: i64 };
    /// A change of the prices, or what a file would change.
    "/prices/changes/{change}" => PriceChange { change: i64 };
    /// A change of the rate cards, with what it moves.
    "/rate-cards/changes/{change}" => RateCardChange { change: i64 };
    /// By whoever enters rates, who need not be an administrator.
    "/rate-cards/changes/{change}/apply" => RateCardApply { change: i64 };
    "/rate-cards/changes/{change}/undo" => RateCardUndo { change: i64 };
    /// A change of the adjustments, with what it moves.
    "/adjustments/changes/{change}" => AdjustmentChange { change: i64 };
    "/adjustments/changes/{change}/apply" => AdjustmentApply { change: i64 };
    "/adjustments/changes/{change}/undo" => AdjustmentUndo { change: i64 };
    /// Hands a draft to whoever decides.
    "/changes/{kind}/{change}/propose" => ChangePropose { kind: Kind, change: i64 };
    "/changes/{kind}/{change}/apply" => ChangeApply { kind: Kind, change: i64 };
    "/changes/{kind}/{change}/discard" => ChangeDiscard { kind: Kind, change: i64 };
    "/changes/{kind}/{change}/undo" => ChangeUndo { kind: Kind, change: i64 };
    /// Undoes what meters were said to read.
    "/changes/readings/{change}/undo" => ReadingsUndo { change: i64 };
}
