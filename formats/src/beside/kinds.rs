//! The kinds of files beside pictures, by their names: one table, from the most special to the most general.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use forebay_sources::OversightKind;

use crate::containers::is_named;

/// What a file beside pictures is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BesideKind {
    OrientedTexts,
    CreateMl,
    CocoJson,
    RoboflowTable,
    Metadata,
    Xml,
    Json,
    Texts,
    Yaml,
    Tables,
    Arrays,
    Labels,
    /// Members of a tar's samples that no column is made of.
    Members,
    /// Texts of labels for which there is no picture.
    TextsAlone,
    /// Pictures of a dataset of annotations that have none.
    PicturesAlone,
    /// Masks among the pictures of a dataset, which has them as records.
    MaskPictures,
    Pictures,
    Videos,
    Archives,
    Other,
}

use BesideKind::{
    Archives, Arrays, CocoJson, CreateMl, Json, Labels, MaskPictures, Members, Metadata, OrientedTexts, Other,
    Pictures, PicturesAlone, RoboflowTable, Tables, Texts, TextsAlone, Videos, Xml, Yaml,
};

/// Ends of names, in any case, and what such files are. Those that say most are first.
const ENDS: [(&[&str], BesideKind); 10] = [
    (&["createml.json"], CreateMl),
    (&["xml"], Xml),
    (&["json", "jsonl", "ndjson", "geojson"], Json),
    (&["txt", "lst"], Texts),
    (&["yaml", "yml"], Yaml),
    (&["csv", "tsv", "parquet", "arrow", "feather", "xlsx", "xls", "sqlite", "db"], Tables),
    (&["npy", "npz", "mat", "h5", "hdf5", "pkl", "pickle", "pt", "pth", "pts", "flo", "pfm", "dat"], Arrays),
    (&["cls", "cls2", "class", "index", "inx", "id", "count", "lbl", "label", "ann"], Labels),
    (&["mp4", "avi", "mov", "mkv", "webm", "mpg", "mpeg", "m4v"], Videos),
    (&["zip", "tar", "gz", "tgz", "bz2", "xz", "zst", "7z", "rar"], Archives),
];

/// Extensions of pictures that are not decoded.
const PICTURES: [&str; 46] = [
    "heic", "heif", "hif", "jp2", "j2k", "jpf", "jpx", "jpm", "j2c", "jpc", "jxr", "wdp", "psd", "psb", "svg", "svgz",
    "pdf", "eps", "ai", "ico", "cur", "dds", "tga", "exr", "hdr", "qoi", "pcx", "sgi", "ras", "xcf", "dcm", "dicom",
    "nii", "fits", "fit", "cr2", "cr3", "nef", "arw", "dng", "orf", "rw2", "raf", "pef", "srw", "x3f",
];

/// Names, or beginnings of names with a dot, `_` or `-` behind them, of files that need not be read.
const HARMLESS: [&str; 21] = [
    "readme",
    "license",
    "licence",
    "copying",
    "copyright",
    "notice",
    "authors",
    "contributors",
    "citation",
    "changelog",
    "changes",
    "dataset_info",
    "dataset_infos",
    "dataset_dict",
    "thumbs",
    "desktop.ini",
    "icon\r",
    "sha256sums",
    "sha1sums",
    "md5sums",
    "checksums",
];
/// Extensions of such files.
const HARMLESS_ENDS: [&str; 22] = [
    "md", "rst", "html", "htm", "css", "py", "ipynb", "sh", "bib", "log", "md5", "sha1", "sha256", "sha512", "sum",
    "torrent", "cache", "lock", "part", "tmp", "bak", "gitkeep",
];

/// What a file is by its path; nothing if it need not be read.
pub(super) fn kind_of(path: &[u8]) -> Option<BesideKind> {
    let path = Path::new(OsStr::from_bytes(path));
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let begins =
        |known: &str| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '_', '-']));
    if name.is_empty() || name.starts_with('.') || HARMLESS.iter().any(|known| begins(known)) {
        return None;
    }
    if is_named(path, &HARMLESS_ENDS) || path.components().any(|part| part.as_os_str() == "__MACOSX") {
        return None;
    }
    let is_below = |folder: &str| {
        let mut above = path.parent().into_iter().flat_map(Path::components);
        above.any(|part| part.as_os_str().eq_ignore_ascii_case(folder))
    };
    let found = ENDS.iter().find(|(ends, _)| is_named(path, ends)).map(|(_, kind)| *kind);
    Some(match found {
        Some(Texts) if is_below("labelTxt") => OrientedTexts,
        Some(Json) if name.contains("coco") => CocoJson,
        Some(Tables) if matches!(&*name, "_annotations.csv" | "_classes.csv") => RoboflowTable,
        Some(Json | Tables) if name.starts_with("metadata.") => Metadata,
        Some(kind) => kind,
        None if is_named(path, &PICTURES) => Pictures,
        None => Other,
    })
}

