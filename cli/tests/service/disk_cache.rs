//! The cache on a local disk, as it is turned on for a daemon and for commands: nothing is asked of a store twice.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use crate::daemon::Home;
use crate::file_server::FileServer;
use crate::trainer::Trainer;

const RECORDS: u64 = 24;

/// A tar of the pictures of a home, in the folder `bucket`.
fn tar(home: &Home) {
    let mut bytes = Vec::new();
    for number in 0..RECORDS {
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

/// A home whose streams read the tar from a server, and the tables of its configuration.
fn scene(streams: &[&str]) -> (Home, FileServer, String) {
    let home = Home::with_pictures(RECORDS);
    tar(&home);
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
