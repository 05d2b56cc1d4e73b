//! Where libnvjpeg is looked for: what the configuration and the environment name, the CUDA toolkit, the loader's own
//! path, and the folders of Python packages that carry it.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The versions of its interface that are known, newest first.
const SONAMES: [&str; 3] = ["libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so.11"];

/// Where a toolkit keeps its libraries. Those for servers with ARM processors are called SBSA's.
const TOOLKIT: [&str; 2] = [
    "/usr/local/cuda/lib64",
    if cfg!(target_arch = "aarch64") {
        "/usr/local/cuda/targets/sbsa-linux/lib"
    } else {
        "/usr/local/cuda/targets/x86_64-linux/lib"
    },
];

/// Where Python packages keep it, below their common folder.
const PACKAGES: [&str; 3] = ["nvidia/cu13/lib", "nvidia/nvjpeg/lib", "torchvision.libs"];

/// What says where nvJPEG is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NvjpegPlaces {
    /// The file that the configuration names, or `FOREBAY_NVJPEG`. Nothing else is tried then.
    pub file: Option<PathBuf>,
    /// Folders of Python packages (`site-packages`, `dist-packages`).
    pub packages: Vec<PathBuf>,
}

impl NvjpegPlaces {
    /// The places on this machine. `FOREBAY_NVJPEG` names the file, and `FOREBAY_PYTHON_PACKAGES` the first folders of
    /// packages; a trainer sets it for the daemon that it starts. Then come the Python folders of `VIRTUAL_ENV`, of the
    /// Pythons on `PATH`, of the user and of the system.
    pub fn of_this_machine(file: Option<PathBuf>) -> Self {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        let environments =
            ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable).map(|root| root.join("lib"));
        let on_path = pythons_on(&std::env::var_os("PATH").unwrap_or_default());
        let user = variable("HOME").map(|root| root.join(".local/lib"));
        let system = ["/usr/local/lib", "/usr/lib"].map(PathBuf::from);
        let roots = environments.chain(on_path).chain(user).chain(system);
        let pythons = roots.flat_map(|root| entries(&root, "python3"));
        let packages = pythons.flat_map(|python| [python.join("site-packages"), python.join("dist-packages")]);
        let told = std::env::var_os("FOREBAY_PYTHON_PACKAGES").unwrap_or_default();
        let told: Vec<_> = std::env::split_paths(&told).filter(|folder| folder.is_absolute()).collect();
        Self { file: file.or_else(|| variable("FOREBAY_NVJPEG")), packages: told.into_iter().chain(packages).collect() }
    }

    /// The files and names to try, in this order.
    pub(crate) fn candidates(&self) -> Vec<PathBuf> {
        if let Some(file) = &self.file {
            return vec![file.clone()];
        }
        let toolkit = TOOLKIT.iter().flat_map(|folder| SONAMES.map(|name| Path::new(folder).join(name)));
        let toolkit = toolkit.filter(|file| file.exists());
        let loader = SONAMES.map(PathBuf::from);
        let packages = self.packages.iter().flat_map(|root| PACKAGES.iter().map(|folder| root.join(folder)));
        toolkit.chain(loader).chain(packages.flat_map(|folder| entries(&folder, "libnvjpeg."))).collect()
    }
}

/// Folders of libraries of the Pythons on a `PATH`. Links are not followed: in a virtual environment, `python3` is a link,
/// and its packages are beside the link.
fn pythons_on(path: &OsStr) -> Vec<PathBuf> {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute() && folder.join("python3").exists());
    folders.filter_map(|folder| Some(folder.parent()?.join("lib"))).collect()
}

/// The entries of a folder whose names begin with `begin`, the highest version first. Versions are compared as numbers,
/// since 3.13 is later than 3.9.
fn entries(folder: &Path, begin: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(begin)))
        .collect();
    found.sort_by_cached_key(|path| Reverse((numbers(path), path.clone())));
    found
}

/// The numbers in a file's name.
fn numbers(path: &Path) -> Vec<u64> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_file_is_the_only_candidate() {
        let places = NvjpegPlaces { file: Some("/opt/x.so".into()), packages: vec!["/nowhere".into()] };
        assert_eq!(places.candidates(), [PathBuf::from("/opt/x.so")]);
    }

    #[test]
    fn a_virtual_environment_is_found_by_the_python_that_is_called_from_the_path() {
        let root = tempfile::tempdir().unwrap();
        let of = |name: &str| root.path().join(name);
        std::fs::create_dir_all(of("venv/bin")).unwrap();
        std::fs::create_dir_all(of("tools/bin")).unwrap();
        std::os::unix::fs::symlink(std::env::current_exe().unwrap(), of("venv/bin/python3")).unwrap();
        let path = std::env::join_paths([of("tools/bin"), of("venv/bin"), of("nowhere")]).unwrap();
        assert_eq!(pythons_on(&path), [of("venv/lib")]);
    }

    #[test]
    fn of_several_pythons_the_latest_comes_first() {
        let root = tempfile::tempdir().unwrap();
        for name in ["python3.9", "python3.13", "python3", "python3.8", "perl5"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        let expected = ["python3.13", "python3.9", "python3.8", "python3"].map(|name| root.path().join(name));
        assert_eq!(entries(root.path(), "python3"), expected);
    }

    #[test]
    fn the_loaders_path_comes_before_the_folders_of_python_packages_and_new_versions_before_old_ones() {
        let root = tempfile::tempdir().unwrap();
        for file in ["nvidia/cu13/lib/libnvjpeg.so.13", "torchvision.libs/libnvjpeg.36e11081.so.13"] {
            let file = root.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let candidates = NvjpegPlaces { file: None, packages: vec![root.path().to_owned()] }.candidates();
        let bare = candidates.iter().position(|file| file == Path::new("libnvjpeg.so.13")).unwrap();
        let expected = [
            "libnvjpeg.so.13".into(),
            "libnvjpeg.so.12".into(),
            "libnvjpeg.so.11".into(),
            root.path().join("nvidia/cu13/lib/libnvjpeg.so.13"),
            root.path().join("torchvision.libs/libnvjpeg.36e11081.so.13"),
        ];
        assert_eq!(candidates[bare..], expected);
    }
}
