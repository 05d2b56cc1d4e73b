//! Who may attach, and what they may ask for.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use forebay_client::{AttachError, Patient, Refusal, Session};
use forebay_ring::text_code;
use rustix::process::geteuid;

use crate::daemon::{Daemon, Home, stderr};
use crate::trainer::{Event, Puppet, options, target};

/// A user and group of no rights, which every Linux has.
const NOBODY: u32 = 65534;

/// Name of the group of nobody, which distributions do not agree on.
fn nobodys_group() -> Option<String> {
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    let of_nobody = |line: &str| line.split(':').nth(2) == Some(&NOBODY.to_string());
    groups.lines().find(|line| of_nobody(line)).and_then(|line| line.split(':').next()).map(str::to_owned)
}

/// This binary where another user may run it, in a home that others may walk through.
fn program(home: &Home) -> PathBuf {
    program_of(home, std::env::current_exe().unwrap())
}

fn program_of(home: &Home, of: impl AsRef<std::ffi::OsStr>) -> PathBuf {
    let program = home.path("program");
    // Written by another process: a child that another test starts meanwhile would keep our descriptor until it runs
    // its program, and a file that somebody writes cannot be run ("text file busy").
    let mut install = Command::new("install");
    let copied = install.args(["-m", "755"]).arg(of).arg(&program).status().unwrap();
    assert!(copied.success(), "{copied}");
    fs::set_permissions(home.path("."), fs::Permissions::from_mode(0o711)).unwrap();
    program
}

/// Serves a stream with these settings on a socket that members of the group can reach.
fn serve_to_group(home: &Home, group: &str, settings: &str) -> Daemon {
    let _first = fs::remove_dir_all(home.path("sockets"));
    let control = format!("[control]\nunix_group = {group}\ndir = \"{}\"\n", home.path("sockets").display());
    let state = format!("[coordinator]\npath = \"{}\"\n", home.path("state").display());
    fs::write(home.path("forebay.toml"), control + &state + &home.train(settings)).unwrap();
    home.start()
}

fn is_root(what: &str) -> bool {
    let root = geteuid().is_root();
    if !root {
        println!("skipped: only root can become another user, and so test that {what}");
    }
    root
}

#[test]
fn rule_25_another_user_does_not_even_reach_the_socket() {
    if !is_root("other users are kept out") {
        return;
    }
    let home = Home::with_pictures(4);
    let _daemon = home.serve("");
    assert_eq!(fs::metadata(home.path("sockets")).unwrap().permissions().mode() & 0o777, 0o700);
    let Event::Failed(reason) = Puppet::answer_to_user(&home, &program(&home), NOBODY, NOBODY) else {
        panic!("it was let in")
    };
    assert!(reason.contains("this user may not use the socket") && reason.contains("[control] unix_group"), "{reason}");
}

/// A user that nobody else is, without a runtime folder. Each run of the tests has its own.
fn stranger() -> u32 {
    40_000 + std::process::id() % 20_000
}

