//! Memory that is not all of the machine's: huge pages that were set aside, and the memory of one NUMA node.

use std::{fs, io, path::Path};

use super::{CgroupVersion, Controller, Memory, meminfo_value, number};
use crate::layout::HUGE;
use crate::numa::NODES;

/// The pool of pages of 2 MiB: of the machine below `sys/kernel/mm`, and of a node below its folder.
const POOL: &str = "hugepages/hugepages-2048kB";

const HUGETLB: Controller = Controller {
    name: "hugetlb",
    v1: CgroupVersion {
        mount: "sys/fs/cgroup/hugetlb",
        limit: "hugetlb.2MB.limit_in_bytes",
        usage: "hugetlb.2MB.usage_in_bytes",
        reclaimable: &[],
    },
    v2: CgroupVersion {
        mount: "sys/fs/cgroup",
        limit: "hugetlb.2MB.max",
        usage: "hugetlb.2MB.current",
        reclaimable: &[],
    },
};

/// The huge pages that are free and not reserved, only those of this node if one is given. A kernel without such pages
/// has none.
pub(super) fn of_huge_pages(root: &Path, node: Option<u32>) -> io::Result<Memory> {
    let pool = root.join("sys/kernel/mm").join(POOL);
    let pages = |folder: &Path, file| match fs::read_to_string(folder.join(file)) {
        Ok(text) => number(&text).ok_or_else(|| io::Error::other(format!("{file} of huge pages has no number"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    };
    let of = |pages: u64, limited_by: &str| Memory {
        available: pages.saturating_mul(HUGE as u64),
        limited_by: format!("the pool of free huge pages ({limited_by})"),
    };
    let free = pages(&pool, "free_hugepages")?.saturating_sub(pages(&pool, "resv_hugepages")?);
    let machine = of(free, "/proc/sys/vm/nr_hugepages");
    let bound = match node {
        Some(node) => {
            let pool = format!("{NODES}/node{node}/{POOL}");
            let free = pages(&root.join(&pool), "free_hugepages")?;
            machine.or_less(of(free, &format!("/{pool}/nr_hugepages")))
        }
        None => machine,
    };
    Ok(bound.within_groups(root, &HUGETLB))
}

/// What one node has left: its free memory, and the cache of files.
pub(super) fn of_node(root: &Path, node: u32) -> io::Result<Memory> {
    let path = format!("{NODES}/node{node}/meminfo");
    let text = fs::read_to_string(root.join(&path)).map_err(|error| {
        let words = "this kernel says nothing about NUMA nodes. Leave out ring.numa";
        io::Error::new(error.kind(), format!("cannot read /{path} ({error}): {words}"))
    })?;
    let left = ["MemFree", "Active(file)", "Inactive(file)"].into_iter().map(|key| meminfo_value(&text, key));
    let available = left.sum::<Option<u64>>().ok_or_else(|| io::Error::other(format!("/{path} lacks a value")))?;
    Ok(Memory { available, limited_by: format!("NUMA node {node}") })
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    const MACHINE: [(&str, &str); 2] = [
        ("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "12\n"),
        ("sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages", "2\n"),
    ];

    #[test]
    fn rule_31_huge_pages_that_are_kept_for_others_are_not_free() {
        let root = tree(&MACHINE);
        let memory = of_huge_pages(root.path(), None).unwrap();
        assert_eq!(memory.available, 10 * HUGE as u64);
        let refused = memory.check(11 * HUGE as u64).unwrap_err().to_string();
        assert!(
            refused.contains("22 MiB") && refused.contains("/proc/sys/vm/nr_hugepages) leaves 20 MiB"),
            "{refused}"
        );
        let none = tree(&[]);
        assert_eq!(of_huge_pages(none.path(), None).unwrap().available, 0);
        let broken = tree(&[MACHINE[0], ("sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages", "few")]);
        assert!(of_huge_pages(broken.path(), None).is_err());
    }

    #[test]
    fn rule_31_a_node_and_a_control_group_bound_huge_pages_too() {
        let node = ("sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages", "4");
        let group = [
            ("proc/self/cgroup", "0::/pod\n"),
            ("sys/fs/cgroup/pod/hugetlb.2MB.max", "6291456\n"),
            ("sys/fs/cgroup/pod/hugetlb.2MB.current", "2097152\n"),
        ];
        let root = tree(&[&MACHINE[..], &[node]].concat());
        let bound = |node| of_huge_pages(root.path(), node).unwrap();
        assert_eq!(bound(Some(1)).available, 4 * HUGE as u64);
        assert!(bound(Some(1)).limited_by.contains("/node1/"), "{}", bound(Some(1)).limited_by);
        let root = tree(&[&MACHINE[..], &[node], &group].concat());
        let memory = of_huge_pages(root.path(), Some(1)).unwrap();
        assert_eq!(memory.available, 2 * HUGE as u64);
        assert!(memory.limited_by.ends_with("cgroup/pod"), "{}", memory.limited_by);
    }

    #[test]
    fn rule_31_a_node_has_what_is_free_and_what_caches_of_files_give_up() {
        let meminfo = "Node 1 MemTotal:   9000 kB\nNode 1 MemFree:    1000 kB\nNode 1 Active(anon): 7 kB\n\
                       Node 1 Active(file):  20 kB\nNode 1 Inactive(file):  300 kB\n";
        let root = tree(&[("sys/devices/system/node/node1/meminfo", meminfo)]);
        let memory = of_node(root.path(), 1).unwrap();
        assert_eq!((memory.available, memory.limited_by.as_str()), (1320 << 10, "NUMA node 1"));
        let refused = of_node(root.path(), 0).unwrap_err().to_string();
        assert!(refused.contains("/node0/meminfo") && refused.ends_with("Leave out ring.numa"), "{refused}");
    }
}
