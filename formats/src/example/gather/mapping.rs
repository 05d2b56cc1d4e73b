//! Which feature of an Example becomes what.

use forebay_columns::{ColumnType, Field};
use forebay_sources::{Labels, Options, SourceError};

use super::super::Feature;

/// The features that are looked for, and what becomes of each.
#[derive(Debug)]
pub(super) struct Mapping {
    /// All of them, by name. The other fields are places in this list.
    pub names: Vec<String>,
    /// The alternatives for the picture.
    pub images: Vec<usize>,
    /// The alternatives for the label; none where labels are not wanted.
    pub labels: Vec<usize>,
    /// The user named the label's feature.
    pub is_label_asked: bool,
    pub columns: Vec<MappedColumn>,
    /// The alternatives for each column of masks.
    pub masks: Vec<Vec<usize>>,
}

/// A column beside pictures and labels.
#[derive(Debug)]
pub(super) struct MappedColumn {
    pub name: String,
    pub part: MappedPart,
    /// It has one value per object.
    pub is_of_objects: bool,
    /// The user named it, so that it must be there.
    pub is_asked: bool,
}

#[derive(Debug)]
pub(super) enum MappedPart {
    /// The first of these features that a record has.
    Feature(Vec<usize>),
    /// The features `xmin`, `ymin`, `xmax` and `ymax` of `image/object/bbox`.
    Boxes([usize; 4]),
}

const BOXES: &str = "image/object/bbox";
const OF_OBJECTS: &str = "image/object/";

impl Mapping {
    /// What the options say, and otherwise the names that TensorFlow's own datasets have.
    pub(super) fn new(options: &Options) -> Result<Self, SourceError> {
        let mut mapping = Self {
            names: Vec::new(),
            images: Vec::new(),
            labels: Vec::new(),
            is_label_asked: false,
            columns: Vec::new(),
            masks: Vec::new(),
        };
        let images = options.columns.parts("images").unwrap_or_else(|| vec!["image/encoded"]);
        mapping.images = mapping.places("images", &images)?;
        if options.labels != Labels::None {
            let asked = options.columns.parts("labels");
            mapping.is_label_asked = asked.is_some();
            let labels = asked.unwrap_or_else(|| vec!["image/class/label"]);
            mapping.labels = mapping.places("labels", &labels)?;
        }
        let mut asked = options.columns.targets().peekable();
        if asked.peek().is_none() {
            mapping.column("boxes", &[BOXES], false)?;
            mapping.column("classes", &["image/object/class/label"], false)?;
        }
        for (name, parts) in asked {
            mapping.column(name, &parts, true)?;
        }
        for (name, parts) in options.masks.targets() {
            let places = mapping.places(name, &parts)?;
            mapping.masks.push(places);
        }
        Ok(mapping)
    }

    fn column(&mut self, name: &str, parts: &[&str], is_asked: bool) -> Result<(), SourceError> {
        let part = match parts {
            [BOXES] => {
                MappedPart::Boxes(["xmin", "ymin", "xmax", "ymax"].map(|side| self.place(&format!("{BOXES}/{side}"))))
            }
            _ => MappedPart::Feature(self.places(name, parts)?),
        };
        let is_of_objects = parts.iter().all(|part| part.starts_with(OF_OBJECTS));
        self.columns.push(MappedColumn { name: name.to_owned(), part, is_of_objects, is_asked });
        Ok(())
    }

    fn places(&mut self, column: &str, names: &[&str]) -> Result<Vec<usize>, SourceError> {
        if names.is_empty() || names.contains(&BOXES) {
            let (key, value) = (format!("columns.{column}"), names.join(";"));
            return Err(SourceError::bad_option(&key, &value, "the name of a feature"));
        }
        Ok(names.iter().map(|name| self.place(name)).collect())
    }

    fn place(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// The first of the alternatives that a record has, and its name; or the name of the first alternative.
    pub(super) fn first_of<'f>(
        &self,
        places: &[usize],
        features: &'f [Option<Feature>],
    ) -> (&str, Option<&'f Feature>) {
        let found = places.iter().find_map(|&place| Some((place, features[place].as_ref()?)));
        match (found, places.first()) {
            (Some((place, feature)), _) => (&self.names[place], Some(feature)),
            (None, Some(&place)) => (&self.names[place], None),
            (None, None) => ("", None),
        }
    }
}

impl MappedColumn {
    pub(super) fn field(&self, column_type: &ColumnType) -> Field {
        let field = Field::new(&self.name, column_type.clone());
        Field { objects: self.is_of_objects.then(|| "objects".to_owned()), ..field }
    }
}
