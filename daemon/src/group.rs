//! Which group a configuration names, and whether the process at the other end of a socket is in it. The kernel says which
//! groups a process has; files only say which number a name has.

use std::fs;

use forebay_ring::Peer;

/// What to do about a group that has no number here.
pub(crate) const REMEDY: &str = "name one from /etc/group, or give its number, which `getent group NAME` prints";

/// True when the peer's process has this group.
pub(crate) fn has(name: &str, peer: &Peer) -> bool {
    number(name).is_some_and(|group| is_among(group, peer, Unnamed::groups()))
}

/// The number of a group, which is given by name or number.
pub(crate) fn number(name: &str) -> Option<u32> {
    numbered(&fs::read_to_string("/etc/group").unwrap_or_default(), name)
}

/// A name comes first, as everywhere: a group may be called by a number.
fn numbered(groups: &str, name: &str) -> Option<u32> {
    let entry = groups.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields[0] == name);
    match entry {
        Some(fields) => fields.get(2)?.parse().ok(),
        // The kernel means no group by the largest number.
        None => name.parse().ok().filter(|number| *number != u32::MAX),
    }
}

fn is_among(group: u32, peer: &Peer, unnamed: Unnamed) -> bool {
    unnamed.is_certain(group) && (peer.gid() == group || peer.groups().contains(&group))
}

/// The number that the kernel gives for every user, or every group, that has none in this process's user namespace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unnamed(Option<u32>);

impl Unnamed {
    /// Of users.
    pub(crate) fn users() -> Self {
        Self::of("/proc/self/uid_map", "/proc/sys/kernel/overflowuid")
    }

    fn groups() -> Self {
        Self::of("/proc/self/gid_map", "/proc/sys/kernel/overflowgid")
    }

    fn of(map: &str, overflow: &str) -> Self {
        let [map, overflow] = [map, overflow].map(|path| fs::read_to_string(path).unwrap_or_default());
        Self::read(&map, &overflow)
    }

    fn read(map: &str, overflow: &str) -> Self {
        let counts = map.lines().filter_map(|line| line.split_whitespace().nth(2)?.parse::<u64>().ok());
        // With all numbers, no user is without one. A kernel without namespaces has no map.
        let whole = map.is_empty() || counts.sum::<u64>() >= u64::from(u32::MAX);
        Self((!whole).then(|| overflow.trim().parse().unwrap_or(65534)))
    }

    /// Whether this number can only mean one user or group.
    pub(crate) fn is_certain(self, number: u32) -> bool {
        self.0 != Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: &str = "root:x:0:\ntrainers:x:700:ada,grace\n4711:x:800:\nbroken:x\n";

    #[test]
    fn rule_25_a_group_is_given_by_its_name_or_its_number() {
        for (name, number) in [
            ("trainers", Some(700)),
            ("4711", Some(800)),
            ("0", Some(0)),
            ("65534", Some(65534)),
            ("1234567", Some(1_234_567)),
            ("4294967295", None),
            ("-1", None),
            ("nobody", None),
            ("broken", None),
            ("", None),
        ] {
            assert_eq!(numbered(GROUPS, name), number, "{name}");
        }
    }

    #[test]
    fn rule_25_a_number_that_means_all_of_another_user_namespace_lets_none_in() {
        let whole = Unnamed::read("         0          0 4294967295\n", "65534\n");
        assert!(whole.is_certain(65534) && whole.is_certain(0), "a user of its own");
        let part = Unnamed::read("0 100000 65536\n", "65534\n");
        assert!(!part.is_certain(65534) && part.is_certain(1000));
        let other = Unnamed::read("0 1000 1\n1 100000 65536\n", "99\n");
        assert!(!other.is_certain(99) && other.is_certain(65534), "the kernel's own setting counts");
        assert!(Unnamed::read("", "").is_certain(65534));
    }
}
