//! Tests with files that were spoiled in thousands of ways, and the dice that spoil them.

use super::*;

/// A generator of numbers that are the same in every run.
pub(crate) struct Dice(pub u64);

impl Dice {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (most.max(1) as u64)).unwrap()
    }

    /// Flips a bit, cuts, doubles a part, or writes a number over a place.
    pub(crate) fn spoil(&mut self, bytes: &mut Vec<u8>) {
        let place = self.below(bytes.len());
        match self.below(4) {
            0 => bytes[place] ^= 1 << self.below(8),
            1 => bytes.truncate(place),
            2 => {
                let end = place + self.below(bytes.len() - place);
                let part = bytes[place..end].to_vec();
                let target = self.below(bytes.len());
                bytes.splice(target..target, part);
            }
            _ => {
                let number = [0, 1, 0xff, 0x7f, 0x80][self.below(5)];
                let end = (place + 1 + self.below(8)).min(bytes.len());
                bytes[place..end].fill(number);
            }
        }
    }
}

#[test]
fn spoiled_files_never_panic_and_what_is_read_was_written() {
    let mut examples = vec![
        objects(1, 1, Some(100)),
        objects(2, 2, Some(50)),
        with(vec![("image/class/label", Values::Integers(&[1]))]),
    ];
    examples.push(example(&[("image/encoded", Values::Bytes(&[b"another picture"]))]));
    let genuine = write(&examples.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let mut dice = Dice(0x5eed);
    let (mut opened, mut refused) = (0, 0);
    for _ in 0..3000 {
        let mut bytes = genuine.clone();
        for _ in 0..=dice.below(2) {
            if !bytes.is_empty() {
                dice.spoil(&mut bytes);
            }
        }
        let none = Options { labels: Labels::None, ..Options::default() };
        let written = Written::new(&bytes);
        let Ok(source) = written.open(&none) else {
            refused += 1;
            continue;
        };
        opened += 1;
        for record in 0..source.len() {
            match read(&source, record) {
                Ok(picture) => assert!(picture == b"jpeg" || picture == b"another picture", "{picture:?}"),
                Err(error) => assert!(matches!(error.kind, ReadErrorKind::Damaged | ReadErrorKind::Empty), "{error}"),
            }
        }
    }
    assert!(opened > 300 && refused > 300, "{opened} {refused}");
}

#[test]
fn spoiled_examples_never_panic_even_where_their_checksum_is_right() {
    let genuine = objects(2, 2, Some(100));
    let mut dice = Dice(0xfeed);
    let mut good = 0;
    for _ in 0..3000 {
        let mut spoiled = genuine.clone();
        dice.spoil(&mut spoiled);
        let map = [("boxes", "image/object/bbox"), ("classes", "image/object/class/label"), ("text", "image/encoded")];
        let written = Written::of(&[genuine.clone(), spoiled]);
        if let Ok(source) = written.open(&columns(&map)) {
            assert_eq!(read(&source, 0).unwrap(), b"jpeg");
            good += u32::from(read(&source, 1).is_ok());
        }
    }
    assert!(good > 100, "{good}");
}
