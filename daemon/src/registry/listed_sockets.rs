//! The kernel's list of sockets with names, and the registries that it tells of. Any user may have made what is listed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{CONTROL, FOLDER, METRICS, NEW, processes};

/// It lists the sockets of the network namespace.
const LIST: &str = "/proc/self/net/unix";
/// More than a machine has: a million sockets.
const LONGEST: u64 = 256 << 20;
/// Words before the name of a socket.
const WORDS: usize = 7;

/// The list; empty if the system has none.
pub(super) fn read() -> Vec<u8> {
    let mut list = Vec::new();
    if let Ok(file) = File::open(LIST) {
        // A part of it is of use as well.
        let _part = file.take(LONGEST).read_to_end(&mut list);
    }
    list
}

/// Folders that may be registries, by the names of the sockets in them. A socket keeps the name here that it was made with.
pub(super) fn registries(list: &[u8]) -> BTreeSet<PathBuf> {
    let names = list.split(|&byte| byte == b'\n').filter_map(name);
    names.filter_map(|name| registry(Path::new(OsStr::from_bytes(name)))).map(Path::to_owned).collect()
}

/// What is after the words of a line and one space. It may have spaces itself.
fn name(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line;
    for _ in 0..WORDS {
        let word = rest.iter().position(|&byte| byte != b' ')?;
        rest = &rest[word..];
        rest = &rest[rest.iter().position(|&byte| byte == b' ')?..];
    }
    Some(&rest[1..])
}

fn registry(socket: &Path) -> Option<&Path> {
    let name = socket.file_name()?.to_str()?;
    let folder =
        socket.parent().filter(|folder| folder.is_absolute() && folder.file_name() == Some(FOLDER.as_ref()))?;
    let stem = [CONTROL, METRICS, NEW].iter().find_map(|end| name.strip_suffix(end))?;
    processes(stem).map(|_| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_sockets_that_are_named_as_entries_may_be_registries() {
        let list = b"Num       RefCount Protocol Flags    Type St Inode Path
0000000023937f5a: 00000003 00000000 00000000 0005 03 7890045 /run/user/1/forebay/private/12-34.new
0000000023937f5b: 00000002 00000000 00010000 0001 01     5 /tmp/a b/private/5-6.metrics
0000000023937f5c: 00000002 00000000 00010000 0001 01 54321 /tmp/a b/private/7-8.sock
00000000ca7c987f: 00000003 00000000 00000000 0005 03 7889414
00000000ca7c987f: 00000003 00000000 00000000 0005 03 7889414 @/x/private/1-2.sock
00000000ca7c987f: 00000003 00000000 00000000 0005 03 7889414 private/1-2.sock
00000000ca7c987f: 00000003 00000000 00000000 0005 03 7889414 /x/private/1-b.sock
00000000ca7c987f: 00000003 00000000 00000000 0005 03 7889414 /x/public/1-2.sock
00000000ca7c987f: 00000003 00000000 00000000 0005 03 7889414 /x/private/control.sock

 7 \xff
";
        let found: Vec<_> = registries(list).into_iter().collect();
        assert_eq!(found, [Path::new("/run/user/1/forebay/private"), Path::new("/tmp/a b/private")]);
        assert!(registries(b"").is_empty());
    }

    #[test]
    fn a_socket_that_was_made_is_in_the_list() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(FOLDER);
        std::fs::create_dir(&folder).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(folder.join("3-4.new")).unwrap();
        assert!(registries(&read()).contains(&folder));
    }
}
