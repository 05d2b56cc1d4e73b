//! How much memory a ring may take: what the machine has left, and what every cgroup above this process allows.

mod pools;

use std::{fs, io, path::Path};

use crate::backing::{Backing, Pages};
use crate::proc_files::proc_error;

/// The tightest bound on memory at one moment.
///
/// ```
/// use forebay_ring::Memory;
///
/// let memory = Memory::now()?;
/// assert!(memory.check(1).is_ok());
/// let refused = memory.check(u64::MAX).unwrap_err();
/// assert_eq!(refused.available, memory.available);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Bytes that may still be taken.
    pub available: u64,
    /// Who sets the bound: `MemAvailable` or a cgroup's folder.
    pub limited_by: String,
}

/// A ring that would not fit (semantics rule 31).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} of memory are needed, but {limited_by} leaves {}; lower batch_size, prefetch_queue_depth or trainers, or raise that limit", mib(*needed), mib(*available))]
pub struct TooLittle {
    /// Bytes asked for.
    pub needed: u64,
    /// Bytes left.
    pub available: u64,
    /// Who sets the bound.
    pub limited_by: String,
}

/// A controller of cgroups that limits memory.
struct Controller {
    name: &'static str,
    v1: CgroupVersion,
    v2: CgroupVersion,
}

/// File names of one version of cgroups.
struct CgroupVersion {
    /// Where the controller is mounted.
    mount: &'static str,
    limit: &'static str,
    usage: &'static str,
    /// Keys of `memory.stat` whose memory the kernel gives up when it is needed.
    reclaimable: &'static [&'static str],
}

const MEMORY: Controller = Controller {
    name: "memory",
    v1: CgroupVersion {
        mount: "sys/fs/cgroup/memory",
        limit: "memory.limit_in_bytes",
        usage: "memory.usage_in_bytes",
        reclaimable: &["total_inactive_file", "total_active_file"],
    },
    v2: CgroupVersion {
        mount: "sys/fs/cgroup",
        limit: "memory.max",
        usage: "memory.current",
        reclaimable: &["inactive_file", "active_file"],
    },
};

impl Memory {
    /// Reads `/proc/meminfo` and the cgroups of this process.
    pub fn now() -> io::Result<Self> {
        Self::under(Path::new("/"))
    }

    /// The memory that is available for a ring with this backing: huge pages that were set aside, or the machine's free
    /// memory. Only that of its node counts if the ring must be there.
    pub fn for_ring(backing: &Backing) -> io::Result<Self> {
        let root = Path::new("/");
        match (backing.pages, backing.only()) {
            (Pages::Hugetlb, node) => pools::of_huge_pages(root, node),
            (Pages::Thp | Pages::Small, Some(node)) => Ok(Self::under(root)?.or_less(pools::of_node(root, node)?)),
            (Pages::Thp | Pages::Small, None) => Self::now(),
        }
    }

    /// Refuses what does not fit.
    pub fn check(&self, needed: u64) -> Result<(), TooLittle> {
        if needed <= self.available {
            return Ok(());
        }
        Err(TooLittle { needed, available: self.available, limited_by: self.limited_by.clone() })
    }

    fn under(root: &Path) -> io::Result<Self> {
        let file = root.join("proc/meminfo");
        let text = fs::read_to_string(&file).map_err(|error| proc_error(&file, &error))?;
        let available = meminfo_value(&text, "MemAvailable");
        let available = available.ok_or_else(|| io::Error::other("/proc/meminfo has no MemAvailable"))?;
        let machine = Self { available, limited_by: "the machine (MemAvailable)".to_owned() };
        Ok(machine.within_groups(root, &MEMORY))
    }

    /// The tightest of this bound and those of the cgroups of this process.
    fn within_groups(self, root: &Path, controller: &Controller) -> Self {
        let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
        let bounds =
            groups_of(controller, &groups).into_iter().flat_map(|(version, group)| bounds(root, version, group));
        bounds.fold(self, Self::or_less)
    }

    /// The tighter one of two bounds.
    fn or_less(self, other: Self) -> Self {
        if other.available < self.available { other } else { self }
    }
}

