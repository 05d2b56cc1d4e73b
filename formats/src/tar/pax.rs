//! What a PAX header says of the member behind it: lines of `LENGTH KEY=VALUE`, where the length counts the whole line.

use super::sparse::{SparsePieces, decimal};

/// The values that matter to a reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pax {
    pub path: Option<Vec<u8>>,
    pub size: Option<u64>,
    /// The member is stored without its holes.
    pub sparse: Option<Box<PaxSparse>>,
}

/// How a sparse member is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PaxSparse {
    /// The name of the file. The member has another one, so that programs that know no such members do no harm.
    pub name: Option<Vec<u8>>,
    pub map: SparsePieces,
    /// The map is in front of the stored pieces (version 1.0).
    pub has_lines: bool,
    /// The place of the piece whose length is still to come.
    offset: Option<u64>,
}

impl PaxSparse {
    /// Adds what `GNU.sparse.KEY` says.
    fn add(&mut self, key: &[u8], value: &[u8]) {
        match key {
            b"name" => self.name = Some(value.to_vec()),
            b"size" | b"realsize" => self.map.set_len(value),
            b"map" => self.map.set_list(value),
            b"offset" => self.offset = decimal(value),
            b"numbytes" => match (self.offset.take(), decimal(value)) {
                (Some(offset), Some(len)) => self.map.push(offset, len),
                _ => self.map.spoil(),
            },
            b"major" => match value {
                b"0" => self.has_lines = false,
                b"1" => self.has_lines = true,
                _ => self.map.spoil(),
            },
            // How many pieces there are, which the pieces say too; and what version 1 has not changed.
            _ => {}
        }
    }
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
                b"size" => self.size = Some(decimal(value).ok_or("the size in it is not a number")?),
                _ => {
                    if let Some(key) = key.strip_prefix(b"GNU.sparse.") {
                        self.sparse.get_or_insert_default().add(key, value);
                    }
                }
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
        assert_eq!((pax.path.as_deref(), pax.size, pax.sparse), (Some(&b"a=b\nc"[..]), Some(7), None));
        let sparse = parsed(b"22 GNU.sparse.major=1\n21 GNU.sparse.name=x\n").unwrap().sparse.unwrap();
        assert_eq!((sparse.name.as_deref(), sparse.has_lines), (Some(&b"x"[..]), true));
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
