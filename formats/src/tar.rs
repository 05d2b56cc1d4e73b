//! `tar:`: samples of a `WebDataset`, or pictures in class folders, in tar files. A tar inside a tar is a class, as in the
//! files of `ImageNet`.
//!
//! The first tar decides: its members are samples if members beside each other share a key, and otherwise they are
//! pictures. With named columns they are samples in any case.

mod files;
mod header;
mod member;
mod msgpack;
mod packing;
mod parts;
mod pax;
mod samples;
mod sparse;
mod walk;

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use forebay_columns::Table;
use forebay_sources::{Options, SourceError};

use crate::address::Address;
use crate::archived::{ArchivedPictures, FOLDER};
use crate::opened::DatasetResult;
use crate::packed::{ContainerFile, Packed, PackedMasks, PackedParts};
use crate::progress::Progress;
use crate::scan::Scan;
use crate::scheme::{Indexing, OptionKey, Scheme};
use crate::unpacked::Compression;
use crate::window::Window;
use crate::{containers, folder, thread_pool};
use files::{Tar, TarFiles, stem};
use header::{BLOCK, TarHeader};
use member::KeptPart;
use packing::TarMembers;
use parts::SampleColumns;
use samples::{GatheredSamples, Samples};
use walk::TarWalk;

pub(super) const SCHEME: Scheme = Scheme {
    name: "tar",
    takes: "a .tar, .tar.gz, .tar.zst or .tar.bz2 file, or a folder of them, with samples of a WebDataset or with pictures in class folders",
    options: &[
        OptionKey {
            name: MEMBERS,
            help: "whether members are \"samples\" of a WebDataset or \"files\" in class folders",
        },
        OptionKey { name: CLASSES, help: "whether the classes of files are \"folders\" in the tars or the \"tars\"" },
        FOLDER,
        OptionKey { name: UNFINISHED, help: "\"true\" if the tars have no mark at their end" },
    ],
    has_columns: true,
    recognises,
    open,
    indexing: Indexing::Ranges(TarMembers::from_index),
};

const MEMBERS: &str = "members";
const CLASSES: &str = "classes";
const UNFINISHED: &str = "unfinished";
const EXTENSIONS: [&str; 1] = ["tar"];
/// Extensions of compressed tars that are unpacked into the cache.
const COMPRESSED: [&str; 10] = ["tgz", "tar.gz", "tzst", "tar.zst", "tar.zstd", "taz", "tar.bz2", "tbz2", "tbz", "tb2"];
/// First bytes of compressed files that are not, a program that unpacks them, and what such tars are called.
const REFUSED: (&[u8], &str) = (b"\xfd7zXZ\0", "unxz");
const REFUSED_NAMES: [&str; 2] = ["tar.xz", "txz"];

/// What the members of the tars are.
#[derive(Debug)]
enum TarRecords<'a> {
    Samples(Samples<'a>),
    Files(TarFiles),
}

/// A folder with pictures at its top stays a folder of pictures, even if a tar is among them.
fn recognises(address: &Address) -> bool {
    if address.is_folder() {
        let has_tars = containers::has(address, &EXTENSIONS) || containers::has(address, &COMPRESSED);
        return has_tars && !containers::has(address, &folder::EXTENSIONS);
    }
    let named = |extensions: &[&str]| containers::is_named(address.path(), extensions);
    address.is_file() && (named(&EXTENSIONS) || named(&COMPRESSED) || named(&REFUSED_NAMES) || has_header(address))
}

fn has_header(address: &Address) -> bool {
    let block: Result<[u8; BLOCK], _> = address.beginning(BLOCK as u64).try_into();
    block.is_ok_and(|block| TarHeader::parse(&block).is_ok())
}

