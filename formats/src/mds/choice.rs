//! Which columns of an MDS dataset become pictures, labels and further columns.

use std::path::Path;

use forebay_printable::printable;
use forebay_sources::{Labels, Options, SourceError};

use super::encoding::MdsEncoding;
use super::index::MdsColumn;

/// Columns that are labels where the user names none.
const LABELS: [&str; 6] = ["label", "labels", "class", "cls", "target", "y"];

/// Places of columns in the index.
#[derive(Debug)]
pub(super) struct MdsChoice {
    pub images: usize,
    pub labels: Option<usize>,
    pub targets: Vec<MdsTarget>,
    /// The columns with masks.
    pub masks: Vec<usize>,
}

/// A column of a batch.
#[derive(Debug)]
pub(super) struct MdsTarget {
    /// Its name in a batch.
    pub name: String,
    /// The place of the dataset's column.
    pub place: usize,
    /// Of a value in it, if it is JSON.
    pub key: Option<String>,
}

impl MdsChoice {
    /// What the user asked for, or else the only column of pictures, and a column with a label's name.
    ///
    /// # Errors
    /// There is no such column, or it cannot be used.
    pub(super) fn new(path: &Path, columns: &[MdsColumn], options: &Options) -> Result<Self, SourceError> {
        let wrong = |problem: String| SourceError::Columns { path: path.to_owned(), problem };
        let all: Vec<String> = columns.iter().map(|column| format!("\"{}\"", printable(&column.name))).collect();
        let all = all.join(", ");
        let named = |name: &str, parts: &[&str]| {
            let place = parts.iter().find_map(|part| columns.iter().position(|column| column.name == *part));
            place.ok_or_else(|| {
                wrong(format!("\"{name}\" names no column of the dataset: \"{}\". It has {all}.", parts.join(";")))
            })
        };
        let refused = |name: &str, encoding: &MdsEncoding| wrong(refusal(name, encoding));
        let images = match options.columns.parts("images") {
            Some(parts) => named("images", &parts)?,
            None => only_pictures(columns).map_err(|problem| wrong(format!("{problem} The dataset has {all}.")))?,
        };
        if let Some(column) = columns.get(images)
            && !matches!(column.encoding, MdsEncoding::Picture | MdsEncoding::Pictures { .. } | MdsEncoding::Bytes)
            && column.encoding.pixels().is_none()
        {
            return Err(refused(&column.name, &column.encoding));
        }
        let labels = match options.columns.parts("labels") {
            _ if options.labels == Labels::None => None,
            Some(parts) => Some(named("labels", &parts)?),
            None => {
                columns.iter().position(|column| LABELS.contains(&column.name.as_str()) && column.encoding.can_label())
            }
        };
        if let Some(column) = labels.and_then(|place| columns.get(place))
            && !column.encoding.can_label()
        {
            return Err(refused(&column.name, &column.encoding));
        }
        let mut targets = Vec::new();
        for (name, parts) in options.columns.targets() {
            let (place, key) = match parts.iter().find_map(|part| in_json(columns, part)) {
                Some((place, key)) => (place, Some(key.to_owned())),
                None => (named(name, &parts)?, None),
            };
            match columns.get(place).map(|column| &column.encoding) {
                Some(MdsEncoding::Picture | MdsEncoding::Pixels | MdsEncoding::Pictures { .. }) => {
                    return Err(wrong(format!(
                        "\"{name}\" cannot be a picture: pictures are only read as images. Leave the column out."
                    )));
                }
                Some(encoding @ MdsEncoding::Refused(..)) => return Err(refused(name, encoding)),
                _ => targets.push(MdsTarget { name: name.to_owned(), place, key }),
            }
        }
        let mut masks = Vec::new();
        for (name, parts) in options.masks.targets() {
            let place = named(name, &parts)?;
            if !matches!(columns[place].encoding, MdsEncoding::Picture | MdsEncoding::Bytes) {
                return Err(refused(&columns[place].name, &columns[place].encoding));
            }
            masks.push(place);
        }
        Ok(Self { images, labels, targets, masks })
    }
}

/// The place of a column with JSON, and the key of a value in it, of a part such as `meta:boxes`.
fn in_json<'p>(columns: &[MdsColumn], part: &'p str) -> Option<(usize, &'p str)> {
    let (name, key) = part.split_once(':')?;
    let is_it = |column: &MdsColumn| column.name == name && column.encoding == MdsEncoding::Json;
    Some((columns.iter().position(is_it)?, key))
}

/// The only column of pictures.
fn only_pictures(columns: &[MdsColumn]) -> Result<usize, String> {
    let is_picture = |encoding: &MdsEncoding| matches!(encoding, MdsEncoding::Picture | MdsEncoding::Pixels);
    let mut pictures = (0..).zip(columns).filter(|(_, column)| is_picture(&column.encoding));
    let name_it = "Name the pictures' column with columns={\"images\": ...}.";
    match (pictures.next(), pictures.next()) {
        (Some((place, _)), None) => Ok(place),
        (Some(_), Some(_)) => Err(format!("more than one column has the encoding jpeg, png or pil. {name_it}")),
        (None, _) => {
            let raw = columns.iter().find(|column| matches!(&column.encoding, MdsEncoding::Refused(..)));
            let why = raw.map(|column| format!(" Note: {}", refusal(&column.name, &column.encoding)));
            Err(format!("no column has the encoding jpeg, png or pil. {name_it}{}", why.unwrap_or_default()))
        }
    }
}

/// Why a column cannot be used.
fn refusal(name: &str, encoding: &MdsEncoding) -> String {
    match encoding {
        MdsEncoding::Refused(encoding, why) => {
            format!("\"{}\" has the encoding \"{}\", and {why}.", printable(name), printable(encoding))
        }
        _ => format!("\"{}\" has an encoding that cannot be used for it. Name another column.", printable(name)),
    }
}
