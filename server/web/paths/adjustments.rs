//! Adjustments.

paths! {
    "/adjustments" => Adjustments;
    /// The form of a new one.
    "/adjustments/new" => NewAdjustment;
    /// The form that changes one.
    #[derive(Copy)]
    "/adjustments/{adjustment}" => OneAdjustment { adjustment: i64 };
    "/adjustments/{adjustment}/remove" => AdjustmentRemove { adjustment: i64 };
    /// Computes the adjustments of a bill again that somebody undid.
    "/adjustments/bills/{scope}/compute" => AdjustmentsCompute { scope: i64 };
}
