//! What the numbers of a column are, if the user or the convention of the format says that they are boxes or points. Such
//! columns follow their pictures, whatever format they are from (semantics rule 45).

mod box_form;
mod columns;
mod nest;
mod points;
#[cfg(test)]
mod tests;

use forebay_columns::{Schema, Table};
use forebay_sources::{
    Grains, Locator, MaskColumn, Member, Options, Oversight, PointFiles, ReadError, Reading, Request, Sizes, Source,
    SourceError,
};

pub(super) use self::box_form::BoxFormat;
use crate::address::Address;
use crate::dataset::Opened;
use crate::faults::Faults;
use crate::option_key::OptionKey;

/// The options that all schemes have: one for each column.
pub(super) const ROLES: OptionKey = OptionKey {
    name: "roles.COLUMN",
    help: "what the numbers of a column are: \"xyxy\", \"xywh\", \"cxcywh\", \"yxyx\" or \"points\", each also with \
           \"_fractions\", \"keypoints\", \"objects\" or \"none\"",
};

/// How an option begins that is about a column.
const PREFIX: &str = "roles.";
/// The feature of an Example with boxes, by the convention of TensorFlow's object detection.
const EXAMPLE_BOXES: &str = "image/object/bbox";
/// The field of a table with boxes, and what its fields with other values of the objects begin with: the convention of
/// Hugging Face's datasets.
pub(super) const TABLE_BOXES: &str = "objects.bbox";
/// The schemes with this convention. A folder may have such a table.
const TABLES: [&str; 3] = ["parquet", "arrow", "folder"];

/// What the numbers of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GivenRole {
    Boxes(BoxFormat),
    Points {
        fractions: bool,
    },
    Keypoints,
    /// One value for each box.
    Objects,
    /// Nothing that follows the picture, whatever the convention is.
    Nothing,
}

/// The roles that the user gave to columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Roles {
    given: Vec<(String, GivenRole)>,
}

/// A dataset with columns that follow their pictures.
#[derive(Debug)]
struct WithRoles {
    inner: Box<dyn Source>,
    targets: Table,
    /// Records whose values are not what their role says.
    faults: Faults,
    fingerprint: [u8; 32],
}

/// Takes the roles from the options.
///
/// # Errors
/// A role has an unknown name.
pub(super) fn take(options: &mut Options) -> Result<Roles, SourceError> {
    let keys: Vec<String> = options.own.keys().filter(|key| key.starts_with(PREFIX)).map(str::to_owned).collect();
    let mut given = Vec::with_capacity(keys.len());
    for key in keys {
        let word = options.own.get(&key).unwrap_or_default();
        let Some(role) = GivenRole::named(word) else {
            let words: Vec<String> = GivenRole::words().map(|word| format!("\"{word}\"")).collect();
            return Err(SourceError::bad_option(&key, word, &format!("one of {}", words.join(", "))));
        };
        given.push((key[PREFIX.len()..].to_owned(), role));
        options.own = options.own.without(&key);
    }
    Ok(Roles { given })
}

impl GivenRole {
    const OTHERS: [(&str, Self); 5] = [
        ("points", Self::Points { fractions: false }),
        ("points_fractions", Self::Points { fractions: true }),
        ("keypoints", Self::Keypoints),
        ("objects", Self::Objects),
        ("none", Self::Nothing),
    ];

    fn named(word: &str) -> Option<Self> {
        let other = || Self::OTHERS.iter().find(|(name, _)| *name == word).map(|(_, role)| *role);
        BoxFormat::named(word).map(Self::Boxes).or_else(other)
    }

    fn words() -> impl Iterator<Item = &'static str> {
        BoxFormat::words().chain(Self::OTHERS.iter().map(|(name, _)| *name))
    }

    /// What the format's convention says of a column, if there is one.
    fn by_convention(scheme: &str, options: &Options, column: &str) -> Option<Self> {
        let named = options.columns.parts(column);
        let part = match (scheme, named.as_deref()) {
            (_, Some([part])) => *part,
            // What these sources call their boxes if the user names no column.
            ("tfrecord" | "recordio", None) if column == "boxes" => EXAMPLE_BOXES,
            ("parquet" | "arrow", None) if column == "boxes" => TABLE_BOXES,
            ("mxnet", None) => column,
            _ => return None,
        };
        match (scheme, part) {
            ("tfrecord" | "recordio", EXAMPLE_BOXES) | ("mxnet", "boxes") => {
                Some(Self::Boxes(BoxFormat::CORNER_FRACTIONS))
            }
            (scheme, TABLE_BOXES) if TABLES.contains(&scheme) => Some(Self::Boxes(BoxFormat::CORNER_AND_SIZE)),
            ("mxnet", "classes") => Some(Self::Objects),
            _ => None,
        }
    }
}

