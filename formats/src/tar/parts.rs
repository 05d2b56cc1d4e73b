//! Which members of a sample become which columns.

use std::fmt;
use std::path::Path;

use forebay_sources::{Labels, Options, SourceError};

use super::member::KeptPart;
use crate::folder::EXTENSIONS;
use crate::loose::LooseValue;
use crate::npy::NpyArray;

/// What is taken where the user names nothing.
const IMAGES: [&str; 4] = ["jpg", "jpeg", "png", "webp"];
const LABELS: [&str; 1] = ["cls"];
/// Members that hold an integer as text, as `WebDataset` reads them.
const INTEGERS: [&str; 7] = ["cls", "cls2", "class", "count", "index", "inx", "id"];
/// Members that hold an array.
const NPY: &str = "npy";
/// Members whose form is not read. Their bytes would be of no use in a batch.
const UNREAD: [&str; 14] =
    ["npz", "pth", "pt", "pkl", "pickle", "pyd", "mp", "msg", "cbor", "ten", "tb", "gz", "bz2", "xz"];

/// All columns that samples give.
#[derive(Debug)]
pub(super) struct SampleColumns {
    pub images: SampleColumn,
    pub labels: Option<SampleColumn>,
    pub targets: Vec<SampleColumn>,
    pub masks: Vec<SampleColumn>,
}

/// A column, with the parts that may become it, the first one first.
#[derive(Debug)]
pub(super) struct SampleColumn {
    pub name: String,
    pub parts: Vec<SamplePart>,
    pub is_label: bool,
    /// The user named its parts.
    pub is_named: bool,
}

/// A member, or a value in it.
#[derive(Debug)]
pub(super) struct SamplePart {
    /// In lower case.
    pub suffix: String,
    /// Of a JSON object.
    pub key: Option<String>,
}

impl SampleColumns {
    /// What the user asked for.
    ///
    /// # Errors
    /// A column has no part, or one that cannot be read.
    pub(super) fn new(path: &Path, options: &Options) -> Result<Self, SourceError> {
        let column = |name: &str, default: &[&str]| {
            let named = options.columns.parts(name);
            let parts = named.as_deref().unwrap_or(default);
            SampleColumn {
                name: name.to_owned(),
                parts: parts.iter().map(|part| SamplePart::new(part)).collect(),
                is_label: name == "labels",
                is_named: named.is_some(),
            }
        };
        let targets: Vec<SampleColumn> = options.columns.targets().map(|(name, parts)| column(name, &parts)).collect();
        let images = column("images", &IMAGES);
        let labels = (options.labels != Labels::None).then(|| column("labels", &LABELS));
        for column in [&images].into_iter().chain(&labels).chain(&targets) {
            let wrong = |problem: String| SourceError::Columns {
                path: path.to_owned(),
                problem: format!("\"{}\" {problem}", column.name),
            };
            if column.parts.is_empty() {
                return Err(wrong("names no member. Examples are \"txt\", \"cls\" and \"json:width\".".into()));
            }
            for part in &column.parts {
                if let Some(problem) = part.problem(column.name == "images") {
                    return Err(wrong(problem));
                }
            }
        }
        let masks = options.masks.targets().map(|(name, parts)| mask(name, &parts)).collect::<Result<_, _>>()?;
        Ok(Self { images, labels, targets, masks })
    }

    /// What a scan keeps of a member with this suffix.
    pub(super) fn keeps(&self, suffix: &str) -> KeptPart {
        let is_one = |columns: &mut dyn Iterator<Item = &SampleColumn>| {
            columns.flat_map(|column| &column.parts).any(|part| part.suffix == suffix)
        };
        if is_one(&mut self.labels.iter().chain(&self.targets)) {
            KeptPart::All
        } else if is_one(&mut self.masks.iter()) {
            KeptPart::Head
        } else {
            KeptPart::Nothing
        }
    }
}

/// A column of masks.
fn mask(name: &str, parts: &[&str]) -> Result<SampleColumn, SourceError> {
    let column = SampleColumn {
        name: name.to_owned(),
        parts: parts.iter().map(|part| SamplePart::new(part)).collect(),
        is_label: false,
        is_named: true,
    };
    if column.parts.is_empty() || column.parts.iter().any(|part| part.key.is_some()) {
        let expected = "the suffix of a member that is a PNG, such as \"seg.png\"";
        return Err(SourceError::bad_option(&format!("masks.{name}"), &parts.join(";"), expected));
    }
    Ok(column)
}

impl SamplePart {
    fn new(part: &str) -> Self {
        let (suffix, key) = match part.split_once(':') {
            Some((suffix, key)) => (suffix, Some(key.to_owned())),
            None => (part, None),
        };
        Self { suffix: suffix.trim_start_matches('.').to_lowercase(), key }
    }

    /// Why it cannot be a part of a column.
    fn problem(&self, is_images: bool) -> Option<String> {
        let last = self.suffix.rsplit('.').next().unwrap_or_default();
        if is_images {
            return self.key.is_some().then(|| format!("cannot be \"{self}\": a picture is a member of its own."));
        }
        if EXTENSIONS.contains(&last) {
            return Some(format!(
                "cannot be \"{self}\": pictures are only read as images, or as masks (masks = {{...}}). Leave the column out."
            ));
        }
        let refused = UNREAD.contains(&last);
        refused
            .then(|| format!("cannot be \"{self}\": such members are not read. Store the values as JSON, text or npy."))
    }

    /// The value in a member with this content. A label may be any text.
    pub(super) fn cell(&self, content: &[u8], is_label: bool) -> Result<LooseValue, String> {
        match &self.key {
            Some(key) => LooseValue::of_json(content, key),
            None if self.suffix.rsplit('.').next() == Some(NPY) => NpyArray::parse(content).map(LooseValue::Array),
            None if !is_label && INTEGERS.contains(&self.suffix.as_str()) => LooseValue::of_integer(content),
            None => Ok(LooseValue::Text(content.to_vec())),
        }
    }
}

/// As the user would write it.
impl fmt::Display for SamplePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.suffix)?;
        self.key.as_ref().map_or(Ok(()), |key| write!(f, ":{key}"))
    }
}

/// Its parts, in quotes.
impl fmt::Display for SampleColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.parts.iter().map(SamplePart::to_string).collect();
        write!(f, "\"{}\"", parts.join(";"))
    }
}
