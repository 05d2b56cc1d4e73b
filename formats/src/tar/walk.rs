//! Goes from header to header of a tar and says which members it has. Nothing that a header says is believed before it was
//! compared with what is left of the file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use forebay_proto::printable;
use forebay_sources::SourceError;

use super::header::{BLOCK, TarHeader, is_zero, until_nul};
use super::pax::Pax;
use crate::containers;
use crate::progress::Progress;
use crate::window::Window;

/// Most bytes of a header that says more about a member, and of a member whose contents are kept.
const MOST_SAID: u64 = 1 << 20;
pub(super) const MOST_KEPT: u64 = 16 << 20;

/// A file in a tar.
#[derive(Debug)]
pub(super) struct TarMember {
    pub name: Vec<u8>,
    /// Where its contents begin.
    pub offset: u64,
    pub len: u64,
    /// Why its contents cannot be read.
    pub fault: Option<&'static str>,
    /// Its contents, if they were asked for.
    pub content: Option<Vec<u8>>,
}

/// How to go through a tar.
#[derive(Clone, Copy)]
pub(super) struct TarWalk<'a> {
    /// The tar that is gone through.
    pub path: &'a Path,
    /// Whether the contents of a member with this name are kept.
    pub keeps: &'a (dyn Fn(&[u8]) -> bool + Sync),
    /// Whether the mark at the end may be missing.
    pub is_unfinished: bool,
    pub progress: &'a Progress,
}

/// What a kind of header means.
enum EntryKind {
    File,
    /// A file without contents that can be read as they are.
    Faulty(&'static str),
    /// Nothing that a dataset has: a folder, a device.
    Passed,
    /// The same, without contents whatever its size says.
    Folder,
    Lines,
    GlobalLines,
    LongName,
    LongLink,
    Volume,
}

const SPARSE: &str = "it is stored as a sparse file. Pack it again without --sparse";
const LINK: &str = "it is a link to another member. Pack it again with --dereference --hard-dereference";

impl EntryKind {
    fn of(header: &TarHeader) -> Self {
        match header.kind {
            0 if header.name.ends_with(b"/") => Self::Folder,
            0 | b'0' | b'7' => Self::File,
            b'1' | b'2' => Self::Faulty(LINK),
            b'5' => Self::Folder,
            b'S' => Self::Faulty(SPARSE),
            b'x' | b'X' => Self::Lines,
            b'g' => Self::GlobalLines,
            b'L' => Self::LongName,
            b'K' => Self::LongLink,
            b'M' => Self::Volume,
            _ => Self::Passed,
        }
    }
}

impl TarWalk<'_> {
    /// The files in the part of the file from `start` to `end`.
    ///
    /// # Errors
    /// A header or the end is not what it must be: what follows cannot be told apart.
    pub(super) fn members(&self, window: &mut Window<'_>, start: u64, end: u64) -> Result<Vec<TarMember>, SourceError> {
        let mut members = Vec::new();
        let (mut pax, mut long_name) = (Pax::default(), None);
        let mut at = start;
        loop {
            let Some(block) = block(window, at, end)? else {
                return if self.is_unfinished && at == end { Ok(members) } else { Err(self.unfinished(at)) };
            };
            if is_zero(&block) {
                self.check_end(window, at, end)?;
                return Ok(members);
            }
            let malformed = |problem: String| SourceError::malformed_at(self.path, at, problem);
            let header = TarHeader::parse(&block).map_err(|problem| {
                malformed(format!(
                    "this is no header of a tar: {problem}. Check that the file is complete, or pack it again."
                ))
            })?;
            let kind = EntryKind::of(&header);
            let is_file =
                !matches!(kind, EntryKind::Lines | EntryKind::GlobalLines | EntryKind::LongName | EntryKind::LongLink);
            // Lines belong to the next file. A header that only says more about that file has its own size.
            let size = match pax.size {
                _ if matches!(kind, EntryKind::Folder) => 0,
                Some(size) if is_file => size,
                _ => header.size,
            };
            let mut data = at + BLOCK as u64;
            if header.kind == b'S' && header.is_extended {
                data = self.behind_map(window, data, end)?;
            }
            if end.checked_sub(data).is_none_or(|rest| size > rest) {
                let name = printable(OsStr::from_bytes(&header.name));
                return Err(malformed(format!(
                    "the member \"{name}\" has {size} bytes, but the file ends before. The file is cut: copy it again."
                )));
            }
            let next = data + size.next_multiple_of(BLOCK as u64);
            match kind {
                EntryKind::Lines => {
                    let lines = self.said(window, at, data, size)?;
                    pax.add(&lines).map_err(|problem| malformed(untrusted(problem)))?;
                }
                EntryKind::GlobalLines => {
                    let lines = self.said(window, at, data, size)?;
                    Pax::check_global(&lines).map_err(|problem| malformed(untrusted(problem)))?;
                }
                EntryKind::LongName => {
                    let name = self.said(window, at, data, size)?;
                    long_name = Some(until_nul(&name).to_vec());
                }
                EntryKind::LongLink => {}
                EntryKind::Volume => {
                    return Err(malformed(
                        "this tar begins in the middle of a file, because it is one of several volumes. Join them, and pack them again as one tar.".into(),
                    ));
                }
                EntryKind::Faulty(LINK) if size > 0 => {
                    return Err(malformed(untrusted("it is a link, but has contents")));
                }
                EntryKind::Folder | EntryKind::Passed => (pax, long_name) = (Pax::default(), None),
                EntryKind::File | EntryKind::Faulty(_) => {
                    let said = std::mem::take(&mut pax);
                    let long_name = long_name.take();
                    let name = said.path.or(long_name).unwrap_or(header.name);
                    let fault = match kind {
                        EntryKind::Faulty(fault) => Some(fault),
                        _ => said.is_sparse.then_some(SPARSE),
                    };
                    let is_kept = fault.is_none() && size <= MOST_KEPT && (self.keeps)(&name);
                    let content = if is_kept { Some(self.bytes(window, data, size)?) } else { None };
                    members.push(TarMember { name, offset: data, len: size, fault, content });
                }
            }
            // A tar in a tar is gone through by itself.
            let is_tar = members.last().is_some_and(|member: &TarMember| member.offset == data && is_tar(&member.name));
            self.progress.advance(if is_tar { data - at } else { next - at });
            at = next;
        }
    }

