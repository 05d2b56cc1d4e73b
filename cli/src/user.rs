//! Names of users, as /etc/passwd has them.

/// The name of a user of this machine, or its number where no name is known: users of a directory service, for example, are
/// not in the file.
pub(crate) fn name(uid: u32) -> String {
    std::fs::read_to_string("/etc/passwd").ok().and_then(|text| named(&text, uid)).unwrap_or_else(|| uid.to_string())
}

fn named(passwd: &str, uid: u32) -> Option<String> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, number) = (fields.next()?, fields.nth(1)?);
        (number.parse() == Ok(uid) && !name.is_empty()).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_the_name_of_its_line_and_others_have_none() {
        let passwd =
            "root:x:0:0::/root:/bin/sh\n\n# a comment\n:x:7:7::/:\nann:x:1000:1000:Ann:/home/ann:/bin/sh\nx:y\n";
        assert_eq!(named(passwd, 1000).as_deref(), Some("ann"));
        assert_eq!(named(passwd, 0).as_deref(), Some("root"));
        assert_eq!(named(passwd, 7), None, "a name that is empty is none");
        assert_eq!(named(passwd, 4_000_000_000), None);
        assert_eq!(name(4_000_000_000), "4000000000");
    }
}