impl BesideKind {
    pub(super) fn about(self) -> OversightKind {
        match self {
            OrientedTexts | CreateMl | CocoJson | RoboflowTable | Metadata | Xml | Json | Texts | Yaml | Tables
            | Arrays | Labels | Members | TextsAlone | MaskPictures => OversightKind::Annotations,
            PicturesAlone | Pictures | Videos | Archives | Other => OversightKind::Unread,
        }
    }

    /// So many such files.
    pub(super) fn what(self, count: u64) -> &'static str {
        let (one, several) = match self {
            OrientedTexts => ("text of oriented boxes (DOTA's labelTxt)", "texts of oriented boxes (DOTA's labelTxt)"),
            CreateMl => ("JSON file of CreateML", "JSON files of CreateML"),
            CocoJson => ("JSON file of COCO", "JSON files of COCO"),
            RoboflowTable => ("table of Roboflow", "tables of Roboflow"),
            Metadata => ("table of metadata", "tables of metadata"),
            Xml => (
                "XML file, as Pascal VOC, labelImg and CVAT write them",
                "XML files, as Pascal VOC, labelImg and CVAT write them",
            ),
            Json => (
                "JSON file, as COCO, LabelMe and others write them",
                "JSON files, as COCO, LabelMe and others write them",
            ),
            Texts => {
                ("text, as YOLO and Darknet write them, or a list", "texts, as YOLO and Darknet write them, or lists")
            }
            Yaml => ("YAML file, as YOLO has them", "YAML files, as YOLO has them"),
            Tables => ("table", "tables"),
            Arrays => ("array", "arrays"),
            Labels => ("file of labels", "files of labels"),
            Members => ("member of samples", "members of samples"),
            TextsAlone => {
                ("text of labels for which there is no picture", "texts of labels for which there is no picture")
            }
            PicturesAlone => ("picture without annotations", "pictures without annotations"),
            MaskPictures => (
                "mask among the pictures, by its name, which is a record too",
                "masks among the pictures, by their names, which are records too",
            ),
            Pictures => ("picture of a format that is not decoded", "pictures of formats that are not decoded"),
            Videos => ("video", "videos"),
            Archives => ("archive", "archives"),
            Other => ("other file", "other files"),
        };
        if count == 1 { one } else { several }
    }

    /// What to do about them, as sentences.
    pub(super) fn remedy(self) -> &'static str {
        match self {
            OrientedTexts => {
                "Oriented boxes in pixels are not read. Convert them to YOLO's lines of fractions in \"labels\", or to \
                 COCO's JSON."
            }
            CreateMl => "CreateML's JSON is not read. Export the dataset as COCO's JSON and open it with \"coco:\".",
            CocoJson => "Open the JSON file itself with \"coco:\", with root= for the folder of the pictures.",
            RoboflowTable => {
                "Open the table with \"csv:\", such as columns = { boxes = \"xmin,ymin,xmax,ymax\", classes = \"class\" } \
                 and group = \"true\"."
            }
            Metadata => "Name the columns that are wanted: columns = { labels = \"...\" }.",
            Xml => {
                "Open Pascal VOC's with \"voc:\". CVAT's XML is not read: export the dataset as COCO's JSON and open it with \
                 \"coco:\"."
            }
            Json => {
                "Open COCO's JSON with \"coco:\", with root= for the folder of the pictures. Convert others to it, or to a \
                 table for \"csv:\"."
            }
            Texts => {
                "YOLO's are read with \"yolo:\" if the pictures are in \"images\" and the texts in \"labels\", with the same \
                 names. Lists are read with \"files:\", and tables with \"csv:\"."
            }
            Yaml => "Open YOLO's data.yaml itself, if there are folders \"images\" and \"labels\".",
            Tables => {
                "Open the table itself: \"csv:FILE\" or \"parquet:FILE\", with root= for the folder of the pictures."
            }
            Arrays => "Arrays in files of their own are not read. Pack them with their pictures in a tar (\"npy\").",
            Labels => {
                "If members of one name are a sample, as in a WebDataset, open a tar with members=\"samples\". Otherwise \
                 write the labels into a table for \"csv:\"."
            }
            Members => "Name those that are wanted: columns = { caption = \"txt\" }, or masks = { ... } for PNG masks.",
            TextsAlone => "A picture and its text have the same name. Rename the texts, or remove them.",
            PicturesAlone => "Write annotations for them, or move them away.",
            MaskPictures => {
                "Move masks into a folder of their own, with the names of their pictures, and name it: \
                 masks = { mask = \"FOLDER\" }. If these are pictures like the others, give unread=\"accept\"."
            }
            Pictures => "Convert them to JPEG or PNG.",
            Videos => "Write their frames as pictures.",
            Archives => "Unpack them, or open them with \"tar:\" or \"zip:\".",
            Other => "Move them away, or give unread=\"accept\".",
        }
    }
}
