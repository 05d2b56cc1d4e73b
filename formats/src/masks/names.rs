//! How the masks of a dataset are named: as their pictures are, below another folder, or by a column with their paths.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use forebay_columns::ColumnType;
use forebay_printable::printable;
use forebay_sources::{Container, Source, SourceError};

use crate::address::Address;
use crate::paths::{Paths, escapes};
use crate::progress::Progress;

/// The files of the masks of one column.
#[derive(Debug)]
pub(super) struct MaskNames {
    pub root: Address,
    /// One for each record, also where there is no such file.
    pub paths: Paths,
    /// Whether the record names one.
    pub named: Vec<bool>,
    /// Whether what is named must be there: a picture need not have a mask of its name.
    pub must_be: bool,
}

/// The folders of a picture that may be folders of its mask too.
const DEEPEST: usize = 4;
/// What the masks of a folder are. All have the extension of the first ones that are there.
const EXTENSIONS: [&str; 2] = ["png", "npy"];

impl MaskNames {
    /// The masks that the user has named for a column. Folders start at one of these bases, and paths at the last.
    ///
    /// # Errors
    /// Nothing has such a name, or a path leads out of the folder of the dataset.
    pub(super) fn find(
        source: &dyn Source,
        column: &str,
        parts: &[&str],
        bases: &[Address],
    ) -> Result<Self, SourceError> {
        let base = bases.last().expect("the dataset has a folder");
        for part in parts {
            if let Some(names) = Self::of_column(source, column, part, base)? {
                return Ok(names);
            }
            if let Some(names) = bases.iter().find_map(|base| Self::of_folder(source, base.join(part))) {
                return Ok(names);
            }
        }
        let expected = format!(
            "a folder, below \"{}\" or absolute, with a PNG or an npy file of the name of at least one picture, or a column of \
             the dataset with the paths of the masks",
            printable(&base.shown())
        );
        Err(SourceError::bad_option(&format!("masks.{column}"), &parts.join(";"), &expected))
    }

    /// Those whose paths a column of texts has.
    fn of_column(source: &dyn Source, column: &str, part: &str, base: &Address) -> Result<Option<Self>, SourceError> {
        let table = source.targets();
        let found =
            table.schema().find(part).filter(|&found| table.columns()[found].column_type() == &ColumnType::text());
        let Some(found) = found else { return Ok(None) };
        let (mut paths, mut named) = (Paths::default(), Vec::new());
        for record in 0..table.columns()[found].len() {
            let path = table.value(found, record).bytes().trim_ascii();
            if escapes(path, None) || path.contains(&0) {
                let expected =
                    format!("paths inside \"{}\"; record {record} has another one", printable(&base.shown()));
                let path = String::from_utf8_lossy(path);
                return Err(SourceError::bad_option(&format!("masks.{column}"), &path, &expected));
            }
            paths.push(path);
            named.push(!path.is_empty());
        }
        Ok(Some(Self { root: base.clone(), paths, named, must_be: true }))
    }

    /// Those below a folder that have the names of their pictures. The first picture that has one says how many folders of a
    /// picture's path are also folders of its mask's.
    fn of_folder(source: &dyn Source, root: Address) -> Option<Self> {
        if !root.is_folder() {
            return None;
        }
        let progress = Progress::new("looking for masks");
        let depth_of = |extension: &str, record| {
            progress.step();
            let picture = picture(source, record);
            (0..=DEEPEST).rev().find(|&depth| root.join(mask_name(&picture, depth, extension)).is_file())
        };
        let (extension, depth) = EXTENSIONS.into_iter().find_map(|extension| {
            Some((extension, (0..source.len()).find_map(|record| depth_of(extension, record))?))
        })?;
        let mut paths = Paths::default();
        for record in 0..source.len() {
            paths.push(mask_name(&picture(source, record), depth, extension).as_os_str().as_bytes());
        }
        let named = vec![true; paths.len()];
        Some(Self { root, paths, named, must_be: false })
    }
}

fn picture(source: &dyn Source, record: u64) -> PathBuf {
    match source.locator(record).container {
        Container::File(path) => path,
        Container::Object { url, .. } => url.into(),
    }
}

/// The name of a picture's mask, with the last folders of the picture.
fn mask_name(picture: &Path, folders: usize, extension: &str) -> PathBuf {
    let above = picture.parent().into_iter().flat_map(Path::components);
    let above: Vec<&OsStr> = above
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect();
    let kept = &above[above.len().saturating_sub(folders)..];
    let mut name = picture.file_stem().unwrap_or_default().to_owned();
    name.push(".");
    name.push(extension);
    kept.iter().collect::<PathBuf>().join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_the_name_of_its_picture_and_the_last_of_its_folders() {
        let picture = Path::new("/data/x/../train/dog.1/a.b.JPEG");
        assert_eq!(mask_name(picture, 0, "png"), Path::new("a.b.png"));
        assert_eq!(mask_name(picture, 2, "png"), Path::new("train/dog.1/a.b.png"));
        assert_eq!(mask_name(picture, 9, "png"), Path::new("data/x/train/dog.1/a.b.png"));
        assert_eq!(mask_name(Path::new("a.jpg"), 3, "npy"), Path::new("a.npy"));
    }
}
