//! A size that pictures must have.

use serde::Deserialize;

use super::shape::Size;
use crate::plan::Plan;

/// Refuses every picture that does not have this size, and leaves the others as they are.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectSize {
    /// The size; one number means a square.
    pub size: Size,
}

impl ExpectSize {
    pub(super) fn plan(&self, plan: &mut Plan) {
        let (height, width) = self.size.square();
        plan.expect(width, height);
    }
}
