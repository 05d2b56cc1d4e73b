//! What the environment says about where sockets and ledgers belong (semantics rules 1, 4 and 27). Read once.

use std::env;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The environment of a process, as far as it decides about defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// User id of the process.
    pub uid: u32,
    /// `RUNTIME_DIRECTORY`, which systemd sets for a service.
    pub runtime_directory: Option<PathBuf>,
    /// `STATE_DIRECTORY`, which systemd sets for a service.
    pub state_directory: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR`, or `/run/user/UID` where that is this user's.
    pub user_runtime: Option<PathBuf>,
    /// `XDG_STATE_HOME`, or `~/.local/state`.
    pub user_state: Option<PathBuf>,
    /// `LOCAL_WORLD_SIZE`, which a launcher of training jobs sets.
    pub local_world_size: Option<String>,
}

impl Surroundings {
    /// Reads the environment of this process.
    pub fn of_process() -> Self {
        let uid = rustix::process::geteuid().as_raw();
        let folder = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // systemd separates several folders by colons; ours is the first.
        let first = |name| {
            let all = folder(name)?.into_os_string().into_string().ok()?;
            all.split(':').next().map(PathBuf::from)
        };
        let of_user = || {
            let path = PathBuf::from(format!("/run/user/{uid}"));
            path.metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == uid).then_some(path)
        };
        Self {
            uid,
            runtime_directory: first("RUNTIME_DIRECTORY"),
            state_directory: first("STATE_DIRECTORY"),
            user_runtime: folder("XDG_RUNTIME_DIR").or_else(of_user),
            user_state: folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/state"))),
            local_world_size: env::var("LOCAL_WORLD_SIZE").ok(),
        }
    }

    /// Where sockets stand. Nothing: the caller makes a folder that only this user may enter.
    pub fn socket_dir(&self) -> Option<PathBuf> {
        let service = (self.uid == 0).then(|| PathBuf::from("/run/forebay"));
        let user = || self.user_runtime.as_ref().map(|folder| folder.join("forebay"));
        self.runtime_directory.clone().or(service).or_else(user)
    }

    /// Where ledgers are kept. Nothing: there is no home, and the path has to be given.
    pub fn state_dir(&self) -> Option<PathBuf> {
        let service = (self.uid == 0).then(|| Path::new("/var/lib/forebay").to_owned());
        let user = || self.user_state.as_ref().map(|folder| folder.join("forebay"));
        self.state_directory.clone().or(service).or_else(user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user() -> Surroundings {
        Surroundings {
            uid: 1000,
            user_runtime: Some("/run/user/1000".into()),
            user_state: Some("/home/ada/.local/state".into()),
            ..Surroundings::default()
        }
    }

    #[test]
    fn rule_1_ledgers_stand_in_var_lib_for_a_service_and_at_home_for_a_user() {
        assert_eq!(user().state_dir(), Some("/home/ada/.local/state/forebay".into()));
        assert_eq!(Surroundings { uid: 0, ..user() }.state_dir(), Some("/var/lib/forebay".into()));
        let service = Surroundings { state_directory: Some("/var/lib/private/forebay".into()), ..user() };
        assert_eq!(service.state_dir(), Some("/var/lib/private/forebay".into()));
    }

    #[test]
    fn rule_27_sockets_stand_in_the_users_runtime_folder_or_nowhere_by_name() {
        assert_eq!(user().socket_dir(), Some("/run/user/1000/forebay".into()));
        assert_eq!(Surroundings { uid: 0, ..user() }.socket_dir(), Some("/run/forebay".into()));
        assert_eq!(Surroundings { user_runtime: None, ..user() }.socket_dir(), None);
        let service = Surroundings { runtime_directory: Some("/run/forebay".into()), ..user() };
        assert_eq!(service.socket_dir(), Some("/run/forebay".into()));
    }
}
