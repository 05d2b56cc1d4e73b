//! The cache on a real disk: shared, limited, distrustful, and killed in the middle of writing.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::fs::{self, File, Permissions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use forebay_objects::{Cache, CacheError, CacheKey};
use forebay_sources::DiskCache;
use rustix::fs::{CWD, FileType, FlockOperation, Mode, flock, mknodat};
use tempfile::TempDir;

const MIB: usize = 1 << 20;
const LIMIT: u64 = 64 << 20;

/// The folder of a cache, which is not there yet.
fn folder() -> (TempDir, PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("caches/objects");
    (temporary, folder)
}

fn open(folder: &Path) -> Arc<Cache> {
    Cache::open(folder, LIMIT).unwrap()
}

fn key(number: u64) -> CacheKey {
    CacheKey::new("test", [number.to_le_bytes().as_slice()])
}

/// Bytes that only this key has.
fn value(number: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new().update(&number.to_le_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

fn read(cache: &Cache, number: u64, length: usize) -> Option<Vec<u8>> {
    let mut buf = b"before".to_vec();
    let read = cache.read(&key(number), 0..length as u64, &mut buf);
    assert!(buf.starts_with(b"before") && (read || buf.len() == 6), "what was there stays");
    read.then(|| buf.split_off(6))
}

/// The file of the only entry.
fn only_entry(folder: &Path) -> PathBuf {
    let mut entries = entries(folder);
    assert_eq!(entries.len(), 1);
    entries.remove(0)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let entries = folders.filter(|path| path.file_name().unwrap().len() == 2);
    entries.flat_map(|path| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path())).collect()
}

#[test]
fn ranges_of_entries_are_read_by_any_process_of_the_user() {
    let (_temporary, folder) = folder();
    let bytes = value(1, 300_000);
    open(&folder).write(&key(1), &bytes);
    let other = open(&folder);
    for (start, end) in [(0, 300_000), (0, 1), (65_535, 65_537), (299_999, 300_000), (131_072, 196_608), (7, 7)] {
        let mut buf = Vec::new();
        assert!(other.read(&key(1), start as u64..end as u64, &mut buf));
        assert!(buf == bytes[start..end], "{start}..{end}");
    }
    assert_eq!(read(&other, 2, 1), None);
    open(&folder).write(&key(3), b"");
    assert_eq!(read(&other, 3, 0), Some(Vec::new()));
}

#[test]
fn an_entry_that_is_not_what_was_written_is_never_given_and_is_deleted() {
    let (_temporary, folder) = folder();
    let cache = open(&folder);
    let bytes = value(1, 200_000);
    cache.write(&key(1), &bytes);
    let file = only_entry(&folder);
    let stored = fs::read(&file).unwrap();
    let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut damaged = stored.clone();
        change(&mut damaged);
        fs::write(&file, damaged).unwrap();
    };
    let flips = (0..300).chain((300..stored.len()).step_by(9973)).chain([stored.len() - 1]);
    for place in flips {
        damaged(&|bytes| bytes[place] ^= 0x10);
        assert_eq!(read(&cache, 1, 200_000), None, "byte {place}");
        assert!(!file.exists(), "byte {place}");
    }
    for length in [0, 1, 55, 56, 120, 300, stored.len() / 2, stored.len() - 1] {
        damaged(&|bytes| bytes.truncate(length));
        assert_eq!(read(&cache, 1, 200_000), None, "{length} bytes");
    }
    damaged(&|bytes| bytes.push(0));
    assert_eq!(read(&cache, 1, 200_000), None);
    damaged(&|bytes| bytes.fill(0));
    assert_eq!(read(&cache, 1, 200_000), None, "as after a power cut");
    // An entry of another key in its place.
    cache.write(&key(2), &bytes);
    fs::rename(only_entry(&folder), &file).unwrap();
    assert_eq!(read(&cache, 1, 200_000), None);
    cache.write(&key(1), &bytes);
    assert_eq!(read(&cache, 1, 200_000), Some(bytes));
}

