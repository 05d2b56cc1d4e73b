//! `forebay index` as a user meets it, with real processes and kills.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, reason = "a skipped test says why")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const FOREBAY: &str = env!("CARGO_BIN_EXE_forebay");

fn forebay(cache: &Path) -> Command {
    index_by(FOREBAY.as_ref(), cache)
}

fn index_by(binary: &Path, cache: &Path) -> Command {
    let mut command = Command::new(binary);
    command.arg("index").env("CACHE_DIRECTORY", cache);
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(cache: &Path, args: &[&str]) -> Value {
    let output = forebay(cache).args(args).arg("--json").output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)))
}

/// Class folders with pictures, which hold their own names.
fn classes() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for picture in ["cat/1.jpg", "cat/2.jpg", "dog/größe.png"] {
        let path = dir.path().join(picture);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, picture).unwrap();
    }
    dir
}

#[test]
fn rule_53_an_index_is_made_once_and_made_again_if_the_dataset_changes_or_the_user_asks() {
    let (dir, cache) = (classes(), tempfile::tempdir().unwrap());
    let name = dir.path().to_str().unwrap();
    let scanned = |args: &[&str]| {
        let made = json(cache.path(), args);
        assert_eq!(made["fingerprint"].as_str().unwrap().len(), 64);
        assert!(Path::new(made["index"].as_str().unwrap()).starts_with(cache.path().join("index")));
        (made["scanned"].as_bool().unwrap(), made["records"].as_u64().unwrap())
    };
    assert_eq!([scanned(&[name]), scanned(&[name]), scanned(&[name, "--rebuild"])], [(true, 3), (false, 3), (true, 3)]);
    fs::remove_file(dir.path().join("cat/1.jpg")).unwrap();
    assert_eq!(scanned(&[name]), (true, 2));
    let file = cache.path().join("own.arrow");
    let output = forebay(cache.path()).args([name, "--output", file.to_str().unwrap()]).output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.contains("2 records") && text.contains("index = \""), "{text}{}", said(&output));
    assert!(file.exists());
}

#[test]
fn rule_53_an_index_that_root_makes_for_a_service_is_the_services() {
    const NOBODY: u32 = 65_534;
    let (dir, cache) = (classes(), tempfile::tempdir().unwrap());
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can make an index for another user");
        return;
    }
    // As systemd makes the folder of the service that it starts.
    chown(cache.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    // The build may be in a folder that only root may enter. Another process makes the copy: a file that this one writes to
    // cannot be executed as long as a child that another test starts has it open.
    let bin = tempfile::tempdir().unwrap();
    fs::set_permissions(bin.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let binary = bin.path().join("forebay");
    assert!(Command::new("cp").args([FOREBAY.as_ref(), binary.as_path()]).status().unwrap().success());
    let by_the_service = || {
        let mut command = index_by(&binary, cache.path());
        command.uid(NOBODY).gid(NOBODY);
        command
    };
    let name = dir.path().to_str().unwrap();
    let made = json(cache.path(), &[name]);
    let index = Path::new(made["index"].as_str().unwrap());
    for path in [index, index.parent().unwrap()] {
        assert_eq!(path.metadata().unwrap().uid(), NOBODY, "{}", path.display());
    }
    let output = by_the_service().args([name, "--json"]).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    assert_eq!((made["scanned"].as_bool(), found["scanned"].as_bool()), (Some(true), Some(false)));
    let again = by_the_service().args([name, "--rebuild"]).output().unwrap();
    assert!(again.status.success(), "{}", said(&again));
}

#[test]
fn a_dataset_that_has_no_index_is_refused_with_the_reason() {
    let (dir, cache) = (classes(), tempfile::tempdir().unwrap());
    let table = dir.path().join("x.parquet");
    fs::write(&table, "PAR1").unwrap();
    let output = forebay(cache.path()).arg(format!("parquet:{}", table.display())).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("index of their own"), "{}", said(&output));
}

/// A tar of empty pictures.
fn tar(path: &Path, members: usize) {
    let mut bytes = Vec::new();
    for number in 0..members {
        let mut header = [0_u8; 512];
        let name = format!("c{}/{number}.jpg", number % 3);
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(b"00000000000\0");
        header[148..156].copy_from_slice(b"        ");
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        bytes.extend_from_slice(&header);
    }
    bytes.resize(bytes.len() + 1024, 0);
    fs::write(path, bytes).unwrap();
}

#[test]
fn rule_53_a_scan_that_is_killed_continues_and_gives_the_same_dataset() {
    let (dir, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    (0..200).for_each(|number| tar(&dir.path().join(format!("{number:03}.tar")), 100));
    let file = cache.path().join("x.arrow");
    let args = [dir.path().to_str().unwrap(), "--output", file.to_str().unwrap()];
    let expected = json(cache.path(), &args);
    fs::remove_file(&file).unwrap();
    let notes = cache.path().join(".x.arrow.scan");
    let mut scan = forebay(cache.path()).args(args).stdout(Stdio::null()).spawn().unwrap();
    // The first tars are scanned once the notes have something.
    while fs::metadata(&notes).map_or(0, |notes| notes.len()) < 1000 && !file.exists() {
        assert!(scan.try_wait().unwrap().is_none_or(|status| status.success()));
        std::thread::yield_now();
    }
    scan.kill().unwrap();
    scan.wait().unwrap();
    println!("killed with {} bytes of notes", fs::metadata(&notes).map_or(0, |notes| notes.len()));
    let made = json(cache.path(), &args);
    assert_eq!((&made["fingerprint"], &made["records"]), (&expected["fingerprint"], &expected["records"]));
    assert!(!notes.exists(), "the notes are gone once the index is there");
}

/// Compares the columns with what was written.
const PROGRAM: &str = r#"
import sys, pyarrow
table = pyarrow.ipc.open_file(sys.argv[1]).read_all()
assert table.column_names == ["path", "size", "modified", "label"], table.column_names
assert table["path"].to_pylist() == ["cat/1.jpg", "cat/2.jpg", "dog/größe.png"], table["path"]
assert table["size"].to_pylist() == [9, 9, 15], table["size"]
assert table["label"].to_pylist() == [0, 0, 1], table["label"]
assert table["modified"][0].value > 10**18, table["modified"]
table = pyarrow.ipc.open_file(sys.argv[2]).read_all()
assert table.column_names == ["file", "offset", "length", "label", "member"], table.column_names
assert table["file"].to_pylist()[0].endswith("x.tar") and table["offset"].to_pylist() == [512, 1024, 1536]
assert table["member"].to_pylist() == ["c0/0.jpg", "c1/1.jpg", "c2/2.jpg"]
"#;

#[test]
fn rule_53_other_programs_open_an_index() {
    let python = std::env::var("FOREBAY_PYTHON").unwrap_or_else(|_| "python3".into());
    let can = Command::new(&python).args(["-c", "import pyarrow"]).stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        println!("skipped: {python} has no pyarrow; name one that has it in FOREBAY_PYTHON");
        return;
    }
    let (dir, cache) = (classes(), tempfile::tempdir().unwrap());
    tar(&cache.path().join("x.tar"), 3);
    let of_files = json(cache.path(), &[dir.path().to_str().unwrap()]);
    let of_tar = json(cache.path(), &[cache.path().join("x.tar").to_str().unwrap()]);
    let files = [&of_files, &of_tar].map(|made| made["index"].as_str().unwrap());
    let output = Command::new(&python).args(["-c", PROGRAM]).args(files).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}
