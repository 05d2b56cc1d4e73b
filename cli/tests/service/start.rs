//! Daemons that cannot start say why, each in one clear message.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::daemon::{Daemon, Home, names};
use crate::trainer::{Trainer, records};

#[test]
fn two_daemons_on_one_socket_the_second_is_told_where_the_first_is() {
    let home = Home::with_pictures(8);
    let daemon = home.serve("epochs = 1");
    let (code, said) = home.fails_to_start();
    assert_eq!(code, Some(1));
    let words = format!("another daemon (process {}) already listens at {}", daemon.pid(), home.socket().display());
    assert!(said.contains(&words), "{words:?} is not in: {said}");
    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..8).collect::<Vec<_>>(), "the first is not disturbed");
}

#[test]
fn two_daemons_on_one_ledger_the_second_is_told_which() {
    let home = Home::with_pictures(8);
    let _daemon = home.serve("epochs = 1");
    let text = fs::read_to_string(home.path("forebay.toml")).unwrap();
    fs::write(home.path("forebay.toml"), text.replace("/sockets", "/others")).unwrap();
    let (_, said) = home.fails_to_start();
    assert!(said.contains("ledger.redb") && said.contains("another"), "{said}");
}

#[test]
fn every_mistake_of_a_configuration_is_reported_at_once_with_exit_code_2() {
    let home = Home::with_pictures(4);
    home.configure("[ring]\ncredit = 2\n[streams.train]\nsource = \"/data\"\nsize = \"large\"\nshuffles = true\n");
    let (code, said) = home.fails_to_start();
    assert_eq!(code, Some(2));
    for words in ["4 mistakes", "forebay.toml", "ring.credit", "\"credits\"", "size", "shuffles", "batch_size"] {
        assert!(said.contains(words), "{words:?} is not in: {said}");
    }
}

/// `forebay serve PATH` in a home of its own.
fn serve(home: &Home, path: &Path) -> (Option<i32>, String) {
    serve_with(home, &[path.as_os_str()])
}

fn serve_with(home: &Home, arguments: &[&OsStr]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.env("RUNTIME_DIRECTORY", home.path("run")).env("STATE_DIRECTORY", home.path("state"));
    command.arg("serve").args(arguments);
    Daemon::spawn(command).fails()
}

#[test]
fn the_datasets_of_an_elasticdl_job_are_streams_and_its_reader_is_run() {
    let home = Home::with_pictures(4);
    let reader = home.path("reader.py");
    fs::write(&reader, "def make(data_origin, size):\n    raise OSError(f'no {size} table {data_origin}')\n").unwrap();
    let reader = format!("{}:make", reader.display());
    let given = ["--training_data", "photos", "--custom_data_reader", &reader];
    let given = [&given[..], &["--custom_data_reader_params", "size=large"]].concat();
    let arguments: Vec<&OsStr> = given.iter().map(OsStr::new).collect();
    let (code, said) = serve_with(&home, &arguments);
    assert_eq!(code, Some(1), "{said}");
    let last = said.lines().last().unwrap_or_default();
    assert!(last.starts_with("forebay: stream \"training\": ") && last.contains("no large table photos"), "{said}");
    let both = [home.path("pictures").into_os_string(), "--validation_data".into(), "x".into()];
    let both: Vec<&OsStr> = both.iter().map(AsRef::as_ref).collect();
    for wrong in [&both[..], &arguments[2..4], &arguments[4..]] {
        assert_eq!(serve_with(&home, wrong).0, Some(2), "{wrong:?}");
    }
}

