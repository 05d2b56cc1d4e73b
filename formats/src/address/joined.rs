//! The URL of what has a name below a folder of a store.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What has this name below a folder of a store. Keys are texts, and have no parts that lead upwards: those of the name are
/// followed here. A name that leads out of the store is no URL of it.
pub(super) fn joined(folder: &Path, name: &Path) -> PathBuf {
    let name = name.as_os_str().as_encoded_bytes();
    let leads = |part: &[u8]| part == b"." || part == b"..";
    let mut path = folder.to_owned();
    if name.starts_with(b"/") {
        return PathBuf::from(OsStr::from_bytes(name));
    }
    if !name.split(|&byte| byte == b'/').any(leads) {
        let whole = [path.as_os_str().as_encoded_bytes(), b"/", name].concat();
        return PathBuf::from(OsStr::from_bytes(whole.strip_suffix(b"/").unwrap_or(&whole)));
    }
    for part in name.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(path.pop()),
            part => path.push(OsStr::from_bytes(part)),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_joined_to_urls_byte_by_byte_and_never_lead_out_of_the_store() {
        let join = |name: &str| joined(Path::new("s3://bucket/a/b"), Path::new(name)).to_str().unwrap().to_owned();
        assert_eq!(join("c/1.jpg"), "s3://bucket/a/b/c/1.jpg");
        assert_eq!(join("c//1 %20+.jpg"), "s3://bucket/a/b/c//1 %20+.jpg");
        assert_eq!(join("../c/./1.jpg"), "s3://bucket/a/c/1.jpg");
        assert_eq!(join("x/../../c"), "s3://bucket/a/c");
        assert_eq!((join(""), join("c/")), ("s3://bucket/a/b".into(), "s3://bucket/a/b/c".into()));
        for outside in ["/etc/passwd", "../../../x", "../../../../x", "../../../other/x"] {
            assert!(!join(outside).starts_with("s3://bucket"), "{outside}");
        }
    }
}
