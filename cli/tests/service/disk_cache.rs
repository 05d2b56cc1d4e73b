//! The cache on a local disk, as it is turned on for a daemon and for commands: nothing is asked of a store twice.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use forebay_client::{Next, Patient};

use crate::daemon::Home;
use crate::file_server::FileServer;
use crate::trainer::Trainer;

const RECORDS: u64 = 24;

/// A tar of so many pictures of a home, in the folder `bucket`.
pub(crate) fn tar(home: &Home, count: u64) {
    let mut bytes = Vec::new();
    for number in 0..count {
        let picture = fs::read(home.picture(number)).unwrap();
        let mut header = [0_u8; 512];
        let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
        put(0, &format!("c{}/{number:04}.jpg", number % 2));
        put(100, "0000644\0");
        put(124, &format!("{:011o}\0", picture.len()));
        put(148, "        ");
        put(156, "0");
        put(257, "ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(&picture);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    fs::create_dir(home.path("bucket")).unwrap();
    fs::write(home.path("bucket/a.tar"), bytes).unwrap();
}

/// A file of gzip with these bytes, stored as they are.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let blocks = bytes.chunks(0xffff);
    let last = blocks.len() - 1;
    for (number, block) in blocks.enumerate() {
        let len = u16::try_from(block.len()).unwrap();
        file.push(u8::from(number == last));
        file.extend([len.to_le_bytes(), (!len).to_le_bytes()].as_flattened());
        file.extend_from_slice(block);
    }
    let bit = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    let sum = bytes.iter().fold(!0_u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| bit(crc)));
    file.extend((!sum).to_le_bytes());
    file.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
    file
}

/// A home whose streams read the tar from a server, and the tables of its configuration.
fn scene(streams: &[&str]) -> (Home, FileServer, String) {
    let home = Home::with_pictures(RECORDS);
    tar(&home, RECORDS);
    let server = FileServer::of(&home.path("bucket"));
    let url = server.url("a.tar");
    let cache = home.path("cache");
    let mut tables =
        format!("[sources]\nobjects = [\"{url}\"]\ncache_size = \"64mib\"\ncache = \"{}\"\n", cache.display());
    for stream in streams {
        write!(tables, "[streams.{stream}]\nsource = \"{url}\"\nbatch_size = 4\nsize = 16\nepochs = 1\n").unwrap();
    }
    home.configure(&tables);
    (home, server, tables)
}

#[test]
fn rule_54_a_daemon_reads_each_block_once_for_all_streams_and_none_again_after_a_kill() {
    let (home, server, _) = scene(&["train", "eval"]);
    let daemon = home.start();
    for stream in ["train", "eval"] {
        assert_eq!(Trainer::attach_to(&home, stream).epoch().len(), 6);
    }
    let asked = server.asked();
    assert_eq!(asked.len(), 1, "the tar is one block: {asked:?}");
    daemon.kill();
    fs::remove_dir_all(home.path("state")).unwrap();
    let daemon = home.start();
    for stream in ["train", "eval"] {
        assert_eq!(Trainer::attach_to(&home, stream).epoch().len(), 6);
    }
    assert_eq!(server.asked(), [""; 0], "the next daemon finds it all");
    home.audit();
    daemon.kill();
}

#[test]
fn an_epoch_over_a_compressed_tar_adds_up_with_the_daemon_killed_and_the_cache_lost_in_the_middle() {
    let home = Home::with_pictures(RECORDS);
    tar(&home, RECORDS);
    let file = home.path("bucket/a.tar.gz");
    fs::write(&file, gzip(&fs::read(home.path("bucket/a.tar")).unwrap())).unwrap();
    let stream = format!(
        "[streams.train]\nsource = \"{}\"\nbatch_size = 4\nsize = 16\nepochs = 2\nshuffle = true\n",
        file.display()
    );
    home.configure(&stream);
    let (_, said) = home.fails_to_start();
    assert!(said.contains("cache_size in [sources]") && said.contains("gunzip"), "{said}");
    let cache = format!("[sources]\ncache_size = \"64mib\"\ncache = \"{}\"\n", home.path("cache").display());
    home.configure(&(cache + &stream));
    let mut daemon = home.start();
    let mut trainer = Trainer::attach(&home);
    let mut records = BTreeSet::<(u64, i64)>::new();
    for number in 0.. {
        match trainer.session.next(None, &mut Patient).unwrap() {
            Next::Batch(batch) => {
                records.extend(batch.records().iter().map(|record| (batch.epoch(), *record)));
            }
            Next::EpochEnd(_) => {}
            Next::Done => break,
        }
        if number == 2 || number == 9 {
            daemon.kill();
            fs::remove_dir_all(home.path("cache")).unwrap();
            daemon = home.start();
        }
    }
    // A trainer that is late on its way back may get again what it had (rule 15).
    assert_eq!(records.len(), 2 * usize::try_from(RECORDS).unwrap(), "{records:?}");
    home.audit();
    daemon.stop();
}

#[test]
fn a_cache_that_cannot_be_used_is_refused_at_the_start_with_its_folder_and_the_remedy() {
    let (home, _server, tables) = scene(&["train"]);
    let folder = home.path("cache");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o770)).unwrap();
    let (code, said) = home.fails_to_start();
    assert_eq!(code, Some(1));
    assert!(said.contains(folder.to_str().unwrap()) && said.contains("chmod go-w"), "{said}");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&folder, Some(65534), None).unwrap();
        let (_, said) = home.fails_to_start();
        assert!(said.contains("belongs to the user 65534") && said.contains("a folder of its own"), "{said}");
    }
    home.configure(&tables.replace("64mib", "1mib"));
    let (code, said) = home.fails_to_start();
    assert_eq!(code, Some(2));
    assert!(said.contains("sources.cache_size: is \"1mib\"") && said.contains("64mib"), "{said}");
}

/// A command with the cache that the environment names.
fn command(home: &Home, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(args).env("FOREBAY_CACHE_SIZE", "64mib").env("FOREBAY_CACHE", home.path("cache"));
    command.env("CACHE_DIRECTORY", home.path("caches")).output().unwrap()
}

#[test]
fn commands_that_read_a_dataset_themselves_use_the_cache_of_the_environment() {
    let (home, server, _) = scene(&[]);
    let url = server.url("a.tar");
    for args in
        [&["verify", &url][..], &["index", &url, "--rebuild"], &["preview", &url, "--size", "16", "--count", "4"]]
    {
        let mut args = args.to_vec();
        let sheet = home.path("preview.png");
        if args[0] == "preview" {
            args.extend(["--output", sheet.to_str().unwrap()]);
        }
        let output = command(&home, &args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {said}");
        let asked = server.asked().len();
        assert_eq!(asked, usize::from(args[0] == "verify"), "{args:?}: only the first reads the tar");
    }
    let mut wrong = Command::new(env!("CARGO_BIN_EXE_forebay"));
    let output = wrong.args(["verify", &url]).env("FOREBAY_CACHE_SIZE", "much").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("FOREBAY_CACHE_SIZE is \"much\""), "{said}");
}
