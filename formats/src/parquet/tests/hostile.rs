//! Files that are not what they say: cut, damaged, or made to harm.

use std::path::Path;
use std::time::SystemTime;

use super::*;

/// A file of some row groups and pages, and what it holds.
fn sample(dir: &Path, compression: Compression, dictionary: bool) -> (std::path::PathBuf, Vec<Vec<u8>>) {
    let path = dir.join("a.parquet");
    let expected = pictures(40);
    let rows: Vec<_> = expected.iter().map(|picture| (Some(&picture[..]), None)).collect();
    let labels: ArrayRef = Arc::new((0..40).map(|row| Some(row % 3)).collect::<Int64Array>());
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_enabled(dictionary)
        .set_max_row_group_row_count(Some(30))
        .set_data_page_row_count_limit(10)
        .set_write_batch_size(10)
        .build();
    write(&path, &[batch(vec![("image", images(&rows)), ("label", labels)])], properties);
    (path, expected)
}

fn refusal(path: &Path) -> String {
    open(&Address::file(path), &Options::default()).unwrap_err().to_string()
}

#[test]
fn a_file_that_was_cut_is_never_taken_for_a_shorter_one() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = sample(dir.path(), Compression::SNAPPY, true);
    let whole = fs::read(&path).unwrap();
    for len in (0..whole.len()).rev().step_by(7).chain(0..20) {
        fs::write(&path, &whole[..len]).unwrap();
        let words = refusal(&path);
        assert!(words.contains("a.parquet, byte "), "{len}: {words}");
    }
    // The footer of another file behind pages of this one.
    let tail = whole.len() - 2000;
    fs::write(&path, [&whole[..100], &whole[tail..]].concat()).unwrap();
    assert!(refusal(&path).contains("byte"), "{}", refusal(&path));
}

#[test]
fn an_encrypted_footer_and_a_footer_that_lies_are_refused_in_words() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = sample(dir.path(), Compression::UNCOMPRESSED, true);
    let whole = fs::read(&path).unwrap();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        fs::write(&path, bytes).unwrap();
        refusal(&path)
    };
    let len = whole.len();
    assert!(with(&|bytes| bytes[len - 1] = b'E').contains("encrypted"));
    assert!(with(&|bytes| bytes[0] = b'Q').contains("begins with \"PAR1\""));
    assert!(with(&|bytes| bytes[len - 8..len - 4].fill(0xff)).contains("its length is damaged"));
    assert!(with(&|bytes| bytes[len - 8..len - 4].fill(0)).contains("The footer is damaged"));
    // A list of 2^63 row groups, a structure within structures.
    for wrong in [&[0x49, 0xfc, 255, 255, 255, 255, 255, 255, 255, 255, 127][..], &[0x1c; 4000]] {
        let footer = |bytes: &mut Vec<u8>| {
            bytes.truncate(100);
            bytes.extend_from_slice(wrong);
            bytes.extend_from_slice(&u32::try_from(wrong.len()).unwrap().to_le_bytes());
            bytes.extend_from_slice(b"PAR1");
        };
        assert!(with(&footer).contains("The footer is damaged"));
    }
}

#[test]
fn a_footer_larger_than_any_is_refused_before_it_is_read() {
    use std::os::unix::fs::FileExt as _;

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let file = fs::File::create(&path).unwrap();
    let len = 300 << 20;
    file.set_len(len).unwrap();
    file.write_all_at(b"PAR1", 0).unwrap();
    file.write_all_at(&[&((256_u32 << 20) + 1).to_le_bytes()[..], b"PAR1"].concat(), len - 8).unwrap();
    assert!(refusal(&path).contains("268435456 are read at most"), "{}", refusal(&path));
}

