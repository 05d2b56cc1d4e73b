//! The cores near a device: those of its NUMA node. Their threads reach the device and its memory without crossing
//! another processor.

use std::path::Path;

use forebay_ring::kernel_list;
use parking_lot::Mutex;

use super::{allowed, bind};

/// Where Linux tells of the devices on the PCI bus.
const DEVICES: &str = "/sys/bus/pci/devices";

/// Cores near a device. None where nothing is known of them, or where all that may be used are near.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Near(Vec<usize>);

impl Near {
    /// The cores near the device with this address (`0000:3B:00.0`), among those that the calling thread may run on.
    pub(crate) fn of(address: &str) -> Self {
        allowed().map_or_else(|_| Self::default(), |allowed| Self::in_tree(Path::new(DEVICES), address, &allowed))
    }

    /// The same for a tree as [`DEVICES`] has it.
    fn in_tree(devices: &Path, address: &str, allowed: &[usize]) -> Self {
        let list = folder(address).map(|folder| devices.join(folder).join("local_cpulist"));
        let near =
            list.and_then(|list| std::fs::read_to_string(list).ok()).and_then(|list| kernel_list(&list, super::MOST));
        let mut near = near.unwrap_or_default();
        near.retain(|core| allowed.contains(core));
        if near.len() == allowed.len() {
            near.clear();
        }
        Self(near)
    }

    /// Binds the calling thread, and those that it starts, to these cores. Without any it stays as it is.
    pub(crate) fn bind(&self) {
        if !self.0.is_empty()
            && let Err(error) = bind(self.0.iter().copied())
        {
            tracing::warn!(cores = ?self.0, %error, "a thread is not bound to the cores near its GPU");
        }
    }

    /// Runs this on a thread near the device: memory of the host is taken near the thread that takes it.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let work = Mutex::new(Some(work));
        let take = || work.lock().take().expect("one of the two threads takes it");
        std::thread::scope(|scope| {
            let near = || {
                self.bind();
                take()()
            };
            match std::thread::Builder::new().name("forebay-near".into()).spawn_scoped(scope, near) {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                // Without room for a thread it is taken where this one runs: slower, and as good.
                Err(_no_room) => take()(),
            }
        })
    }
}

/// The NUMA node of the device with this address. None where Linux knows of none.
pub(crate) fn node_of(address: &str) -> Option<u32> {
    node_in_tree(Path::new(DEVICES), address)
}

fn node_in_tree(devices: &Path, address: &str) -> Option<u32> {
    let node = std::fs::read_to_string(devices.join(folder(address)?).join("numa_node")).ok()?;
    // Without a node it is -1.
    node.trim().parse().ok()
}

/// The device's folder: drivers write the address with capitals, and its domain with four digits or eight.
fn folder(address: &str) -> Option<String> {
    let (domain, place) = address.split_once(':')?;
    let domain = u32::from_str_radix(domain, 16).ok()?;
    let plain = place.bytes().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte));
    plain.then(|| format!("{domain:04x}:{}", place.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::tests::allowed;

    const ADDRESS: &str = "0000:3B:00.0";

    fn near(list: Option<&str>, allowed: &[usize]) -> Vec<usize> {
        let tree = tempfile::tempdir().unwrap();
        let device = tree.path().join("0000:3b:00.0");
        std::fs::create_dir(&device).unwrap();
        if let Some(list) = list {
            std::fs::write(device.join("local_cpulist"), list).unwrap();
        }
        Near::in_tree(tree.path(), ADDRESS, allowed).0
    }

    #[test]
    fn the_cores_near_a_device_are_those_of_its_node_that_the_process_may_use() {
        let all: Vec<usize> = (0..16).collect();
        assert_eq!(near(Some("8-11,14\n"), &all), [8, 9, 10, 11, 14]);
        assert_eq!(near(Some("8-11,14\n"), &[2, 9, 14]), [9, 14]);
        assert_eq!(near(Some("3"), &all), [3]);
    }

    #[test]
    fn where_nothing_is_known_or_no_near_core_may_be_used_or_all_are_near_threads_stay_free() {
        for list in
            [None, Some(""), Some("\n"), Some("0-15"), Some("20-30"), Some("many"), Some("5-"), Some("0-99999999")]
        {
            assert!(near(list, &[0, 1, 2]).is_empty(), "{list:?}");
        }
        assert_eq!(Near::in_tree(Path::new("/nowhere"), ADDRESS, &[0]), Near::default());
    }

    #[test]
    fn the_node_of_a_device_is_the_one_that_linux_tells() {
        let tree = tempfile::tempdir().unwrap();
        let device = tree.path().join("0000:3b:00.0");
        std::fs::create_dir(&device).unwrap();
        assert_eq!(node_in_tree(tree.path(), ADDRESS), None);
        for (told, node) in [("1\n", Some(1)), ("-1\n", None), ("", None)] {
            std::fs::write(device.join("numa_node"), told).unwrap();
            assert_eq!(node_in_tree(tree.path(), ADDRESS), node, "{told:?}");
        }
    }

    #[test]
    fn an_address_is_the_folders_name_however_the_driver_writes_it_and_never_leads_elsewhere() {
        assert_eq!(folder("0000:3B:00.0").as_deref(), Some("0000:3b:00.0"));
        assert_eq!(folder("00000000:AF:00.0").as_deref(), Some("0000:af:00.0"));
        assert_eq!(folder("00010000:01:00.0").as_deref(), Some("10000:01:00.0"));
        for wrong in ["", "3B", "..:..", "0000:../../etc", "gpu:0"] {
            assert_eq!(folder(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_run_near_a_device_runs_on_its_cores_and_the_caller_stays_free() {
        let all = allowed();
        let last = all[all.len() - 1];
        assert_eq!(Near(vec![last]).run(allowed), [last]);
        assert_eq!(Near::default().run(allowed), all);
        assert_eq!(allowed(), all);
    }
}