/// Bounds of a cgroup and all above it. A folder that cannot be seen from this container has none.
fn bounds(root: &Path, version: &CgroupVersion, group: &str) -> Vec<Memory> {
    let mount = root.join(version.mount);
    let folder = mount.join(group.trim_start_matches('/'));
    let folders = folder.ancestors().take_while(|folder| folder.starts_with(&mount));
    folders.filter_map(|folder| bound(version, folder)).collect()
}

fn bound(version: &CgroupVersion, folder: &Path) -> Option<Memory> {
    let limit = number(&fs::read_to_string(folder.join(version.limit)).ok()?)?;
    let usage = number(&fs::read_to_string(folder.join(version.usage)).ok()?)?;
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let reclaimable = version.reclaimable.iter().filter_map(|key| stat_value(&stat, key)).sum();
    let available = limit.saturating_sub(usage.saturating_sub(reclaimable));
    Some(Memory { available, limited_by: format!("the limit of cgroup {}", folder.display()) })
}

/// Bytes in a line such as `MemFree:   1000 kB`, or, of a NUMA node, `Node 0 MemFree:   1000 kB`.
fn meminfo_value(meminfo: &str, key: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.split_once(key)?.1.strip_prefix(':'))?;
    number(value.trim().strip_suffix("kB")?)?.checked_mul(1024)
}

/// This process's cgroups of a controller, from `/proc/self/cgroup`: `0::PATH` for version 2, `N:NAME:PATH` for version 1.
fn groups_of<'a>(controller: &'a Controller, text: &'a str) -> Vec<(&'a CgroupVersion, &'a str)> {
    let mut groups = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(number), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if number == "0" && controllers.is_empty() {
            groups.push((&controller.v2, path));
        } else if controllers.split(',').any(|name| name == controller.name) {
            groups.push((&controller.v1, path));
        }
    }
    groups
}

fn stat_value(stat: &str, key: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ').and_then(number))
}

/// `max`, version 2's word for no limit, is none.
fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

/// A file system with these files.
#[cfg(test)]
fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal: 9999 kB\nMemAvailable:   1000 kB\n");

    #[test]
    fn rule_31_without_cgroups_the_machine_is_the_bound() {
        let root = tree(&[MEMINFO]);
        let memory = Memory::under(root.path()).unwrap();
        assert_eq!(memory.available, 1000 * 1024);
        assert!(memory.limited_by.contains("MemAvailable"));
    }

    #[test]
    fn rule_31_the_tightest_ancestor_is_the_bound_and_file_cache_does_not_count() {
        let root = tree(&[
            MEMINFO,
            ("proc/self/cgroup", "0::/pod/train\n"),
            ("sys/fs/cgroup/pod/train/memory.max", "max\n"),
            ("sys/fs/cgroup/pod/train/memory.current", "70000\n"),
            ("sys/fs/cgroup/pod/memory.max", "100000\n"),
            ("sys/fs/cgroup/pod/memory.current", "70000\n"),
            ("sys/fs/cgroup/pod/memory.stat", "anon 40000\nfile 30000\ninactive_file 20000\nactive_file 5000\n"),
        ]);
        let memory = Memory::under(root.path()).unwrap();
        assert_eq!(memory.available, 100_000 - (70_000 - 25_000));
        assert!(memory.limited_by.ends_with("cgroup/pod"), "{}", memory.limited_by);
        let refused = memory.check(3 << 20).unwrap_err();
        assert_eq!(refused.needed, 3 << 20);
        assert!(refused.to_string().contains("3 MiB") && refused.to_string().contains("cgroup/pod"), "{refused}");
    }

    #[test]
    fn rule_31_version_1_limits_count_too() {
        let root = tree(&[
            MEMINFO,
            ("proc/self/cgroup", "5:cpu,memory:/docker/a\n1:name=systemd:/x\n0::/\n"),
            ("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "5000\n"),
            ("sys/fs/cgroup/memory/docker/memory.usage_in_bytes", "6000\n"),
        ]);
        let memory = Memory::under(root.path()).unwrap();
        assert_eq!(memory.available, 0, "usage over the limit leaves nothing");
    }
}
