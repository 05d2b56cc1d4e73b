//! Where a folder of Pascal VOC has its annotations, pictures and lists.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use forebay_sources::{Options, SourceError};

use super::SET;
use crate::address::{Address, Sight};
use crate::beside::{Beside, BesideKind};
use crate::containers::{has, is_named};
use crate::folder::is_picture;
use crate::paths::Paths;
use crate::root::given_root;

/// Most bytes of a list of pictures.
const MOST_LIST: u64 = 256 << 20;

/// The folders of a dataset.
#[derive(Debug)]
pub(super) struct VocLayout {
    folder: Address,
    annotations: Address,
    pub pictures: Address,
}

const ANNOTATIONS: [&str; 2] = ["Annotations", "annotations"];
const PICTURES: [&str; 3] = ["JPEGImages", "images", "Images"];
/// Lists that an error names.
const NAMED: usize = 12;

impl VocLayout {
    /// Whether the folder has a folder for annotations with an XML in it.
    pub(super) fn has_annotations(folder: &Address) -> bool {
        ANNOTATIONS.iter().any(|name| has(&folder.join(name), &["xml"]))
    }

    /// The folders by their usual names. XML files may also be in the dataset's folder, and pictures beside them.
    pub(super) fn find(folder: &Address, options: &Options) -> Result<Self, SourceError> {
        if folder.look()? != Sight::Folder {
            return Err(SourceError::NotAFolder { path: folder.path().to_owned() });
        }
        let first = |names: &[&str]| names.iter().map(|name| folder.join(name)).find(Address::is_folder);
        let annotations = first(&ANNOTATIONS).unwrap_or_else(|| folder.clone());
        let given = given_root(options, folder)?;
        let pictures = given.or_else(|| first(&PICTURES)).unwrap_or_else(|| annotations.clone());
        Ok(Self { folder: folder.clone(), annotations, pictures })
    }

    /// The dataset's folder.
    pub(super) fn folder(&self) -> &Address {
        &self.folder
    }

    /// The names of all XML files without their extension, sorted by their bytes.
    pub(super) fn stems(&self) -> Result<Vec<Vec<u8>>, SourceError> {
        let mut stems = Vec::new();
        for entry in self.annotations.entries()? {
            let path = entry.address.path();
            if is_named(path, &["xml"])
                && let Some(stem) = path.file_stem()
            {
                stems.push(stem.as_bytes().to_vec());
            }
        }
        if stems.is_empty() {
            return Err(SourceError::NoContainers {
                path: self.annotations.path().to_owned(),
                extensions: "xml".into(),
            });
        }
        stems.sort_unstable();
        stems.dedup();
        Ok(stems)
    }

    /// The XML with this name.
    pub(super) fn xml(&self, stem: &[u8]) -> Address {
        let mut name = stem.to_vec();
        name.extend_from_slice(b".xml");
        let path = self.annotations.join(OsStr::from_bytes(&name));
        let upper = path.with_extension("XML");
        if !path.exists() && upper.exists() { upper } else { path }
    }