/// Where each page of the pictures is in the file, and which records it has.
fn pages_of(path: &Path) -> Vec<(std::ops::Range<usize>, std::ops::Range<u64>)> {
    let container = ContainerFile::look(&Address::file(path)).unwrap();
    let file = OpenFiles::new(1).get(0, &container).unwrap();
    let table = file::TableFile::open(0, &container, file, &Options::default()).unwrap();
    let mut pages = Vec::new();
    for group in table.groups(0).unwrap().0 {
        let mut record = group.first_record;
        for page in &group.picture.pages.data {
            let start = usize::try_from(page.offset).unwrap();
            pages.push((start..start + usize::try_from(page.stored).unwrap(), record..record + page.values));
            record += page.values;
        }
    }
    pages
}

#[test]
fn a_damaged_page_spoils_its_own_records_only() {
    let dir = tempfile::tempdir().unwrap();
    let (path, expected) = sample(dir.path(), Compression::SNAPPY, false);
    let pages = pages_of(&path);
    assert_eq!(pages.len(), 4);
    let source = open(&Address::file(&path), &Options::default()).unwrap();
    let modified = path.metadata().unwrap().modified().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let (stored, records) = &pages[1];
    bytes[stored.end - stored.len() / 4..stored.end].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    fs::File::open(&path).unwrap().set_modified(modified).unwrap();
    for record in 0..40 {
        let read = read(&source, record);
        if records.contains(&record) {
            assert_eq!(read, Err(ReadErrorKind::Damaged), "{record}");
        } else {
            assert_eq!(read.as_deref(), Ok(&expected[at_usize(record)][..]), "{record}");
        }
    }
    fs::File::open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let source = open(&Address::file(&path), &Options::default()).unwrap();
    fs::File::open(&path).unwrap().set_modified(modified).unwrap();
    assert_eq!(read(&source, 0), Err(ReadErrorKind::Changed));
}

/// Numbers that look random, the same each time.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % end as u64).unwrap()
    }
}

#[test]
fn no_damage_makes_a_reader_panic_and_pages_that_are_whole_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut dice = Dice(1);
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(ZstdLevel::default())] {
        let (path, expected) = sample(dir.path(), compression, true);
        let (whole, pages) = (fs::read(&path).unwrap(), pages_of(&path));
        let footer = whole.len() - 8 - u32::from_le_bytes(whole[whole.len() - 8..][..4].try_into().unwrap()) as usize;
        let (mut opened, mut refused) = (0, 0);
        for case in 0..1000 {
            let mut bytes = whole.clone();
            // Half of the cases damage pages, and half the footer.
            let (start, end) = if case % 2 == 0 { (4, footer) } else { (footer, whole.len()) };
            let at = start + dice.below(end - start);
            let len = 1 + dice.below(8).min(end - at - 1);
            match dice.below(4) {
                0 => bytes[at] ^= 1 << dice.below(8),
                1 => bytes[at..at + len].fill(0xff),
                2 => bytes[at..at + len].iter_mut().for_each(|byte| *byte = u8::try_from(dice.below(256)).unwrap()),
                _ => {
                    let from = dice.below(end - len);
                    bytes.copy_within(from..from + len, at);
                }
            }
            fs::write(&path, &bytes).unwrap();
            let Ok(source) = open(&Address::file(&path), &mapped(&[("same", "label")])) else {
                refused += 1;
                continue;
            };
            opened += 1;
            for record in 0..source.len() {
                let read = read(&source, record);
                let whole = |(stored, records): &(std::ops::Range<usize>, std::ops::Range<u64>)| {
                    let is_whole = bytes[stored.clone()] == whole[stored.clone()];
                    is_whole && records.contains(&record)
                };
                // A dictionary belongs to all pages of its row group.
                let has_dictionary = (at < pages[0].0.start) || (pages[2].0.end..pages[3].0.start).contains(&at);
                if case % 2 == 0 && !has_dictionary && pages.iter().any(whole) {
                    assert_eq!(read.as_deref(), Ok(&expected[at_usize(record)][..]), "{compression} {case} {record}");
                }
            }
        }
        assert!(opened > 200 && refused > 200, "{compression}: {opened} opened, {refused} refused");
    }
}
