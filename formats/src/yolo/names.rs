//! The names of classes in a `data.yaml`, and what it says of keypoints. Only the forms that tools write are read: a list or
//! a map, in lines or in brackets. All else of YAML is refused, with the option that replaces it.

/// The names that the text gives, in order.
///
/// # Errors
/// It has no names, or they have another form.
pub(super) fn parse(text: &str) -> Result<Vec<String>, String> {
    let entries = entries(text, "names")?.ok_or("no line begins with \"names:\"")?;
    let mut names = Vec::new();
    for (place, (number, name)) in entries.into_iter().enumerate() {
        if number.is_some_and(|number| number != place) {
            return Err(format!(
                "\"names\" has no class {place} where it should be: classes count from 0 without gaps"
            ));
        }
        names.push(name);
    }
    if names.is_empty() { Err("\"names\" is empty".into()) } else { Ok(names) }
}

/// The list of numbers that the text has under this key; nothing if it has no such key.
///
/// # Errors
/// It is no list of whole numbers.
pub(super) fn numbers(text: &str, key: &str) -> Result<Option<Vec<usize>>, String> {
    let Some(entries) = entries(text, key)? else { return Ok(None) };
    let number = |(number, word): (Option<usize>, String)| word.parse().ok().filter(|_| number.is_none());
    let numbers: Option<Vec<usize>> = entries.into_iter().map(number).collect();
    numbers.map(Some).ok_or_else(|| format!("\"{key}\" is not a list of whole numbers"))
}

/// A list or a map under a key at the begin of a line.
type Entries = Vec<(Option<usize>, String)>;

fn entries(text: &str, key: &str) -> Result<Option<Entries>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines();
    let of_key = |line: &'_ str| line.strip_prefix(key).and_then(|rest| rest.strip_prefix(':')).map(str::to_owned);
    let Some(first) = lines.by_ref().find_map(of_key) else { return Ok(None) };
    let first = without_comment(&first).trim();
    match first.chars().next() {
        None => in_lines(lines, key).map(Some),
        Some(open @ ('[' | '{')) => {
            let close = if open == '[' { ']' } else { '}' };
            let mut inside = first[1..].to_owned();
            let mut end = inside.find(close);
            while end.is_none() {
                let line = lines.next().ok_or_else(|| format!("\"{key}\" has no \"{close}\""))?;
                let line = without_comment(line).trim();
                inside.push(' ');
                end = line.find(close).map(|end| inside.len() + end);
                inside.push_str(line);
            }
            split(&inside[..end.unwrap_or(inside.len())], open == '{', key).map(Some)
        }
        Some(_) => Err(format!("\"{key}\" is neither a list nor a map")),
    }
}

/// Names in lines of their own: `- cat`, or `0: cat`.
fn in_lines<'a>(lines: impl Iterator<Item = &'a str>, key: &str) -> Result<Entries, String> {
    let mut entries = Vec::new();
    for line in lines {
        let line = without_comment(line);
        let entry = line.trim();
        if entry.is_empty() {
            continue;
        }
        if let Some(name) = entry.strip_prefix("- ") {
            entries.push((None, scalar(name, key)?));
        } else if line.starts_with([' ', '\t']) {
            entries.push(numbered(entry, key)?);
        } else {
            break;
        }
    }
    Ok(entries)
}

/// Names between brackets.
fn split(inside: &str, numbers: bool, key: &str) -> Result<Entries, String> {
    let parts = inside.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| if numbers { numbered(part, key) } else { Ok((None, scalar(part, key)?)) }).collect()
}

fn numbered(entry: &str, key: &str) -> Result<(Option<usize>, String), String> {
    let no_number = || format!("\"{key}\" has \"{entry}\", which has no number");
    let (number, name) = entry.split_once(':').ok_or_else(no_number)?;
    let number = scalar(number, key)?.parse().map_err(|_| no_number())?;
    Ok((Some(number), scalar(name, key)?))
}

/// A plain text, or one in quotes without escapes.
fn scalar(text: &str, key: &str) -> Result<String, String> {
    let text = text.trim();
    let quoted = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    let plain = quoted.unwrap_or(text);
    let is_special = quoted.is_none() && plain.starts_with(['[', '{', '&', '*', '!', '|', '>', '\'', '"', '-']);
    if plain.is_empty() || is_special || plain.contains(['\\', '\'', '"']) {
        return Err(format!("\"{key}\" has \"{text}\", which is not a plain name"));
    }
    Ok(plain.to_owned())
}

fn without_comment(line: &str) -> &str {
    if line.starts_with('#') { "" } else { line.split_once(" #").map_or(line, |(before, _)| before) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_that_tools_write_are_read() {
        for text in [
            "names: ['cat', \"big dog\", owl]",
            "train: x\nnames: [ cat, # the first\n  big dog,\n  owl\n]\nnc: 3",
            "names:\n- cat\n- big dog\n- 'owl'\nnc: 3\n- not this",
            "names:\r\n  - cat\r\n\r\n  - big dog # two words\r\n  - owl",
            "# all\nnames:\n  0: cat\n  1: big dog\n  2: \"owl\"\ndownload: |\n  3: x",
            "names: {0: cat, 1: big dog, 2: owl}",
        ] {
            assert_eq!(parse(text).unwrap(), ["cat", "big dog", "owl"], "{text}");
        }
    }

    #[test]
    fn lists_of_numbers_are_read_in_the_same_forms() {
        for text in ["kpt_shape: [5, 3] # points", "x: y\nkpt_shape:\n  - 5\n  - 3\nnc: 1", "kpt_shape: [\n5,\n 3]"] {
            assert_eq!(numbers(text, "kpt_shape"), Ok(Some(vec![5, 3])), "{text}");
        }
        assert_eq!(numbers("kpt_shapes: [1]\n kpt_shape: [2]", "kpt_shape"), Ok(None));
        for text in ["kpt_shape: 5", "kpt_shape: [a]", "kpt_shape: [1.5]", "kpt_shape: {0: 5}", "kpt_shape: [-1]"] {
            assert!(numbers(text, "kpt_shape").unwrap_err().contains("\"kpt_shape\""), "{text}");
        }
    }

    #[test]
    fn other_forms_are_refused() {
        for text in [
            "",
            "train: x\nfilenames: [a]",
            "dataset:\n  names: [a]",
            "{\"names\": [\"a\"]}",
            "names: cat",
            "names: [a, b",
            "names: []",
            "names:\nnc: 3",
            "names: {1: a}",
            "names:\n  0: a\n  2: b",
            "names:\n  x: a",
            "names: [&a cat]",
            "names: ['a, b']",
            "names: [\"a\\n\"]",
            "names:\n  cat",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        crate::mutations::each(b"names:\n  0: cat\n  1: 'dog'\nx: [a, b]\n", 5000, |bytes| {
            if let Ok(names) = parse(&String::from_utf8_lossy(bytes)) {
                assert!(names.iter().all(|name| !name.is_empty()));
            }
        });
    }
}
