//! Goes from header to header of a tar and says which members it has. Nothing that a header says is believed before it was
//! compared with what is left of the file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use forebay_printable::printable;
use forebay_sources::SourceError;

use super::header::{BLOCK, TarHeader, is_zero, until_nul};
use super::member::{HEAD, KeptPart, TarMember, is_tar};
use super::pax::{Pax, PaxSparse};
use super::sparse::SparsePieces;
use crate::progress::Progress;
use crate::window::Window;

/// Most bytes of a header that says more about a member.
const MOST_SAID: u64 = 1 << 20;

/// How to go through a tar.
#[derive(Clone, Copy)]
pub(super) struct TarWalk<'a> {
    /// The tar that is gone through.
    pub path: &'a Path,
    /// What is kept of the contents of a member with this name.
    pub keeps: &'a (dyn Fn(&[u8]) -> KeptPart + Sync),
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

const LINK: &str = "it is a link to another member. Pack it again with --dereference --hard-dereference";

impl EntryKind {
    fn of(header: &TarHeader) -> Self {
        match header.kind {
            0 if header.name.ends_with(b"/") => Self::Folder,
            // GNU tar's old format writes sparse files as a kind of their own.
            0 | b'0' | b'7' | b'S' => Self::File,
            b'1' | b'2' => Self::Faulty(LINK),
            b'5' => Self::Folder,
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
                if self.is_unfinished && at == end {
                    return Ok(members);
                }
                return Err(if at == start && at < end { self.no_tar(at) } else { self.unfinished(at) });
            };
            if is_zero(&block) {
                self.check_end(window, at, end)?;
                return Ok(members);
            }
            let malformed = |problem: String| SourceError::malformed_at(self.path, at, problem);
            let header = TarHeader::parse(&block).map_err(|problem| {
                malformed(format!(
                    "this is not a header of a tar: {problem}. Check that the file is complete, or pack it again."
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
            let mut old_map = (header.kind == b'S').then(|| SparsePieces::of_header(&block));
            if let Some(map) = old_map.as_mut().filter(|_| header.is_extended) {
                data = self.behind_map(window, data, end, map)?;
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
                    let name = long_name.take().unwrap_or(header.name);
                    let fault = if let EntryKind::Faulty(fault) = kind { Some(fault) } else { None };
                    let member = TarMember { name, offset: data, len: size, sparse: None, fault, content: None };
                    members.push(self.file(window, member, std::mem::take(&mut pax), old_map)?);
                }
            }
            // A tar in a tar is gone through by itself.
            let is_tar = members.last().is_some_and(|member: &TarMember| member.offset == data && is_tar(&member.name));
            self.progress.advance(if is_tar { data - at } else { next - at });
            at = next;
        }
    }

    /// A file, with what the lines before its header say of it. `old_map` is the map of its holes that its own header has.
    fn file(
        &self,
        window: &mut Window<'_>,
        mut member: TarMember,
        said: Pax,
        old_map: Option<SparsePieces>,
    ) -> Result<TarMember, SourceError> {
        let (own_name, map) = match said.sparse.map(|sparse| *sparse) {
            Some(PaxSparse { name, map, has_lines, .. }) => (name, Some((map, has_lines))),
            None => (None, old_map.map(|map| (map, false))),
        };
        if let Some(name) = own_name.or(said.path) {
            member.name = name;
        }
        if let Some((map, has_lines)) = map.filter(|_| member.fault.is_none()) {
            self.put_holes(window, &mut member, map, has_lines)?;
        }
        self.keep(window, &mut member)?;
        Ok(member)
    }

    /// Where a sparse member's contents begin, behind the blocks with more of its map.
    fn behind_map(
        &self,
        window: &mut Window<'_>,
        mut at: u64,
        end: u64,
        map: &mut SparsePieces,
    ) -> Result<u64, SourceError> {
        loop {
            let block = block(window, at, end)?.ok_or_else(|| self.unfinished(at))?;
            at += BLOCK as u64;
            if !map.add_block(&block) {
                return Ok(at);
            }
        }
    }

    /// Notes where the stored bytes of a sparse member belong. If `has_lines`, the map is in front of them.
    fn put_holes(
        &self,
        window: &mut Window<'_>,
        member: &mut TarMember,
        mut map: SparsePieces,
        has_lines: bool,
    ) -> Result<(), SourceError> {
        if has_lines {
            let mut looked_at = BLOCK as u64;
            let lines = loop {
                let bytes = self.bytes(window, member.offset, looked_at.min(member.len))?;
                match map.set_lines(&bytes) {
                    None if looked_at < member.len.min(MOST_SAID) => looked_at *= 8,
                    lines => break lines,
                }
            };
            let lines = lines.map(|lines| (lines as u64).next_multiple_of(BLOCK as u64));
            let Some(lines) = lines.filter(|lines| *lines <= member.len) else {
                member.fault = Some("the map of its pieces does not end");
                return Ok(());
            };
            member.offset += lines;
            member.len -= lines;
        }
        match map.finish(member.len) {
            Ok(map) => member.sparse = Some(Box::new(map)),
            Err(fault) => member.fault = Some(fault),
        }
        Ok(())
    }

    /// Reads what is kept of a member's contents.
    fn keep(&self, window: &mut Window<'_>, member: &mut TarMember) -> Result<(), SourceError> {
        let has_holes = member.sparse.is_some();
        let kept = match (self.keeps)(&member.name) {
            _ if member.fault.is_some() => return Ok(()),
            KeptPart::Head if !has_holes => member.len.min(HEAD),
            KeptPart::All if member.file_len() <= member.most_kept() => member.len,
            KeptPart::All | KeptPart::Head | KeptPart::Nothing => return Ok(()),
        };
        let mut content = self.bytes(window, member.offset, kept)?;
        if let Some(map) = &member.sparse
            && map.expand(&mut content).is_err()
        {
            return Ok(());
        }
        member.content = Some(content);
        Ok(())
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

    fn no_tar(&self, at: u64) -> SourceError {
        let problem = "this is not a tar: it is shorter than the header of a member. Check that it is the right file, and \
                       complete.";
        SourceError::malformed_at(self.path, at, problem)
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

fn untrusted(problem: &str) -> String {
    format!("the header here cannot be trusted: {problem}. Pack the tar again.")
}
