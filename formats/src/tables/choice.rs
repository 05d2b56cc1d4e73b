//! Decides which field of a table is the picture, which is the label, and which become columns.

use std::path::Path;

use arrow_schema::{DataType, Field, Schema};
use forebay_sources::{Labels, Options, SourceError};

use super::nested::type_of;

/// The names that lead to a field: one, or several for a field within structures.
type FieldPath = Vec<String>;

/// The fields of a table that a dataset uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableChoice {
    /// The bytes of the picture.
    pub picture: FieldPath,
    /// The path of a picture that is elsewhere.
    pub elsewhere: Option<FieldPath>,
    pub label: Option<FieldPath>,
    /// Names of columns, and the fields that become them.
    pub targets: Vec<(String, FieldPath)>,
    /// Names of columns of masks, and the fields with their bytes.
    pub masks: Vec<(String, FieldPath)>,
    /// Names of the label's classes, as `datasets` noted them.
    pub classes: Vec<String>,
    /// Labels that are texts are sorted as numbers if all of them are.
    pub by_number: bool,
}

const PICTURES: [&str; 3] = ["image", "img", "picture"];
const LABELS: [&str; 2] = ["label", "labels"];
/// The structure of a picture's objects, with its field of boxes and those that may be their classes.
const OBJECTS: &str = "objects";
const BOXES: &str = "bbox";
const CLASSES: [&str; 6] = ["category", "categories", "category_id", "class", "label", "labels"];
/// The field with the paths of pictures.
const PATHS: &str = "file_name";

impl TableChoice {
    /// Chooses the fields of a table: those that the options name, or those that have the usual names.
    ///
    /// # Errors
    /// There is no picture, or not just one, or a field that the options name is absent or of the wrong type.
    pub(crate) fn new(path: &Path, schema: &Schema, options: &Options) -> Result<Self, SourceError> {
        let wrong = |problem| SourceError::Columns { path: path.to_owned(), problem };
        let mut picture = picture(schema, options).map_err(wrong)?;
        let mut elsewhere = None;
        if let Some(DataType::Struct(fields)) = type_of(&schema.fields, &picture) {
            if fields.find("path").is_some() {
                elsewhere = Some([&picture[..], &["path".to_owned()]].concat());
            }
            picture.push("bytes".to_owned());
        }
        let (label, classes) = labelled(schema, options).map_err(wrong)?;
        let by_number = options.labels != Labels::Text;
        let targets = mapped(schema, options).map_err(wrong)?;
        let masks =
            options.masks.targets().map(|(name, parts)| mask(schema, name, &parts)).collect::<Result<_, _>>()?;
        Ok(Self { picture, elsewhere, label, targets, masks, classes, by_number })
    }

    /// Chooses the fields of a table whose rows have paths of pictures. The path is the first target.
    ///
    /// # Errors
    /// There are no paths, or a field that the options name is absent or of the wrong type.
    pub(crate) fn of_paths(path: &Path, schema: &Schema, options: &Options) -> Result<Self, SourceError> {
        let wrong = |problem| SourceError::Columns { path: path.to_owned(), problem };
        let parts = options.columns.parts("images").unwrap_or_else(|| vec![PATHS]);
        let picture = named(schema, "images", &parts).map_err(wrong)?;
        let of = type_of(&schema.fields, &picture);
        if !of.as_ref().is_some_and(|of| matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)) {
            let of = of.map(|of| of.to_string()).unwrap_or_default();
            let name = picture.join(".");
            return Err(wrong(format!("\"{name}\" has the type {of}, and the path of a picture is a text.")));
        }
        let (label, classes) = labelled(schema, options).map_err(wrong)?;
        let by_number = options.labels != Labels::Text;
        let mut targets = vec![(PATHS.to_owned(), picture.clone())];
        targets.extend(mapped(schema, options).map_err(wrong)?);
        Ok(Self { picture, elsewhere: None, label, targets, masks: Vec::new(), classes, by_number })
    }

    /// Chooses one field of a table without pictures.
    pub(crate) fn of_one(name: String) -> Self {
        let targets = vec![(name.clone(), vec![name])];
        let (picture, masks, classes) = (Vec::new(), Vec::new(), Vec::new());
        Self { picture, elsewhere: None, label: None, targets, masks, classes, by_number: true }
    }

    /// A field that is read when the dataset is opened, and whose values are numbers of a dictionary.
    pub(crate) fn dictionary(&self, schema: &Schema) -> Option<&FieldPath> {
        self.read_at_opening().find(|field| type_of(&schema.fields, field).is_some_and(|of| has_dictionary(&of)))
    }

    /// The fields whose values are read when the dataset is opened.
    pub(crate) fn read_at_opening(&self) -> impl Iterator<Item = &FieldPath> {
        self.label.iter().chain(self.targets.iter().map(|(_, field)| field))
    }
}

fn picture(schema: &Schema, options: &Options) -> Result<FieldPath, String> {
    if let Some(parts) = options.columns.parts("images") {
        let path = named(schema, "images", &parts)?;
        let of = type_of(&schema.fields, &path).ok_or("it was found")?;
        if is_picture(&of) {
            return Ok(path);
        }
        return Err(format!(
            "\"{}\" has the type {}, and a picture is binary, or a structure with binary \"bytes\". Name another one for \
             \"images\".",
            path.join("."),
            of
        ));
    }
    let pictures: Vec<&Field> = fields(schema).filter(|field| is_picture(field.data_type())).collect();
    let usual = PICTURES.iter().find_map(|name| pictures.iter().find(|field| field.name() == name));
    match (usual, &pictures[..]) {
        (Some(field), _) | (None, [field]) => Ok(vec![field.name().clone()]),
        (None, found) => {
            let what =
                if found.is_empty() { "none of them is a picture" } else { "several of them may be the picture" };
            Err(format!(
                "{what}. They are {}. Name the one with the pictures in the map of columns: columns = {{\"images\": NAME}}.",
                listed(schema)
            ))
        }
    }
}

