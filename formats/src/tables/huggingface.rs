//! What Hugging Face's `datasets` notes beside a table: the features, and with them the names of the classes.

use serde_json::Value;

/// Where the schema's metadata has it.
pub(super) const KEY: &str = "huggingface";

/// The class names of a column, from the text under the metadata's key `huggingface`, or of `dataset_info.json`.
pub(super) fn class_names(text: &str, column: &str) -> Vec<String> {
    let Ok(noted) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let info = noted.get("info").unwrap_or(&noted);
    let feature = info.get("features").and_then(|features| features.get(column));
    let Some(feature) = feature.filter(|feature| feature.get("_type").is_some_and(|kind| kind == "ClassLabel")) else {
        return Vec::new();
    };
    let names = feature.get("names").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_are_those_of_a_class_label_and_of_no_other_feature() {
        let features =
            r#"{"features": {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}, "n": {"_type": "Value"}}}"#;
        let within = format!(r#"{{"info": {features}}}"#);
        for text in [features, &within] {
            assert_eq!(class_names(text, "label"), ["cat", "dog"]);
            assert!(class_names(text, "n").is_empty());
            assert!(class_names(text, "other").is_empty());
        }
        for text in ["", "{", "[]", r#"{"features": 3}"#, r#"{"features": {"label": {"_type": "ClassLabel"}}}"#] {
            assert!(class_names(text, "label").is_empty(), "{text}");
        }
    }
}
