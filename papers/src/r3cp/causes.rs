//! The reasons that some claims do not hold here.

use crate::remark::Remark;

/// All known causes, at most one for each claim.
pub const CAUSES: &[Remark] = &[];
