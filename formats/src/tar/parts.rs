//! Which members of a sample become which columns.

use std::fmt;
use std::io::Read;
use std::path::Path;

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use forebay_sources::{Labels, Options, SourceError};

use super::member::{KeptPart, MOST_KEPT};
use super::msgpack;
use crate::folder::EXTENSIONS;
use crate::label_column::label_in_json;
use crate::loose::LooseValue;
use crate::npy::NpyArray;

/// What is taken where the user names nothing.
const IMAGES: [&str; 4] = ["jpg", "jpeg", "png", "webp"];
const LABELS: [&str; 1] = ["cls"];
/// Members that hold an integer as text, as `WebDataset` reads them.
const INTEGERS: [&str; 7] = ["cls", "cls2", "class", "count", "index", "inx", "id"];
/// Members that hold an array.
const NPY: &str = "npy";
/// Members that hold values as `MessagePack`.
const MSGPACK: [&str; 3] = ["mp", "msgpack", "msg"];
/// How the suffixes of members end that are compressed by themselves.
const COMPRESSED: [&str; 2] = [".gz", ".bz2"];
/// Members whose form is not read. Their bytes would be of no use in a batch.
const UNREAD: [&str; 12] = ["npz", "pth", "pt", "pkl", "pickle", "pyd", "cbor", "ten", "tb", "gz", "bz2", "xz"];
/// How a part begins that may be a value in a JSON object.
const IN_JSON: &str = "json.";

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
    /// Of a value in it, if it is JSON or `MessagePack`.
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
                parts: parts.iter().flat_map(|part| SamplePart::of(part)).collect(),
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
            // Where a part may be a value of a JSON, the member of that name is only looked for.
            for part in column.parts.iter().filter(|part| part.key.is_some() || !part.suffix.starts_with(IN_JSON)) {
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
    if column.parts.is_empty() || column.parts.iter().any(|part| part.key.is_some() || part.is_compressed()) {
        let expected = "the suffix of a member that is a PNG or an array, such as \"seg.png\" or \"seg.npy\"";
        return Err(SourceError::bad_option(&format!("masks.{name}"), &parts.join(";"), expected));
    }
    Ok(column)
}

impl SamplePart {
    /// What a part may be: `json.a.b` is the member of this name, or else the value `a.b` in the member `json`.
    fn of(part: &str) -> Vec<Self> {
        let own = Self::new(part);
        let key = part.trim_start_matches('.').strip_prefix(IN_JSON).filter(|_| own.key.is_none());
        let is_member = own.last() == NPY || own.is_compressed();
        let within =
            key.filter(|_| !is_member).map(|key| Self { suffix: "json".to_owned(), key: Some(key.to_owned()) });
        std::iter::once(own).chain(within).collect()
    }

    fn new(part: &str) -> Self {
        let (suffix, key) = match part.split_once(':') {
            Some((suffix, key)) => (suffix, Some(key.to_owned())),
            None => (part, None),
        };
        Self { suffix: suffix.trim_start_matches('.').to_lowercase(), key }
    }

    /// The suffix of what it holds, if it is compressed, or else its own.
    fn plain(&self) -> &str {
        COMPRESSED.iter().find_map(|end| self.suffix.strip_suffix(end)).unwrap_or(&self.suffix)
    }

    fn is_compressed(&self) -> bool {
        self.plain().len() < self.suffix.len()
    }

    /// The last part of that: what kind of values it holds.
    fn last(&self) -> &str {
        self.plain().rsplit('.').next().unwrap_or_default()
    }

    /// Why it cannot be a part of a column.
    fn problem(&self, is_images: bool) -> Option<String> {
        let last = self.last();
        if is_images {
            if self.is_compressed() {
                return Some(format!(
                    "cannot be \"{self}\": a picture that is compressed once more is not read. Write it without gzip or bzip2."
                ));
            }
            return self.key.is_some().then(|| format!("cannot be \"{self}\": a picture is a member of its own."));
        }
        if EXTENSIONS.contains(&last) {
            return Some(format!(
                "cannot be \"{self}\": pictures are only read as images, or as masks (masks = {{...}}). Leave the column out."
            ));
        }
        let refused = UNREAD.contains(&last);
        refused.then(|| {
            format!(
                "cannot be \"{self}\": such members are not read. Store the values as JSON, MessagePack, text or npy."
            )
        })
    }

    /// The value in a member with this content. A label may be any text.
    pub(super) fn cell(&self, content: &[u8], is_label: bool) -> Result<LooseValue, String> {
        let unpacked = self
            .is_compressed()
            .then(|| unpacked(content, self.suffix.rsplit('.').next() == Some("gz")))
            .transpose()?;
        let content = unpacked.as_deref().unwrap_or(content);
        let (plain, last) = (self.plain(), self.last());
        match &self.key {
            key if MSGPACK.contains(&last) => msgpack::value(content, key.as_deref()),
            Some(key) => LooseValue::of_json(content, key),
            None if is_label && last == "json" => Ok(LooseValue::Text(label_in_json(content)?)),
            None if last == NPY => NpyArray::parse(content).map(LooseValue::Array),
            None if !is_label && INTEGERS.contains(&plain) => LooseValue::of_integer(content),
            None => Ok(LooseValue::Text(content.to_vec())),
        }
    }
}

/// What a member holds that is compressed by itself: with gzip, or else with bzip2.
fn unpacked(content: &[u8], is_gzip: bool) -> Result<Vec<u8>, String> {
    let (name, decoder): (_, Box<dyn Read>) = if is_gzip {
        ("gzip", Box::new(MultiGzDecoder::new(content)))
    } else {
        ("bzip2", Box::new(MultiBzDecoder::new(content)))
    };
    let mut unpacked = Vec::new();
    let read = decoder.take(MOST_KEPT + 1).read_to_end(&mut unpacked);
    let begins_so = content.starts_with(if is_gzip { b"\x1f\x8b" } else { b"BZ" });
    read.map_err(|error| {
        if begins_so {
            format!("its {name} data are cut short or damaged ({error}). Write the member again")
        } else {
            format!("it is not {name}, as its suffix says ({error})")
        }
    })?;
    if unpacked.len() as u64 > MOST_KEPT {
        return Err(format!("it has more than {MOST_KEPT} bytes when it is unpacked"));
    }
    Ok(unpacked)
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