fn open(address: &Address, options: &Options, scan: &Scan) -> DatasetResult {
    let path = address.path();
    let addresses = containers::find_compressed(address, &EXTENSIONS, &COMPRESSED)?;
    let mut files = Vec::with_capacity(addresses.len());
    let looks = addresses.iter().map(|file| Ok(ContainerFile::look(file)?.stamp.len));
    let progress = Progress::of_bytes("looking for members of tars", looks.sum::<Result<u64, SourceError>>()?);
    let columns = SampleColumns::new(path, options)?;
    let is_samples = is_samples(options)?;
    let is_class = options.own.choice(CLASSES, &[("folders", false), ("tars", true)])?;
    let keeps = |name: &[u8]| samples::split(name).map_or(KeptPart::Nothing, |(_, suffix)| columns.keeps(&suffix));
    let is_unfinished = options.own.flag(UNFINISHED, false)?;
    let mut found = None;
    let walk_of = |number: usize| {
        let path = addresses[number].path();
        TarWalk { path, keeps: &keeps, is_unfinished, progress: &progress }
    };
    let look = |number: usize| {
        let (mut window, container) = scan.open_unpacked(&addresses[number], options, is_compressed)?;
        refuse_compressed(addresses[number].path(), &mut window)?;
        let end = window.len();
        let members = walk_of(number).members(&mut window, 0, end)?;
        Ok((container, window, members))
    };
    thread_pool::in_order(
        addresses.len(),
        thread_pool::threads_for(address.tree().is_some()),
        look,
        |place, (container, mut window, members)| {
            if members.is_empty() {
                scan.done(window, &container);
                files.push(container);
                return Ok(());
            }
            let number = u32::try_from(place).expect("a pattern means fewer files");
            let file = addresses[place].path();
            let walk = walk_of(place);
            let found = found.get_or_insert_with(|| {
                if is_samples.unwrap_or_else(|| samples::are_samples(&members)) {
                    TarRecords::Samples(Samples::new(&columns, options))
                } else {
                    TarRecords::Files(TarFiles::new(options))
                }
            });
            match found {
                TarRecords::Samples(samples) => samples.add(number, file, members)?,
                TarRecords::Files(_) if is_samples.is_none() && samples::are_samples(&members) => {
                    let problem = "this tar has members with the same key, as samples have, but the tars before it have none. \
                               Give members=\"samples\" or members=\"files\".";
                    return Err(SourceError::malformed_at(file, 0, problem));
                }
                TarRecords::Files(files) => {
                    let tar = Tar { number, class: is_class.then(|| stem(file.as_os_str().as_bytes())) };
                    files.add(&tar, members, &mut window, &walk)?;
                }
            }
            scan.done(window, &container);
            files.push(container);
            Ok(())
        },
    )?;
    let found = match found {
        None => return Err(SourceError::NoRecords { path: path.to_owned() }),
        Some(TarRecords::Samples(samples)) => samples.finish(path)?,
        Some(TarRecords::Files(TarFiles { archived, sparse })) => {
            let ArchivedPictures { names, spans, labels, classes, faults, oversights } =
                archived.finish(path, options.labels)?;
            let members = TarMembers { names: names.into(), sparse, faults };
            let (targets, masks) = (Table::EMPTY, PackedMasks::default());
            GatheredSamples { members, spans, labels, classes, targets, masks, oversights }
        }
    };
    let GatheredSamples { members, spans, labels, classes, targets, masks, oversights } = found;
    let (labels, packing, grains) = (labels.into(), Arc::new(members), Vec::new());
    let parts = PackedParts { files, spans, labels, classes, targets, grains, masks, packing };
    Ok(Packed::new(address, parts, options)?.with_oversights(oversights, options).into())
}

/// Whether members are samples, if the user has said so.
fn is_samples(options: &Options) -> Result<Option<bool>, SourceError> {
    match options.own.choice(MEMBERS, &[("", None), ("samples", Some(true)), ("files", Some(false))])? {
        None if !options.columns.is_empty() || !options.masks.is_empty() => Ok(Some(true)),
        Some(false) if !options.columns.is_empty() || !options.masks.is_empty() => {
            Err(SourceError::bad_option(MEMBERS, "files", "\"samples\" where columns or masks are named"))
        }
        choice => Ok(choice),
    }
}

/// How a file is compressed that would be a tar. A tar may begin as ZLIB does.
fn is_compressed(head: &[u8]) -> Option<Compression> {
    Compression::of(head).filter(|compression| *compression != Compression::Zlib)
}

fn refuse_compressed(path: &Path, window: &mut Window<'_>) -> Result<(), SourceError> {
    let (magic, program) = REFUSED;
    if window.get(0, magic.len()).map_err(SourceError::Outage)? == Some(magic) {
        let problem = format!(
            "this file is compressed in a way that is not unpacked. Unpack it with \"{program}\" and use the result."
        );
        return Err(SourceError::malformed_at(path, 0, problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod writer;