    /// Where a sparse member's contents begin, behind the blocks with its map.
    fn behind_map(&self, window: &mut Window<'_>, mut at: u64, end: u64) -> Result<u64, SourceError> {
        /// Whether one more block follows.
        const GOES_ON: usize = 504;
        loop {
            let block = block(window, at, end)?.ok_or_else(|| self.unfinished(at))?;
            at += BLOCK as u64;
            if block[GOES_ON] == 0 {
                return Ok(at);
            }
        }
    }

    /// What follows the mark at the end must be zeros: members behind it would be lost in silence.
    fn check_end(&self, window: &mut Window<'_>, mut at: u64, end: u64) -> Result<(), SourceError> {
        while at < end {
            let len = usize::try_from((end - at).min(MOST_SAID)).unwrap_or(BLOCK);
            let Some(rest) = window.get(at, len).map_err(SourceError::Outage)? else { return Err(self.unfinished(at)) };
            if let Some(place) = rest.iter().position(|&byte| byte != 0) {
                return Err(SourceError::malformed_at(
                    self.path,
                    at + place as u64,
                    "something follows the end of the tar. If two tars were joined here, unpack them with \"tar -xif\" and pack them again.",
                ));
            }
            at += len as u64;
        }
        Ok(())
    }

    fn unfinished(&self, at: u64) -> SourceError {
        SourceError::malformed_at(
            self.path,
            at,
            "the tar ends here without its mark of the end, so it may be cut. Copy it again, or give unfinished=true if its \
             program writes none.",
        )
    }

    /// What the header at `at` says more about a member.
    fn said(&self, window: &mut Window<'_>, at: u64, offset: u64, size: u64) -> Result<Vec<u8>, SourceError> {
        if size > MOST_SAID {
            return Err(SourceError::malformed_at(self.path, at, untrusted("it is longer than 1 MiB")));
        }
        self.bytes(window, offset, size)
    }

    /// These bytes of the file, which are inside it.
    fn bytes(&self, window: &mut Window<'_>, offset: u64, size: u64) -> Result<Vec<u8>, SourceError> {
        let len = usize::try_from(size).unwrap_or(usize::MAX);
        let bytes = window.get(offset, len).map_err(SourceError::Outage)?.map(<[u8]>::to_vec);
        bytes.ok_or_else(|| self.unfinished(offset))
    }
}

fn block(window: &mut Window<'_>, at: u64, end: u64) -> Result<Option<[u8; BLOCK]>, SourceError> {
    let fits = at.checked_add(BLOCK as u64).is_some_and(|behind| behind <= end);
    if fits { window.array(at).map_err(SourceError::Outage) } else { Ok(None) }
}

/// Whether a member is a tar, by its name.
pub(super) fn is_tar(name: &[u8]) -> bool {
    containers::is_named(Path::new(OsStr::from_bytes(name)), &["tar"])
}

fn untrusted(problem: &str) -> String {
    format!("the header here cannot be trusted: {problem}. Pack the tar again.")
}
