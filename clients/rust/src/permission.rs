//! Explains to a user without permission which users may use a daemon's socket.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use forebay_printable::printable;

/// Says who may, and what to do, by the rights of the socket or of the folder that hides it.
pub(crate) fn who_may_use(socket: &Path) -> String {
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    let seen = socket.ancestors().find_map(|path| Some((path, fs::metadata(path).ok()?)));
    match seen {
        Some((path, rights)) => told(path, rights.mode(), rights.uid(), rights.gid(), &groups),
        None => "only its daemon's user may look there".to_owned(),
    }
}

fn told(path: &Path, mode: u32, user: u32, group: u32, groups: &str) -> String {
    let path = printable(path);
    // A user who joins the group root gets far more than this socket.
    if mode & 0o070 == 0 || group == 0 {
        return format!(
            "{path} is for the user with number {user} alone; give [control] unix_group in the daemon's configuration"
        );
    }
    match name(groups, group) {
        Some(name) => format!(
            "{path} is for members of the group {name:?}; become one (`sudo usermod -aG {name} USER`), and log in again"
        ),
        None => format!(
            "{path} is for processes with the group of number {group}; give it to the trainer (`docker run --group-add {group}`, \
             supplementalGroups or fsGroup in Kubernetes), or become a member and log in again"
        ),
    }
}

fn name(groups: &str, number: u32) -> Option<&str> {
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(number)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: &str = "root:x:0:\ntrainers:x:700:ada,grace\n";

    #[test]
    fn the_group_that_may_use_a_socket_is_named() {
        let told = |mode, group| told(Path::new("/run/forebay/forebay.sock"), mode, 998, group, GROUPS);
        assert!(told(0o140_660, 700).contains("usermod -aG trainers"), "{}", told(0o140_660, 700));
        assert!(told(0o140_660, 701).contains("--group-add 701"), "{}", told(0o140_660, 701));
        assert!(told(0o140_600, 700).contains("the user with number 998 alone"), "{}", told(0o140_600, 700));
    }

    #[test]
    fn no_user_is_told_to_join_the_group_of_root() {
        for mode in [0o040_750, 0o140_660, 0o140_600] {
            let told = told(Path::new("/run/forebay"), mode, 0, 0, GROUPS);
            assert!(told.contains("[control] unix_group") && !told.contains("usermod"), "{told}");
        }
    }

    #[test]
    fn a_folder_that_hides_the_socket_is_named_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let told = who_may_use(&folder.path().join("forebay.sock"));
        assert!(told.starts_with(&folder.path().display().to_string()), "{told}");
        assert!(!told.contains("forebay.sock"), "{told}");
    }
}
