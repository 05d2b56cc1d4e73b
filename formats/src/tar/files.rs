//! Members of tars that are pictures in class folders. A tar within a tar is a class.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use forebay_sources::{Options, SourceError};

use super::member::{TarMember, is_tar};
use super::packing::SparseMaps;
use super::walk::TarWalk;
use super::{COMPRESSED, EXTENSIONS};
use crate::archived::Archived;
use crate::containers;
use crate::packed::Span;
use crate::window::Window;

/// The pictures that were found so far.
#[derive(Debug)]
pub(super) struct TarFiles {
    pub archived: Archived,
    /// Of the pictures that are stored without their holes.
    pub sparse: SparseMaps,
}

/// A tar whose members are files.
pub(super) struct Tar<'a> {
    /// Its place in the list of files.
    pub number: u32,
    /// The class of all its pictures, if it is one.
    pub class: Option<&'a [u8]>,
}

impl TarFiles {
    /// No picture yet.
    pub(super) fn new(options: &Options) -> Self {
        Self { archived: Archived::new(options), sparse: SparseMaps::new() }
    }

    /// Adds the members of a tar.
    ///
    /// # Errors
    /// A tar within the tar cannot be read.
    pub(super) fn add(
        &mut self,
        tar: &Tar<'_>,
        members: Vec<TarMember>,
        window: &mut Window<'_>,
        walk: &TarWalk<'_>,
    ) -> Result<(), SourceError> {
        for member in members {
            if !is_tar(&member.name) {
                self.add_member(tar, b"", tar.class, member);
                continue;
            }
            let holes = member.sparse.as_ref().map(|_| "it is stored as a sparse file. Pack it again without --sparse");
            if let Some(fault) = member.fault.or(holes) {
                let problem = format!("the tar inside this tar cannot be read: {fault}.");
                return Err(SourceError::malformed_at(walk.path, member.offset, problem));
            }
            let inner = walk.members(window, member.offset, member.offset + member.len)?;
            let place = [&member.name, &b"/"[..]].concat();
            for picture in inner {
                self.add_member(tar, &place, Some(stem(&member.name)), picture);
            }
        }
        Ok(())
    }

    /// Adds a picture that is at this place in the tar.
    fn add_member(&mut self, tar: &Tar<'_>, place: &[u8], class: Option<&[u8]>, member: TarMember) {
        if !self.archived.takes(&member.name) {
            self.archived.leave_out(&[place, &member.name].concat());
            return;
        }
        let span = Span { file: tar.number, offset: member.offset, len: member.len };
        let name = [place, &member.name].concat();
        let path = class.map_or_else(|| member.name.clone(), |class| [class, b"/", base(&member.name)].concat());
        let record = self.archived.add(&name, &path, span, member.fault);
        if let Some(map) = member.sparse {
            self.sparse.insert(record, map);
        }
    }
}

/// A name without its folders.
fn base(name: &[u8]) -> &[u8] {
    name.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// A tar's name without its folders and extension.
pub(super) fn stem(name: &[u8]) -> &[u8] {
    let path = Path::new(OsStr::from_bytes(name));
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    // `a.tar.gz` has two extensions.
    let is_double = containers::is_named(path, &COMPRESSED) && containers::is_named(Path::new(stem), &EXTENSIONS);
    if is_double { Path::new(stem).file_stem().unwrap_or(stem) } else { stem }.as_bytes()
}
