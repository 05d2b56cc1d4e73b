//! The sizes of pictures from columns of the dataset, if the user names the columns (semantics rule 61). No picture is read
//! for them.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use forebay_columns::{Column, ElementType, Table, Value};
use forebay_sources::{
    Grains, Locator, MaskColumn, Member, Options, Oversight, PictureSize, PointFiles, ReadError, Reading, Request,
    SizeColumns, Sizes, Source, SourceError,
};

use crate::dataset::Opened;
use crate::option_key::OptionKey;

/// The option that all schemes have. An index has no part of it.
pub(super) const SIZES: OptionKey = OptionKey {
    name: "sizes",
    help: "the columns with the heights and widths of the pictures as seen, such as \"height,width\". With a third column of \
           EXIF orientations, the sizes are those as stored",
};

/// The names of the columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SizeNames {
    height: String,
    width: String,
    /// If there is one, the sizes are those of the pictures as stored.
    orientation: Option<String>,
}

/// A dataset whose columns say the sizes of its pictures.
#[derive(Debug)]
struct WithSizes {
    inner: Box<dyn Source>,
    sizes: Sizes,
}

/// The values of the columns. Both sides are 0 where a value is missing, or no possible side.
#[derive(Debug)]
struct GivenSizes(Vec<(u32, u32, u8)>);

/// Takes the names of the columns from the options.
///
/// # Errors
/// They are not two or three names.
pub(super) fn take(options: &mut Options) -> Result<Option<SizeNames>, SourceError> {
    let Some(value) = options.own.get(SIZES.name) else { return Ok(None) };
    let names: Vec<&str> = value.split(',').map(str::trim).collect();
    let found = match names[..] {
        [height, width] => (height, width, None),
        [height, width, orientation] => (height, width, Some(orientation)),
        _ => ("", "", None),
    };
    let (height, width, orientation) = found;
    if height.is_empty() || width.is_empty() || orientation.is_some_and(str::is_empty) {
        let expected = "the names of two columns, as in \"height,width\", or of three with that of EXIF orientations";
        return Err(SourceError::bad_option(SIZES.name, value, expected));
    }
    let names = SizeNames { height: height.into(), width: width.into(), orientation: orientation.map(str::to_owned) };
    options.own = options.own.without(SIZES.name);
    Ok(Some(names))
}

/// Gives a dataset the sizes that its columns have.
///
/// # Errors
/// There is no such column, or it has other values than one number for each record.
pub(super) fn with_sizes(inner: Box<dyn Source>, names: Option<&SizeNames>, path: &Path) -> Opened {
    let Some(names) = names else { return Ok(inner) };
    let wrong = |problem: String| SourceError::Columns { path: path.to_owned(), problem };
    let table = inner.targets();
    let heights = find(table, &names.height).map_err(wrong)?;
    let widths = find(table, &names.width).map_err(wrong)?;
    let orientations = names.orientation.as_deref().map(|name| find(table, name)).transpose().map_err(wrong)?;
    let records = inner.len();
    let of_record = |record: usize| {
        let side = |column: &Column| number(column, record).and_then(|side| u32::try_from(side).ok()).unwrap_or(0);
        let orientation = orientations.map_or(Some(1), |column| number(column, record));
        let orientation =
            orientation.and_then(|number| u8::try_from(number).ok()).filter(|number| (1..=8).contains(number));
        // A number that is no orientation of EXIF means that the picture is as stored.
        (side(heights), side(widths), orientation.unwrap_or(1))
    };
    let values = (0..usize::try_from(records).unwrap_or(usize::MAX)).map(of_record).collect();
    let sizes = Sizes::new(records, Arc::new(GivenSizes(values)));
    Ok(Box::new(WithSizes { inner, sizes }))
}

fn find<'a>(table: &'a Table, name: &str) -> Result<&'a Column, String> {
    let fields = table.schema().fields();
    let Some(place) = table.schema().find(name) else {
        let names: Vec<String> = fields.iter().map(|field| format!("\"{}\"", field.name)).collect();
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(format!(
            "the option \"sizes\" names the column \"{name}\", which the dataset does not have. Its columns beside pictures \
             and labels are: {has}. Name others in the column map."
        ));
    };
    let column = &table.columns()[place];
    let of = column.column_type();
    let is_text = of.element() == ElementType::U8 && of.depth() > 0;
    if of.row_values() == 1 && of.depth() <= 1 && !is_text {
        return Ok(column);
    }
    Err(format!(
        "the option \"sizes\" names the column \"{name}\", but its type is \"{of}\". It needs one number for each record."
    ))
}

/// The only number that a record has in a column.
fn number(column: &Column, record: usize) -> Option<i64> {
    let value = column.value(record);
    if value.is_null() { None } else { only(&value, column) }
}

fn only(value: &Value<'_>, column: &Column) -> Option<i64> {
    macro_rules! whole {
        ($number:ty) => {
            match value.numbers::<$number>(column.column_type())?[..] {
                [number] => i64::try_from(number).ok(),
                _ => None,
            }
        };
    }
    macro_rules! real {
        ($number:ty) => {
            match value.numbers::<$number>(column.column_type())?[..] {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole and in the range")]
                [number] if number.fract() == 0.0 && (0.0..=1e9).contains(&number) => Some(number as i64),
                _ => None,
            }
        };
    }
    match column.column_type().element() {
        ElementType::U8 => whole!(u8),
        ElementType::I8 => whole!(i8),
        ElementType::U16 => whole!(u16),
        ElementType::I16 => whole!(i16),
        ElementType::U32 => whole!(u32),
        ElementType::I32 => whole!(i32),
        ElementType::U64 => whole!(u64),
        ElementType::I64 => whole!(i64),
        ElementType::F32 => real!(f32),
        ElementType::F64 => real!(f64),
        ElementType::F16 | ElementType::Bf16 | ElementType::Bool => None,
    }
}

impl SizeColumns for GivenSizes {
    fn size(&self, record: u64) -> Option<PictureSize> {
        let (height, width, orientation) = *self.0.get(usize::try_from(record).ok()?)?;
        (height > 0 && width > 0).then(|| PictureSize::of_stored(height, width, orientation))
    }
}

impl Source for WithSizes {
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
        self.inner.read(record, room, buf)
    }

    fn reading(&self) -> Reading {
        self.inner.reading()
    }

    fn request(&self, request: Request) {
        self.inner.request(request);
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.inner.fingerprint()
    }

    fn targets(&self) -> &Table {
        self.inner.targets()
    }

    fn take_targets(&mut self) -> Table {
        self.inner.take_targets()
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

    fn point_files(&self) -> PointFiles {
        self.inner.point_files()
    }

    fn sizes(&self) -> Sizes {
        self.sizes.clone()
    }

    fn oversights(&self) -> Vec<Oversight> {
        self.inner.oversights()
    }

    fn shard_name(&self, record: u64) -> &str {
        self.inner.shard_name(record)
    }
}
