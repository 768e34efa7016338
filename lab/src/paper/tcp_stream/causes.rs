//! Why some claims do not hold here: what was measured beside the evaluation itself.

use crate::paper::cause::Cause;

/// All that are known, each claim under one of them at most.
pub const CAUSES: &[Cause] = &[];
