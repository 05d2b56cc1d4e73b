//! `decode.lanes`: which ways to decode are used, and how a picture is assigned to one of them.

use forebay_cuda::lane::LaneKind;
use forebay_pipeline::settings::Lanes;
use serde_json::Value;

/// Parses a command-line value: a single word, or names of lanes that are separated by commas.
pub fn parse_lanes(text: &str) -> Result<Lanes, String> {
    match text {
        "auto" | "fixed" => read(&text.into()),
        names => read(&names.split(',').map(str::trim).collect()),
    }
}

pub(super) fn read(value: &Value) -> Result<Lanes, String> {
    let allowed = || {
        let names = LaneKind::ALL.map(|kind| format!("\"{kind}\"")).join(", ");
        format!("\"auto\", \"fixed\", or a list of some of {names}, each once")
    };
    let kind = |value: &Value| LaneKind::ALL.into_iter().find(|kind| value.as_str() == Some(kind.name()));
    match value {
        Value::String(word) if word == "auto" => Ok(Lanes::Auto),
        Value::String(word) if word == "fixed" => Ok(Lanes::Fixed),
        Value::Array(names) if !names.is_empty() => {
            let kinds: Vec<_> = names.iter().map(kind).collect::<Option<_>>().ok_or_else(allowed)?;
            let twice = kinds.iter().enumerate().any(|(number, kind)| kinds[..number].contains(kind));
            if twice { Err(allowed()) } else { Ok(Lanes::Named(kinds)) }
        }
        _ => Err(allowed()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::decode::EXAMPLE;

    #[test]
    fn the_help_tells_of_every_lane() {
        let untold: Vec<_> =
            LaneKind::ALL.into_iter().filter(|kind| !EXAMPLE.contains(&format!("\"{kind}\""))).collect();
        assert_eq!(untold, []);
    }

    #[test]
    fn lanes_are_words_or_a_list_and_anything_else_says_what_is_allowed() {
        assert_eq!(read(&json!("auto")), Ok(Lanes::Auto));
        assert_eq!(read(&json!("fixed")), Ok(Lanes::Fixed));
        let both = Lanes::Named(vec![LaneKind::Hardware, LaneKind::Cpu]);
        assert_eq!(read(&json!(["hardware", "cpu"])), Ok(both));
        let all = LaneKind::ALL.map(LaneKind::name);
        assert_eq!(read(&json!(all)), Ok(Lanes::Named(LaneKind::ALL.to_vec())));
        assert_eq!(parse_lanes("fixed"), Ok(Lanes::Fixed));
        assert_eq!(parse_lanes("hardware, cpu"), read(&json!(["hardware", "cpu"])));
        assert!(parse_lanes("").is_err() && parse_lanes("hardware,gpu").unwrap_err().contains("hybrid"));
        assert!(!Lanes::default().want_gpu() && Lanes::Auto.want_gpu());
        for wrong in [json!([]), json!(["gpu"]), json!(["cpu", "cpu"]), json!("hardware"), json!(1)] {
            assert!(read(&wrong).unwrap_err().contains("hybrid"), "{wrong}");
        }
    }
}