#[test]
fn links_pipes_and_folders_in_the_place_of_entries_are_not_followed() {
    let (temporary, folder) = folder();
    let cache = open(&folder);
    let bytes = value(1, 1000);
    cache.write(&key(1), &bytes);
    let file = only_entry(&folder);
    let elsewhere = temporary.path().join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    symlink(&elsewhere, &file).unwrap();
    assert_eq!(read(&cache, 1, 1000), None);
    fs::remove_file(&file).unwrap();
    mknodat(CWD, &file, FileType::Fifo, Mode::RUSR, 0).unwrap();
    assert_eq!(read(&cache, 1, 1000), None);
    cache.write(&key(1), &bytes);
    assert_eq!(read(&cache, 1, 1000), Some(bytes), "a new entry takes the place");
    assert!(elsewhere.exists());
}

#[test]
fn what_is_in_the_way_of_the_cache_gets_another_name_and_stops_no_write() {
    let (_temporary, folder) = folder();
    let cache = open(&folder);
    let bytes = value(1, 1000);
    assert!(cache.write(&key(1), &bytes));
    let file = only_entry(&folder);
    // A folder with a file in the place of an entry.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    fs::write(file.join("note"), "kept").unwrap();
    assert!(cache.write(&key(1), &bytes));
    assert_eq!(read(&cache, 1, 1000), Some(bytes.clone()));
    // A file in the place of a folder of entries, and of the folder of what is being written; a folder in that of the lock.
    let entries = file.parent().unwrap();
    fs::remove_dir_all(entries).unwrap();
    fs::write(entries, "kept").unwrap();
    assert!(cache.write(&key(1), &bytes));
    drop(cache);
    fs::remove_dir_all(folder.join("tmp")).unwrap();
    fs::write(folder.join("tmp"), "kept").unwrap();
    let _none = fs::remove_file(folder.join("lock"));
    fs::create_dir(folder.join("lock")).unwrap();
    let cache = open(&folder);
    assert!(cache.write(&key(1), &bytes));
    assert_eq!(read(&cache, 1, 1000), Some(bytes));
    assert!(folder.join("lock").is_file(), "the first write looks through the folder");
    let foreign = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let foreign: Vec<PathBuf> = foreign.filter(|path| path.to_str().unwrap().contains("/foreign-")).collect();
    assert_eq!(foreign.len(), 4, "{foreign:?}");
    let kept = foreign
        .iter()
        .filter(|path| fs::read(path).or_else(|_| fs::read(path.join("note"))).is_ok_and(|text| text == b"kept"));
    assert_eq!(kept.count(), 3, "nothing is deleted");
}

#[test]
fn a_folder_that_others_own_or_may_write_to_is_refused() {
    let (temporary, folder) = folder();
    drop(open(&folder));
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    for mode in [0o770, 0o702] {
        fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        let error = Cache::open(&folder, LIMIT).unwrap_err();
        assert!(matches!(error, CacheError::Open { .. }) && error.to_string().contains("chmod"), "{error}");
    }
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    drop(open(&folder));
    let link = temporary.path().join("link");
    symlink(&folder, &link).unwrap();
    assert!(matches!(Cache::open(&link, LIMIT), Err(CacheError::Io { .. })));
    assert!(matches!(Cache::open(Path::new("/proc/forebay"), LIMIT), Err(CacheError::Io { .. })));
    assert!(matches!(Cache::open(&folder, 1000), Err(CacheError::TooSmall { .. })));
    if !rustix::process::geteuid().is_root() {
        eprintln!("not root, so no folder of another user was tried");
        return;
    }
    std::os::unix::fs::chown(&folder, Some(12345), None).unwrap();
    let error = Cache::open(&folder, LIMIT).unwrap_err();
    assert!(matches!(error, CacheError::NotOurs { owner: 12345, .. }), "{error}");
    std::os::unix::fs::chown(&folder, Some(0), None).unwrap();
    let cache = open(&folder);
    cache.write(&key(1), b"mine");
    std::os::unix::fs::chown(only_entry(&folder), Some(12345), None).unwrap();
    assert_eq!(read(&cache, 1, 4), None, "an entry of another user");
}

#[test]
fn the_cache_stays_below_its_limit_and_keeps_what_was_used_last() {
    let (_temporary, folder) = folder();
    let cache = open(&folder);
    for number in 0..200 {
        cache.write(&key(number), &value(number, MIB));
        let taken: u64 = entries(&folder).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
        assert!(taken <= LIMIT, "{taken} after {number}");
    }
    let kept: Vec<u64> = (0..200).filter(|&number| read(&cache, number, MIB).is_some()).collect();
    assert!(kept.len() >= 48, "{kept:?}");
    assert_eq!(*kept.last().unwrap(), 199);
    assert!(kept.iter().all(|&number| read(&cache, number, MIB).unwrap() == value(number, MIB)));
    cache.write(&key(1000), &value(1000, 5 * MIB));
    assert_eq!(read(&cache, 1000, 5 * MIB), None, "too large for this cache");
}

