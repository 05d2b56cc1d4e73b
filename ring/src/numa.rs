//! The NUMA nodes of this machine that have memory.

use std::{fs, path::Path};

/// Where Linux describes its nodes.
pub(crate) const NODES: &str = "sys/devices/system/node";
/// More nodes than any kernel is built for: a list with more is not trusted.
pub(crate) const MOST_NODES: usize = 1024;

/// A node that this machine does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this machine has no NUMA node {node} with memory, only {}; set ring.numa to one that it has, or leave it out",
    shown(there)
)]
pub struct NoNode {
    /// The node.
    pub node: u32,
    /// Those that it has.
    pub there: Vec<u32>,
}

/// The nodes that have memory, by number. A kernel without NUMA has one node, with the number 0.
pub fn numa_nodes() -> Vec<u32> {
    nodes_under(Path::new("/"))
}

/// Refuses a node that is not there.
pub(crate) fn check(node: u32) -> Result<(), NoNode> {
    let there = numa_nodes();
    if there.contains(&node) { Ok(()) } else { Err(NoNode { node, there }) }
}

/// Numbers as Linux lists them: `0-3,8`. None if that is something else, or has a number from `below` on.
pub fn kernel_list(list: &str, below: usize) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for range in list.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last >= below {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

fn nodes_under(root: &Path) -> Vec<u32> {
    let list = fs::read_to_string(root.join(NODES).join("has_memory")).unwrap_or_default();
    let nodes = kernel_list(&list, MOST_NODES).unwrap_or_default();
    let nodes: Vec<u32> = nodes.into_iter().filter_map(|node| u32::try_from(node).ok()).collect();
    if nodes.is_empty() { vec![0] } else { nodes }
}

fn shown(nodes: &[u32]) -> String {
    nodes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(list: Option<&str>) -> Vec<u32> {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(NODES);
        fs::create_dir_all(&folder).unwrap();
        if let Some(list) = list {
            fs::write(folder.join("has_memory"), list).unwrap();
        }
        nodes_under(root.path())
    }

    #[test]
    fn nodes_with_memory_are_those_that_linux_lists_and_a_kernel_without_numa_has_node_0() {
        assert_eq!(nodes(Some("0-1,4\n")), [0, 1, 4]);
        assert_eq!(nodes(Some("2\n")), [2]);
        for none in [None, Some("\n"), Some("many"), Some("0-99999999")] {
            assert_eq!(nodes(none), [0], "{none:?}");
        }
    }

    #[test]
    fn a_node_that_is_not_there_is_refused_by_name_with_those_that_are() {
        let there = numa_nodes();
        check(there[0]).unwrap();
        let node = there.iter().max().unwrap() + 1;
        let refused = check(node).unwrap_err();
        assert_eq!(refused, NoNode { node, there });
        assert!(refused.to_string().contains(&format!("no NUMA node {node} with memory")), "{refused}");
        let two = NoNode { node: 7, there: vec![0, 2] }.to_string();
        assert!(two.contains("only 0, 2; set ring.numa"), "{two}");
    }

    #[test]
    fn a_list_that_is_none_is_not_guessed_at() {
        assert_eq!(kernel_list("3-1", 10), Some(vec![]));
        for wrong in ["5-", "-5", "a", "0,b", "1-2-3", "10"] {
            assert_eq!(kernel_list(wrong, 10), None, "{wrong}");
        }
    }
}