#[test]
fn rule_27_a_daemon_of_a_user_without_a_runtime_folder_is_found_by_name_and_leaves_nothing() {
    if !is_root("a user without a runtime folder finds its daemon") {
        return;
    }
    let home = Home::with_pictures(4);
    let forebay = program_of(&home, env!("CARGO_BIN_EXE_forebay"));
    fs::create_dir(home.path("own")).unwrap();
    std::os::unix::fs::chown(home.path("own"), Some(stranger()), Some(stranger())).unwrap();
    let command = |args: &[&str]| {
        let mut command = Command::new(&forebay);
        command.env_clear().env("XDG_STATE_HOME", home.path("own")).args(args).uid(stranger()).gid(stranger());
        command
    };
    let pictures = home.path("pictures").display().to_string();
    let mut daemon = Daemon::spawn(command(&["serve", &pictures]));
    daemon.hears("ready");
    let folder = PathBuf::from(format!("/tmp/forebay-{}", stranger()));
    assert_eq!(fs::symlink_metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    for args in [&["status"][..], &["audit"]] {
        let output = command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    }
    daemon.stop();
    assert!(!folder.exists(), "nothing is left in /tmp");
}

#[test]
fn rule_25_a_user_of_the_socket_s_group_attaches_only_to_streams_that_name_it() {
    if !is_root("groups are let in") {
        return;
    }
    let Some(group) = nobodys_group() else { return println!("skipped: group {NOBODY} has no name here") };
    let home = Home::with_pictures(4);
    let serve = |settings: &str| serve_to_group(&home, &format!("{group:?}"), settings);
    let program = program(&home);
    let daemon = serve("");
    let Event::Failed(reason) = Puppet::answer_to_user(&home, &program, NOBODY, NOBODY) else {
        panic!("it was let in")
    };
    assert!(reason.contains("stream \"train\" is not for user 65534: only the daemon's own user"), "{reason}");
    daemon.stop();

    let daemon = serve(&format!("unix_group = {group:?}"));
    assert_eq!(Puppet::answer_to_user(&home, &program, NOBODY, NOBODY), Event::Well);
    daemon.stop();

    let daemon = serve("unix_group = \"root\"");
    let Event::Failed(reason) = Puppet::answer_to_user(&home, &program, NOBODY, NOBODY) else {
        panic!("it was let in")
    };
    assert!(
        reason.contains("only processes of the Unix group \"root\" may attach, and this one has 65534"),
        "{reason}"
    );
    daemon.stop();
}

#[test]
fn rule_25_a_trainer_with_a_supplementary_group_attaches_whatever_etc_group_has() {
    if !is_root("groups of a process are asked of the kernel") {
        return;
    }
    // No file of this machine lists it, as in a container, or where groups come from a directory service.
    let group = 70_000 + std::process::id() % 10_000;
    for (settings, control) in [
        (format!("unix_group = {group}"), group.to_string()),
        (format!("unix_group = \"{group}\""), format!("\"{group}\"")),
    ] {
        let home = Home::with_pictures(4);
        let _daemon = serve_to_group(&home, &control, &settings);
        let program = program(&home);
        let told = |groups: &[u32]| Puppet::answer_to_groups(&home, &program, stranger(), groups);
        assert_eq!(told(&[group]), Event::Well);
        assert_eq!(told(&[group + 1, group]), Event::Well);
        let Event::Failed(reason) = told(&[group + 1]) else { panic!("it was let in") };
        assert!(reason.contains(&format!("--group-add {group}")), "{reason}");
    }
}

#[test]
fn rule_25_who_reaches_the_socket_by_another_group_is_told_which_groups_its_process_has() {
    if !is_root("groups of a process are asked of the kernel") {
        return;
    }
    let home = Home::with_pictures(4);
    let _daemon = serve_to_group(&home, "70001", "unix_group = 70002");
    let told = |groups: &[u32]| Puppet::answer_to_groups(&home, &program(&home), stranger(), groups);
    let Event::Failed(reason) = told(&[70_001]) else { panic!("it was let in") };
    let has = format!("only processes of the Unix group \"70002\" may attach, and this one has {}, 70001", stranger());
    assert!(reason.contains(&has), "{reason}");
    assert_eq!(told(&[70_001, 70_002]), Event::Well);
}

#[test]
fn rule_25_a_ring_that_trainers_may_page_lock_is_for_the_daemon_s_own_user_alone_whatever_its_group() {
    if !is_root("other users of its group are kept out") {
        return;
    }
    let Some(group) = nobodys_group() else { return println!("skipped: group {NOBODY} has no name here") };
    let home = Home::with_pictures(4);
    let daemon = serve_to_group(&home, &format!("{group:?}"), &format!("unix_group = {group:?}\npin_memory = true"));
    let Event::Failed(reason) = Puppet::answer_to_user(&home, &program(&home), NOBODY, NOBODY) else {
        panic!("it was let in")
    };
    assert!(reason.contains("pin_memory: trainers of this stream may page-lock its ring"), "{reason}");
    assert!(reason.contains("not of user 65534. Leave pin_memory out for streams with a unix_group"), "{reason}");
    let mut own = Puppet::attach(&home);
    assert!(matches!(own.next(), Event::Batch(_)), "the daemon's own user has it");
    drop(own);
    daemon.stop();
}

fn refusal(home: &Home, name: &str, settings: Option<&str>) -> Refusal {
    match Session::attach(target(&home.socket(), name, settings), options(), &mut Patient) {
        Err(AttachError::Refused(refusal)) => refusal,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was let in"),
    }
}

#[test]
fn rule_25_a_path_is_not_taken_over_the_socket_of_a_service() {
    let home = Home::with_pictures(4);
    let _daemon = home.serve("");
    let settings = format!("{{\"source\": {:?}, \"batch_size\": 4, \"size\": 16}}", home.path("pictures"));
    let refused = refusal(&home, "", Some(&settings));
    assert_eq!(refused.code, text_code::PERMISSION);
    assert!(refused.message.contains("only its configured streams (train)"), "{refused}");
}

#[test]
fn rule_26_a_stream_that_is_not_there_is_refused_with_those_that_are() {
    let home = Home::with_pictures(4);
    home.configure(&(home.stream("eval", "") + &home.train("")));
    let _daemon = home.start();
    let refused = refusal(&home, "tain", None);
    assert_eq!(refused.code, text_code::NOT_FOUND);
    assert_eq!(refused.message, "there is no stream \"tain\"; this daemon has eval, train");
}

#[test]
fn rule_26_settings_that_differ_are_listed_each_and_equal_ones_are_taken() {
    let home = Home::with_pictures(4);
    let _daemon = home.serve("shuffle = true\nseed = 3");
    let refused = refusal(&home, "train", Some("{\"batch_size\": 8, \"size\": 16, \"seed\": 4, \"shuffle\": false}"));
    assert_eq!(refused.code, text_code::SETTINGS);
    for words in ["There are 3 mistakes", "batch_size: is 8, but the stream has 4", "seed: is 4", "shuffle: is false"] {
        assert!(refused.message.contains(words), "{words:?} is not in: {refused}");
    }
    let broken = refusal(&home, "train", Some("{\"batch_size\":"));
    assert_eq!(broken.code, text_code::SETTINGS);
    assert!(broken.message.contains("not JSON"), "{broken}");
    let same = Some("{\"batch_size\": 4, \"size\": 16, \"seed\": 3, \"shuffle\": true}");
    Session::attach(target(&home.socket(), "train", same), options(), &mut Patient).unwrap();
}

#[test]
fn a_socket_on_which_nobody_listens_is_named() {
    let home = Home::with_pictures(0);
    let error =
        Session::attach(target(&home.socket(), "train", None), options(), &mut Patient).unwrap_err().to_string();
    assert!(error.contains(&*home.socket().to_string_lossy()) && error.contains("forebay serve"), "{error}");
}