/// The field with the masks of a column.
fn mask(schema: &Schema, name: &str, parts: &[&str]) -> Result<(String, FieldPath), SourceError> {
    let found = parts.iter().find_map(|part| path_of(schema, part));
    let found = found.filter(|path| type_of(&schema.fields, path).is_some_and(|of| is_picture(&of)));
    let mut path = found.ok_or_else(|| {
        let expected = format!(
            "a column of the table with PNG files: binary, or a structure with binary \"bytes\". It has {}",
            listed(schema)
        );
        SourceError::bad_option(&format!("masks.{name}"), &parts.join(";"), &expected)
    })?;
    if let Some(DataType::Struct(_)) = type_of(&schema.fields, &path) {
        path.push("bytes".to_owned());
    }
    Ok((name.to_owned(), path))
}

/// The label, and the names of its classes.
fn labelled(schema: &Schema, options: &Options) -> Result<(Option<FieldPath>, Vec<String>), String> {
    let label = if options.labels == Labels::None { None } else { label(schema, options)? };
    let noted = schema.metadata().get(super::huggingface::KEY);
    let classes = match (&label, noted) {
        (Some(label), Some(noted)) if label.len() == 1 => super::huggingface::class_names(noted, &label[0]),
        _ => Vec::new(),
    };
    Ok((label, classes))
}

/// The fields that the column map names.
fn mapped(schema: &Schema, options: &Options) -> Result<Vec<(String, FieldPath)>, String> {
    let named = |(name, parts): (&str, Vec<&str>)| Ok((name.to_owned(), named(schema, name, &parts)?));
    let mapped: Vec<_> = options.columns.targets().map(named).collect::<Result<_, String>>()?;
    Ok(if options.columns.targets().next().is_none() { objects(schema) } else { mapped })
}

/// The boxes and classes that a table has by the convention of Hugging Face's datasets.
fn objects(schema: &Schema) -> Vec<(String, FieldPath)> {
    let path = |name: &str| vec![OBJECTS.to_owned(), name.to_owned()];
    let lists = |name: &str, of: fn(&DataType) -> bool| {
        type_of(&schema.fields, &path(name)).is_some_and(|found| items(&found).is_some_and(of))
    };
    if !lists(BOXES, are_boxes) {
        return Vec::new();
    }
    let classes = CLASSES.iter().find(|name| lists(name, DataType::is_integer));
    let classes = classes.map(|name| ("classes".to_owned(), path(name)));
    std::iter::once(("boxes".to_owned(), path(BOXES))).chain(classes).collect()
}

/// Whether these are lists of numbers.
fn are_boxes(of: &DataType) -> bool {
    items(of).is_some_and(DataType::is_numeric)
}

/// What a list has.
fn items(of: &DataType) -> Option<&DataType> {
    match of {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => Some(item.data_type()),
        _ => None,
    }
}

fn label(schema: &Schema, options: &Options) -> Result<Option<FieldPath>, String> {
    let path = match options.columns.parts("labels") {
        Some(parts) => named(schema, "labels", &parts)?,
        None => match LABELS.iter().find(|name| schema.field_with_name(name).is_ok()) {
            Some(name) => vec![(*name).to_owned()],
            None => return Ok(None),
        },
    };
    let of = type_of(&schema.fields, &path).ok_or("it was found")?;
    if is_label(&of) {
        return Ok(Some(path));
    }
    Err(format!(
        "\"{}\" has the type {}, and a label is an integer, a text or a bool. Name another one for \"labels\", or give \
         labels=\"none\" and name it as a column of its own.",
        path.join("."),
        of
    ))
}

/// The first of these fields that the table has. A name with dots leads into structures.
fn named(schema: &Schema, column: &str, parts: &[&str]) -> Result<FieldPath, String> {
    if let Some(path) = parts.iter().find_map(|part| path_of(schema, part)) {
        return Ok(path);
    }
    let parts = parts.join(";");
    Err(format!(
        "\"{column}\" is to be \"{parts}\", and the table has no such column. Its columns are {}.",
        listed(schema)
    ))
}

/// The names that lead to a field, if the table has it.
fn path_of(schema: &Schema, part: &str) -> Option<FieldPath> {
    let whole = vec![part.to_owned()];
    let within: FieldPath = part.split('.').map(str::to_owned).collect();
    [whole, within].into_iter().find(|path| type_of(&schema.fields, path).is_some())
}

fn fields(schema: &Schema) -> impl Iterator<Item = &Field> {
    schema.fields().iter().map(AsRef::as_ref)
}

/// The table's fields with their types, for messages.
fn listed(schema: &Schema) -> String {
    let each: Vec<String> =
        fields(schema).map(|field| format!("\"{}\" ({})", field.name(), field.data_type())).collect();
    if each.is_empty() { "no columns".into() } else { each.join(", ") }
}

fn is_picture(of: &DataType) -> bool {
    match of {
        DataType::Struct(fields) => fields.find("bytes").is_some_and(|(_, field)| is_binary(field.data_type())),
        other => is_binary(other),
    }
}

fn is_binary(of: &DataType) -> bool {
    matches!(of, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

fn is_label(of: &DataType) -> bool {
    match of {
        DataType::Dictionary(_, values) => is_label(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean | DataType::Null => true,
        other => other.is_integer(),
    }
}

fn has_dictionary(of: &DataType) -> bool {
    match of {
        DataType::Dictionary(..) => true,
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            has_dictionary(field.data_type())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
