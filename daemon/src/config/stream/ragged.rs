//! `buckets = "ragged"`: each picture has a size of its own.

use forebay_pixels::Fit;
use serde_json::Value;

use super::super::table::Table;
use super::super::value::whole;

/// The rule.
const RULE: &str = "ragged";

/// What the key says.
#[derive(Clone, Debug)]
pub(super) struct RaggedKey {
    /// The number of pictures of a step is a multiple of it.
    pub(super) divisor: Option<u64>,
}

impl RaggedKey {
    /// What is done to the pictures before the transforms. A place has the room of its record.
    pub(super) const FIT: Fit = Fit::Ragged { pixels: 1 };

    /// Reads the key, if it asks for ragged pictures. Each mistake is reported.
    pub(super) fn read(table: &mut Table<'_, '_>) -> Option<Self> {
        let value = table.values().get("buckets")?;
        if value.get("rule").and_then(Value::as_str) == Some(RULE) {
            return table.section("buckets", |table| {
                table.take("rule", |_| Ok(()));
                Some(Self { divisor: table.take("divisor", whole(1..=1_u64 << 20)) })
            });
        }
        (value == RULE).then(|| {
            table.take("buckets", |_| Ok(()));
            Self { divisor: None }
        })
    }

    /// Places of a step, on all ranks together.
    ///
    /// # Errors
    /// They are no multiple of what the settings say.
    pub(super) fn places(&self, pictures: u32) -> Result<u32, String> {
        let divisor = self.divisor.unwrap_or(1);
        let is_multiple = u64::from(pictures).is_multiple_of(divisor);
        is_multiple
            .then_some(pictures)
            .ok_or_else(|| format!("Steps of {pictures} pictures are no multiple of {divisor}."))
    }
}
