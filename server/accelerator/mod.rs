//! Accelerators: which charges pay for GPUs, which model, how many.
