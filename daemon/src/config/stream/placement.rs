//! `placement`: where the pixels of a stream's batches are.

use forebay_road::settings::Placement;
use serde_json::Value;

/// `"host"`, `"auto"` or `"gpu:0"`.
pub(super) fn read(value: &Value) -> Result<Placement, String> {
    let number = |word: &str| {
        word.strip_prefix("gpu:").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
    };
    let found = value.as_str().and_then(|word| match word {
        "host" => Some(Placement::Host),
        "auto" => Some(Placement::Auto),
        word => number(word).map(Placement::Gpu),
    });
    found.ok_or_else(|| "\"host\", \"auto\", or a GPU by its number, such as \"gpu:0\"".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn placements_are_words_or_a_gpu_by_its_number() {
        for word in ["host", "auto", "gpu:0", "gpu:12"] {
            assert_eq!(read(&json!(word)).unwrap().to_string(), word);
        }
        for wrong in [json!("gpu"), json!("gpu:"), json!("gpu:-1"), json!("gpu:+1"), json!("gpu:99999999999"), json!(0)]
        {
            assert!(read(&wrong).unwrap_err().contains("\"gpu:0\""), "{wrong}");
        }
    }
}
