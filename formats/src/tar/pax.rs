//! What a PAX header says of the member behind it: lines of `LENGTH KEY=VALUE`, where the length counts the whole line.

/// The values that matter to a reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pax {
    pub path: Option<Vec<u8>>,
    pub size: Option<u64>,
    /// The member is stored as a map and what is not zero.
    pub is_sparse: bool,
}

impl Pax {
    /// Adds the lines of a header. Later values replace earlier ones, and an empty one removes them.
    ///
    /// # Errors
    /// The text says what is wrong.
    pub(super) fn add(&mut self, mut lines: &[u8]) -> Result<(), &'static str> {
        // Some programs pad with zeros.
        while lines.first().is_some_and(|&byte| byte != 0) {
            let (key, value, rest) = line(lines).ok_or("a line in it does not have the length that it says")?;
            match key {
                b"path" => self.path = (!value.is_empty()).then(|| value.to_vec()),
                b"size" if value.is_empty() => self.size = None,
                b"size" => self.size = Some(decimal(value).ok_or("the size in it is no number")?),
                b"GNU.sparse.name" => {
                    self.path = Some(value.to_vec());
                    self.is_sparse = true;
                }
                _ if key.starts_with(b"GNU.sparse.") => self.is_sparse = true,
                _ => {}
            }
            lines = rest;
        }
        Ok(())
    }

    /// Checks the lines of a header for all members that follow. What only one member can have is refused there.
    ///
    /// # Errors
    /// The text says what is wrong.
    pub(super) fn check_global(lines: &[u8]) -> Result<(), &'static str> {
        let mut global = Self::default();
        global.add(lines)?;
        if global == Self::default() { Ok(()) } else { Err("it gives one name or size to all members") }
    }
}

/// The key and value of the first line, and what follows it.
fn line(lines: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = lines.iter().take(20).position(|&byte| byte == b' ')?;
    let len = usize::try_from(decimal(&lines[..space])?).ok()?;
    let (line, rest) = lines.split_at_checked(len)?;
    let line = line.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = line.iter().position(|&byte| byte == b'=')?;
    Some((&line[..equals], &line[equals + 1..], rest))
}

fn decimal(digits: &[u8]) -> Option<u64> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    plain.then(|| str::from_utf8(digits).ok()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(lines: &[u8]) -> Result<Pax, &'static str> {
        let mut pax = Pax::default();
        pax.add(lines).map(|()| pax)
    }

    #[test]
    fn lines_are_counted_and_may_hold_anything() {
        let pax = parsed(b"19 path=a=b\nc 12345\n9 size=7\n20 mtime=1.0000000\n\0\0").unwrap_err();
        assert_eq!(pax, "a line in it does not have the length that it says");
        let pax = parsed(b"14 path=a=b\nc\n9 size=7\n8 uid=1\n\0\0").unwrap();
        assert_eq!((pax.path.as_deref(), pax.size, pax.is_sparse), (Some(&b"a=b\nc"[..]), Some(7), false));
        let sparse = parsed(b"22 GNU.sparse.major=1\n21 GNU.sparse.name=x\n").unwrap();
        assert!(sparse.is_sparse);
        assert_eq!(sparse.path.as_deref(), Some(&b"x"[..]));
    }

    #[test]
    fn a_line_that_lies_about_its_length_is_refused() {
        for wrong in [
            &b"5 path=abc\n"[..],
            b"99999999999999999999 path=a\n",
            b"0 path=a\n",
            b"1 path=a\n",
            b"2 path=a\n",
            b"10 path=a",
            b"x path=a\n",
            b"+9 path=a\n",
            b"9 size=-\n",
            b"7 patha\n",
            b"path",
        ] {
            assert!(parsed(wrong).is_err(), "{}", wrong.escape_ascii());
        }
    }
}