#[test]
fn what_was_used_lately_stays_longer_than_what_was_written_later() {
    let (_temporary, folder) = folder();
    let cache = open(&folder);
    for number in 0..50 {
        cache.write(&key(number), &value(number, MIB));
    }
    let past = SystemTime::now() - Duration::from_secs(3600);
    for file in entries(&folder) {
        File::open(file).unwrap().set_modified(past).unwrap();
    }
    let used = [3, 17, 42];
    for number in used {
        assert!(read(&cache, number, MIB).is_some());
    }
    for number in 50..90 {
        cache.write(&key(number), &value(number, MIB));
    }
    let kept: Vec<u64> = (0..50).filter(|&number| read(&cache, number, MIB).is_some()).collect();
    assert!(used.iter().all(|number| kept.contains(number)), "{kept:?}");
    assert!(kept.len() < 50, "others went");
}

#[test]
fn what_dead_processes_left_is_deleted_and_what_living_ones_write_is_not() {
    let (_temporary, folder) = folder();
    drop(open(&folder));
    let (left, living) = (folder.join("tmp/1-0"), folder.join("tmp/2-0"));
    fs::write(&left, "half").unwrap();
    let writing = File::create(&living).unwrap();
    flock(&writing, FlockOperation::LockExclusive).unwrap();
    open(&folder).write(&key(1), b"the first write looks through the folder");
    assert!(!left.exists() && living.exists());
}

/// Entries that the child writes again and again.
const ENTRIES: u64 = 12;
const LENGTH: usize = 3 * MIB + 17;
const FOLDER: &str = "FOREBAY_TEST_CACHE";

#[test]
#[ignore = "the child of another test"]
fn child_that_writes_until_it_is_killed() {
    let folder = std::env::var_os(FOLDER).unwrap();
    let cache = open(Path::new(&folder));
    let values: Vec<_> = (0..ENTRIES).map(|number| value(number, LENGTH)).collect();
    for number in (0..ENTRIES).cycle() {
        cache.write(&key(number), &values[usize::try_from(number).unwrap()]);
        println!("wrote");
        std::io::stdout().flush().unwrap();
    }
}

#[test]
fn rule_54_processes_that_are_killed_while_they_write_leave_no_wrong_bytes() {
    let (_temporary, folder) = folder();
    let cache = open(&folder);
    let mut found = 0;
    for round in 0..12 {
        let child = || {
            Command::new(std::env::current_exe().unwrap())
                .args(["child_that_writes_until_it_is_killed", "--exact", "--ignored", "--nocapture"])
                .env(FOLDER, &folder)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let mut children = [child(), child()];
        for child in &mut children {
            // Killed after another number of writes each time, so at another place of the next one.
            // The pipe stays open, or the child would end by itself.
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let said = lines.by_ref().filter(|line| line.as_ref().unwrap().contains("wrote"));
            let wrote = said.take(1 + round % 5).count();
            assert_eq!(wrote, 1 + round % 5, "the child ended by itself");
            child.kill().unwrap();
            child.wait().unwrap();
        }
        for number in 0..ENTRIES {
            if let Some(bytes) = read(&cache, number, LENGTH) {
                found += 1;
                assert!(bytes == value(number, LENGTH), "entry {number} in round {round}");
            }
        }
    }
    assert!(found > 0, "nothing was written");
    drop(cache);
    open(&folder).write(&key(ENTRIES), b"looks through the folder");
    assert_eq!(fs::read_dir(folder.join("tmp")).unwrap().count(), 0, "what they left is gone");
}

#[test]
fn who_gives_the_folder_another_limit_gets_the_same_cache() {
    let (_temporary, folder) = folder();
    let first = Cache::shared(&folder, 4 * DiskCache::LEAST).unwrap();
    let room = first.room();
    // So neither deletes what the other one retains.
    let second = Cache::shared(&folder, 2 * DiskCache::LEAST).unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(first.room(), room / 2, "the last limit holds");
    assert!(matches!(Cache::shared(&folder, 1), Err(CacheError::TooSmall { .. })));
    assert_eq!(first.room(), room / 2);
}