    /// The lines of the list that the user chose; nothing for all pictures with an XML.
    ///
    /// # Errors
    /// There are lists and the user chose none, or there is no such list.
    pub(super) fn set(&self, options: &Options) -> Result<Option<Vec<Vec<u8>>>, SourceError> {
        let lists = self.folder.join("ImageSets/Main");
        let chosen = options.own.get(SET.name);
        let is_name = |name: &str| !name.is_empty() && !name.contains(['/', '\0']) && !name.starts_with('.');
        let file = chosen.filter(|name| is_name(name)).map(|name| lists.join(format!("{name}.txt")));
        if let Some(file) = file.filter(Address::is_file) {
            let text = file.text(MOST_LIST)?;
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
            let lines = text.split(|&byte| byte == b'\n').map(|line| line.trim_ascii().to_vec());
            let lines: Vec<Vec<u8>> = lines.filter(|line| !line.is_empty()).collect();
            if let Some(wrong) = lines.iter().find(|line| line.contains(&b'/') || line.contains(&0)) {
                let problem = format!(
                    "the list names \"{}\". Each line must be the name of an XML file without its extension.",
                    forebay_printable::printable(&*String::from_utf8_lossy(wrong))
                );
                return Err(SourceError::malformed_at(file.path(), 0, problem));
            }
            return Ok(Some(lines));
        }
        if chosen == Some("all") {
            return Ok(None);
        }
        let found = if lists.is_folder() { lists.entries()? } else { Vec::new() };
        let mut names: Vec<String> = found
            .iter()
            .map(|entry| entry.address.path())
            .filter(|path| is_named(path, &["txt"]))
            .filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
            .collect();
        if names.is_empty() && chosen.is_none() {
            return Ok(None);
        }
        // The lists of single classes come last.
        names.sort_unstable_by_key(|name| (name.contains('_'), name.clone()));
        let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("\"{name}\"")).collect();
        let more = if names.len() > NAMED { " and more" } else { "" };
        let expected = format!(
            "a list in \"{}\" ({}{more}), or \"all\" for all pictures with an XML",
            forebay_printable::printable(&lists.shown()),
            if shown.is_empty() { "there is none".to_owned() } else { shown.join(", ") }
        );
        Err(SourceError::bad_option(SET.name, chosen.unwrap_or_default(), &expected))
    }

    /// The pictures that there are.
    pub(super) fn pictures(&self) -> Result<PictureNames, SourceError> {
        let entries = self.pictures.entries()?.into_iter().filter(|entry| is_picture(entry.address.path()));
        let mut names: Vec<Vec<u8>> = entries.map(|entry| entry.name.into_encoded_bytes()).collect();
        // Of pictures with one name, the first by extension has the XML.
        names.sort_unstable();
        let mut of_stem = HashMap::with_capacity(names.len());
        for name in &names {
            let stem = Path::new(OsStr::from_bytes(name)).file_stem().unwrap_or_default().as_bytes().to_vec();
            of_stem.entry(stem).or_insert_with(|| name.clone());
        }
        Ok(PictureNames { names, of_stem })
    }

    /// What lies beside the annotations and the pictures. `used` are the pictures of the records; if these are not those of
    /// a list, the other pictures have no annotations.
    pub(super) fn beside(&self, used: &Paths, is_list: bool) -> Result<Beside, SourceError> {
        let mut beside = Beside::default();
        let used: HashSet<&[u8]> = used.iter().collect();
        let are_apart = self.annotations != self.pictures;
        for folder in [Some(&self.pictures), are_apart.then_some(&self.annotations)].into_iter().flatten() {
            let prefix = folder.path().strip_prefix(self.folder.path()).unwrap_or_else(|_| Path::new(""));
            for entry in folder.entries()?.into_iter().filter(|entry| !entry.is_folder) {
                let path = entry.address.path();
                let whole = prefix.join(&entry.name);
                let of_pictures = *folder == self.pictures;
                match is_picture(path) {
                    true if of_pictures && (is_list || used.contains(entry.name.as_bytes())) => {}
                    true => beside.see_as(BesideKind::PicturesAlone, whole.as_os_str().as_bytes()),
                    false if *folder == self.annotations && is_named(path, &["xml"]) => {}
                    false => beside.see(whole.as_os_str().as_bytes()),
                }
            }
        }
        Ok(beside)
    }

    pub(super) fn shard_name(&self, options: &Options) -> String {
        let folder = self.folder.last_name();
        options.own.get(SET.name).map_or_else(|| folder.clone(), |set| format!("{folder}/{set}"))
    }
}

/// The pictures of a folder by their names.
#[derive(Debug)]
pub(super) struct PictureNames {
    /// Sorted.
    names: Vec<Vec<u8>>,
    of_stem: HashMap<Vec<u8>, Vec<u8>>,
}

impl PictureNames {
    /// The picture of an XML: by the XML's own name, or else by what it says. One that is not there is looked for as a
    /// JPEG when it is read.
    pub(super) fn of(&self, stem: &[u8], file_name: Option<&str>) -> Vec<u8> {
        if let Some(name) = self.of_stem.get(stem) {
            return name.clone();
        }
        let said = file_name.map(|name| name.as_bytes().to_vec());
        said.filter(|name| self.names.binary_search(name).is_ok()).unwrap_or_else(|| [stem, b".jpg"].concat())
    }
}

/// The name in a line of a list. Lists of one class have a number behind it: -1, 0 or 1.
pub(super) fn stem_of(line: Vec<u8>, stems: &[Vec<u8>]) -> Vec<u8> {
    if stems.binary_search(&line).is_ok() {
        return line;
    }
    let name = [&b"-1"[..], b"0", b"1"].iter().find_map(|number| {
        let before = line.strip_suffix(*number)?;
        before.last().is_some_and(u8::is_ascii_whitespace).then_some(before)
    });
    match name.map(|name| name.trim_ascii_end().to_vec()) {
        Some(name) => name,
        None => line,
    }
}