#[test]
fn a_path_that_cannot_be_served_is_named_in_one_clear_line() {
    let home = Home::with_pictures(0);
    fs::create_dir(home.path("no-pictures")).unwrap();
    fs::write(home.path("no-pictures/notes.md"), "words").unwrap();
    fs::create_dir_all(home.path("mixed/class")).unwrap();
    fs::write(home.path("mixed/a.jpg"), "").unwrap();
    fs::write(home.path("mixed/class/b.jpg"), "").unwrap();
    fs::write(home.path("labels.csv"), "a.jpg,1\n,2\n").unwrap();
    fs::write(home.path("list.txt"), "nowhere.jpg\n").unwrap();
    fs::write(home.path("data.xyz"), "").unwrap();
    let cases = [
        ("nowhere", "nowhere"),
        ("pictures", "pictures"),
        ("no-pictures", "no-pictures"),
        ("mixed", "a.jpg"),
        ("labels.csv", "line 2"),
        ("list.txt", "nowhere.jpg"),
        ("data.xyz", "data.xyz"),
    ];
    for (name, words) in cases {
        let (code, said) = serve(&home, &home.path(name));
        assert_eq!(code, Some(1), "{name}: {said}");
        let last = said.lines().last().unwrap_or_default();
        assert!(last.starts_with("forebay: stream \"default\": ") && last.contains(words), "{name}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    assert_eq!(names(&home.path("run")), [""; 0], "no socket is left");
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_that_everybody_may_enter_is_refused_and_stays_as_it_is() {
    let home = Home::with_pictures(4);
    for name in ["sockets", "state"] {
        let folder = home.path(name);
        fs::create_dir(&folder).unwrap();
        for open in [0o755, 0o1777] {
            home.configure(&home.train(""));
            mode(&folder, open);
            let (code, said) = home.fails_to_start();
            assert_eq!(code, Some(1));
            let remedy = format!("chmod 700 {}", folder.display());
            assert!(said.contains("every user of this machine") && said.contains(&remedy), "{said}");
            assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o7777, open, "it was not changed");
        }
        mode(&folder, 0o700);
    }
    home.serve("").stop();
}

#[test]
fn a_folder_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return println!("skipped: only root can give a folder away");
    }
    let home = Home::with_pictures(4);
    home.configure(&home.train(""));
    fs::create_dir(home.path("sockets")).unwrap();
    mode(&home.path("sockets"), 0o700);
    std::os::unix::fs::chown(home.path("sockets"), Some(65534), None).unwrap();
    let (_, said) = home.fails_to_start();
    assert!(said.contains("belongs to user 65534"), "{said}");
}

#[test]
fn a_folder_that_the_service_manager_made_is_taken_as_it_is() {
    let home = Home::with_pictures(4);
    fs::create_dir(home.path("run")).unwrap();
    mode(&home.path("run"), 0o755);
    fs::create_dir(home.path("empty")).unwrap();
    let (code, said) = serve(&home, &home.path("empty"));
    assert_eq!(code, Some(1));
    assert!(said.contains("stream \"default\": "), "it came as far as the stream: {said}");
    assert_eq!(fs::metadata(home.path("run")).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn something_else_at_the_socket_s_place_stays() {
    let home = Home::with_pictures(4);
    home.configure(&home.train(""));
    fs::create_dir(home.path("sockets")).unwrap();
    mode(&home.path("sockets"), 0o700);
    fs::write(home.socket(), "precious").unwrap();
    let (_, said) = home.fails_to_start();
    assert!(said.contains("is not a socket"), "{said}");
    assert_eq!(fs::read_to_string(home.socket()).unwrap(), "precious");
}

#[test]
fn serve_takes_lanes_beside_a_path_and_a_configuration_has_its_own() {
    let home = Home::with_pictures(2);
    let said = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.env("RUNTIME_DIRECTORY", home.path("run")).env("STATE_DIRECTORY", home.path("state"));
        command.env("FOREBAY_CUDA_DRIVER", home.path("no-driver")).arg("serve").args(arguments);
        Daemon::spawn(command).fails()
    };
    let pictures = home.path("pictures").display().to_string();
    let (code, missing) = said(&[&pictures, "--lanes", "hardware,cpu"]);
    assert!(code == Some(1) && missing.contains("names \"hardware\"") && missing.contains("no-driver"), "{missing}");
    let (code, unknown) = said(&[&pictures, "--lanes", "gpu"]);
    assert!(code == Some(2) && unknown.contains("\"gpu-huffman\""), "{unknown}");
    let (code, both) = said(&["--config", "forebay.toml", "--lanes", "auto"]);
    assert!(code == Some(2) && both.contains("cannot be used with"), "{both}");
}