impl Roles {
    /// The role of each of these columns.
    ///
    /// # Errors
    /// There is no column of a name that the user gave a role.
    fn of(&self, schema: &Schema, scheme: &str, options: &Options) -> Result<Vec<Option<GivenRole>>, SourceError> {
        for (name, _) in &self.given {
            if schema.find(name).is_none() {
                let names: Vec<String> = schema.fields().iter().map(|field| format!("\"{}\"", field.name)).collect();
                let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let expected = format!(
                    "left out, or about a column that the dataset has. Its columns beside pictures and labels are: {has}. \
                     Name others in the column map"
                );
                return Err(SourceError::bad_option(&format!("{PREFIX}{name}"), "a role", &expected));
            }
        }
        let given = |name: &str| self.given.iter().find(|(column, _)| column == name).map(|(_, role)| *role);
        let role = |name: &str| given(name).or_else(|| GivenRole::by_convention(scheme, options, name));
        Ok(schema.fields().iter().map(|field| role(&field.name)).collect())
    }
}

/// Gives the columns of a dataset their roles.
///
/// # Errors
/// A column cannot have its role.
pub(super) fn with_roles(
    mut inner: Box<dyn Source>,
    roles: &Roles,
    address: &Address,
    scheme: &str,
    options: &Options,
) -> Opened {
    let given = roles.of(inner.targets().schema(), scheme, options)?;
    if given.iter().all(|role| matches!(role, None | Some(GivenRole::Nothing))) {
        return Ok(inner);
    }
    let wrong = |problem: String| SourceError::Columns { path: address.path().to_owned(), problem };
    if TABLES.contains(&scheme) {
        for ((field, column), role) in
            inner.targets().schema().fields().iter().zip(inner.targets().columns()).zip(&given)
        {
            let by_convention = GivenRole::by_convention(scheme, options, &field.name);
            let is_by_convention = *role == by_convention && !roles.given.iter().any(|(name, _)| *name == field.name);
            if is_by_convention && role.is_some() && columns::are_corners(column) {
                return Err(wrong(format!(
                    "the boxes of \"{name}\" ({TABLE_BOXES}) would be left, top, width and height by the convention, but all of \
                     them may be left, top, right and bottom. Say which they are: source_options = {{ roles = {{ {name} = \
                     \"xywh\" }} }} or \"xyxy\".",
                    name = field.name
                )));
            }
        }
    }
    let mut hasher = blake3::Hasher::new_derive_key("forebay roles of columns 1");
    hasher.update(&inner.fingerprint());
    let (targets, faults) = columns::with_roles(inner.take_targets(), &given).map_err(wrong)?;
    faults.warn(&address.shown());
    targets.digest(&mut |part| {
        hasher.update(part);
    });
    Ok(Box::new(WithRoles { targets, faults, fingerprint: hasher.finalize().into(), inner }))
}

impl WithRoles {
    fn check(&self, record: u64) -> Result<(), ReadError> {
        self.faults.get(record).map_or(Ok(()), |fault| Err(ReadError::damaged(self.locator(record), fault)))
    }
}

impl Source for WithRoles {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn failure(&self) -> Option<String> {
        self.inner.failure()
    }

    fn classes(&self) -> &[String] {
        self.inner.classes()
    }

    fn label(&self, record: u64) -> i64 {
        self.inner.label(record)
    }

    fn locator(&self, record: u64) -> Locator {
        self.inner.locator(record)
    }

    fn size(&self, record: u64) -> u64 {
        self.inner.size(record)
    }

    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        self.check(record).inspect_err(|_| buf.clear())?;
        self.inner.read(record, room, buf)
    }

    fn reading(&self) -> Reading {
        self.inner.reading()
    }

    fn request(&self, request: Request) {
        match self.check(request.record) {
            Ok(()) => self.inner.request(request),
            Err(error) => request.answer(Err(error)),
        }
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    fn targets(&self) -> &Table {
        &self.targets
    }

    fn take_targets(&mut self) -> Table {
        std::mem::take(&mut self.targets)
    }

    fn masks(&self) -> &[MaskColumn] {
        self.inner.masks()
    }

    fn grains(&self) -> Grains<'_> {
        self.inner.grains()
    }

    fn members(&self) -> &[Member] {
        self.inner.members()
    }

    fn oversights(&self) -> Vec<Oversight> {
        self.inner.oversights()
    }

    fn point_files(&self) -> PointFiles {
        self.inner.point_files()
    }

    fn sizes(&self) -> Sizes {
        self.inner.sizes()
    }

    fn shard_name(&self, record: u64) -> &str {
        self.inner.shard_name(record)
    }
}
