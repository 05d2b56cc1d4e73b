//! Checks in `/etc/group` and `/etc/passwd` whether the user at the other end of a socket is in a group.

use std::fs;

use forebay_ring::Peer;

/// True when `name` is the peer's primary group, or lists its user.
pub(crate) fn has(name: &str, peer: &Peer) -> bool {
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    listed(&groups, &users, name, peer.uid(), peer.gid())
}

/// The number of a group.
pub(crate) fn number(name: &str) -> Option<u32> {
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    entry(&groups, name).and_then(|fields| fields.get(2)?.parse().ok())
}

fn listed(groups: &str, users: &str, name: &str, uid: u32, gid: u32) -> bool {
    let Some(group) = entry(groups, name) else { return false };
    let primary = group.get(2).and_then(|number| number.parse().ok()) == Some(gid);
    let user = users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find_map(|fields| {
        let same = fields.get(2)?.parse() == Ok(uid);
        same.then(|| fields[0].to_owned())
    });
    let members = group.get(3).copied().unwrap_or_default();
    primary || user.is_some_and(|user| members.split(',').any(|member| member == user))
}

fn entry<'a>(file: &'a str, name: &str) -> Option<Vec<&'a str>> {
    file.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields[0] == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: &str = "root:x:0:\ntrainers:x:700:ada,grace\n";
    const USERS: &str = "root:x:0:0::/root:/bin/sh\nada:x:1001:1001::/home/ada:/bin/sh\nalan:x:1002:1002::/:/bin/sh\n";

    #[test]
    fn rule_25_members_of_a_group_are_those_that_it_lists_and_those_whose_first_group_it_is() {
        assert!(listed(GROUPS, USERS, "trainers", 1001, 1001));
        assert!(listed(GROUPS, USERS, "trainers", 1002, 700));
        assert!(!listed(GROUPS, USERS, "trainers", 1002, 1002));
        assert!(!listed(GROUPS, USERS, "nobody", 1001, 1001));
        assert!(!listed("", "", "trainers", 0, 0));
    }
}
