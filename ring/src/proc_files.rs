//! Errors of files below `/proc`, which some sandboxes do not mount: they say so.

use std::io;
use std::path::Path;

/// An error of a file below `/proc`, with the file's name, and with the remedy if `/proc` itself is missing.
pub(crate) fn proc_error(file: impl AsRef<Path>, error: &io::Error) -> io::Error {
    proc_error_below(Path::new("/proc"), file.as_ref(), error)
}

fn proc_error_below(proc: &Path, file: &Path, error: &io::Error) -> io::Error {
    let remedy = if proc.join("self").exists() {
        ""
    } else {
        ". There is no proc file system here, and Forebay needs it: mount it (mount -t proc proc /proc), or let the container have /proc"
    };
    io::Error::new(error.kind(), format!("{} cannot be read: {error}{remedy}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_proc_file_system_an_error_names_the_file_and_the_remedy() {
        let root = tempfile::tempdir().expect("a folder for the test");
        let error = io::Error::from(io::ErrorKind::NotFound);
        let told = proc_error_below(root.path(), Path::new("/proc/meminfo"), &error);
        assert_eq!(told.kind(), io::ErrorKind::NotFound);
        let words = told.to_string();
        assert!(
            words.starts_with("/proc/meminfo cannot be read: ") && words.contains("mount -t proc proc /proc"),
            "{words}"
        );
        let there = proc_error(Path::new("/proc/self/nothing"), &error).to_string();
        assert!(there.starts_with("/proc/self/nothing") && !there.contains("mount"), "{there}");
    }
}
