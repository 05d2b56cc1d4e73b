//! The environment variables that decide where sockets, ledgers and caches are (semantics rules 1, 4, 27, 53 and 54). They
//! are read once.

use std::env;
use std::path::{Path, PathBuf};

/// The parts of a process's environment that determine defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// User id of the process.
    pub uid: u32,
    /// `RUNTIME_DIRECTORY`, which systemd sets for a service.
    pub runtime_directory: Option<PathBuf>,
    /// `STATE_DIRECTORY`, which systemd sets for a service.
    pub state_directory: Option<PathBuf>,
    /// `CACHE_DIRECTORY`, which systemd sets for a service.
    pub cache_directory: Option<PathBuf>,
    /// Folder of the sockets of this user's daemon: trainers look there as well (semantics rule 27).
    pub user_sockets: PathBuf,
    /// `XDG_STATE_HOME`, or `~/.local/state`.
    pub user_state: Option<PathBuf>,
    /// `XDG_CACHE_HOME`, or `~/.cache`.
    pub user_cache: Option<PathBuf>,
    /// `FOREBAY_CACHE_SIZE`: the size of the cache on a local disk, if no configuration has it.
    pub cache_size: Option<String>,
    /// `FOREBAY_CACHE`: the folder of that cache, if no configuration has it.
    pub cache_folder: Option<PathBuf>,
    /// `FOREBAY_NODE`: the name of this daemon for a coordinator, if no configuration has it.
    pub node: Option<String>,
    /// `LOCAL_WORLD_SIZE`, which a launcher of training jobs sets.
    pub local_world_size: Option<String>,
}

impl Environment {
    /// Reads the environment of this process.
    pub fn of_process() -> Self {
        let uid = rustix::process::geteuid().as_raw();
        let folder = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // systemd separates several folders by colons; ours is the first.
        let first = |name| {
            let all = folder(name)?.into_os_string().into_string().ok()?;
            all.split(':').next().map(PathBuf::from)
        };
        Self {
            uid,
            runtime_directory: first("RUNTIME_DIRECTORY"),
            state_directory: first("STATE_DIRECTORY"),
            cache_directory: first("CACHE_DIRECTORY"),
            user_sockets: forebay_ring::socket_dir(env::var_os("XDG_RUNTIME_DIR").as_deref()),
            user_state: folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/state"))),
            user_cache: folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache"))),
            cache_size: folder("FOREBAY_CACHE_SIZE").map(|size| size.to_string_lossy().into_owned()),
            cache_folder: folder("FOREBAY_CACHE"),
            node: folder("FOREBAY_NODE").map(|name| name.to_string_lossy().into_owned()),
            local_world_size: env::var("LOCAL_WORLD_SIZE").ok(),
        }
    }

    /// Where the sockets of a daemon are.
    pub fn socket_dir(&self) -> PathBuf {
        let service = (self.uid == 0).then(|| PathBuf::from("/run/forebay"));
        self.runtime_directory.clone().or(service).unwrap_or_else(|| self.user_sockets.clone())
    }

    /// Where the indexes of datasets are. `None` if there is no home folder.
    pub fn index_dir(&self) -> Option<PathBuf> {
        Some(self.cache_dir()?.join("index"))
    }

    /// Where the cache on a local disk is. `None` if there is no home folder; then the folder must be given.
    pub fn object_cache_dir(&self) -> Option<PathBuf> {
        self.cache_folder.clone().or_else(|| Some(self.cache_dir()?.join("objects")))
    }

    fn cache_dir(&self) -> Option<PathBuf> {
        let service = (self.uid == 0).then(|| PathBuf::from("/var/cache/forebay"));
        let user = || self.user_cache.as_ref().map(|folder| folder.join("forebay"));
        self.cache_directory.clone().or(service).or_else(user)
    }

    /// Where ledgers are stored. `None` if there is no home folder; then the path must be given.
    pub fn state_dir(&self) -> Option<PathBuf> {
        let service = (self.uid == 0).then(|| Path::new("/var/lib/forebay").to_owned());
        let user = || self.user_state.as_ref().map(|folder| folder.join("forebay"));
        self.state_directory.clone().or(service).or_else(user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user() -> Environment {
        Environment {
            uid: 1000,
            user_sockets: "/run/user/1000/forebay".into(),
            user_state: Some("/home/ada/.local/state".into()),
            user_cache: Some("/home/ada/.cache".into()),
            ..Environment::default()
        }
    }

    #[test]
    fn rule_1_ledgers_stand_in_var_lib_for_a_service_and_at_home_for_a_user() {
        assert_eq!(user().state_dir(), Some("/home/ada/.local/state/forebay".into()));
        assert_eq!(Environment { uid: 0, ..user() }.state_dir(), Some("/var/lib/forebay".into()));
        let service = Environment { state_directory: Some("/var/lib/private/forebay".into()), ..user() };
        assert_eq!(service.state_dir(), Some("/var/lib/private/forebay".into()));
    }

    #[test]
    fn rule_53_indexes_are_in_the_users_cache_or_the_services() {
        assert_eq!(user().index_dir(), Some("/home/ada/.cache/forebay/index".into()));
        assert_eq!(Environment { uid: 0, ..user() }.index_dir(), Some("/var/cache/forebay/index".into()));
        let service = Environment { cache_directory: Some("/var/cache/private/forebay".into()), ..user() };
        assert_eq!(service.index_dir(), Some("/var/cache/private/forebay/index".into()));
        assert_eq!(Environment { user_cache: None, ..user() }.index_dir(), None);
    }

    #[test]
    fn rule_54_the_cache_on_a_local_disk_is_beside_the_indexes_or_where_a_variable_says() {
        assert_eq!(user().object_cache_dir(), Some("/home/ada/.cache/forebay/objects".into()));
        assert_eq!(Environment { uid: 0, ..user() }.object_cache_dir(), Some("/var/cache/forebay/objects".into()));
        let given = Environment { cache_folder: Some("/scratch/ada".into()), uid: 0, ..user() };
        assert_eq!(given.object_cache_dir(), Some("/scratch/ada".into()));
        assert_eq!(Environment { user_cache: None, ..user() }.object_cache_dir(), None);
    }

    #[test]
    fn rule_27_sockets_are_in_the_users_folder_or_the_services() {
        assert_eq!(user().socket_dir(), Path::new("/run/user/1000/forebay"));
        assert_eq!(Environment { uid: 0, ..user() }.socket_dir(), Path::new("/run/forebay"));
        let service = Environment { runtime_directory: Some("/run/forebay".into()), ..user() };
        assert_eq!(service.socket_dir(), Path::new("/run/forebay"));
    }
}
