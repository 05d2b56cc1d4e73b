//! The `forebay` command as a user meets it: what it prints, and how it ends.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use forebay_daemon::config::Config;
use forebay_formats::open;
use forebay_pixels::sample::photograph;
use forebay_sources::Options;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn forebay(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forebay")).args(args).output().expect("the command can be started")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A flat folder of so many pictures, of which the first `bad` are texts.
fn pictures(folder: &Path, count: u64, bad: u64) -> String {
    let folder = folder.join("pictures");
    fs::create_dir(&folder).unwrap();
    for number in 0..count {
        let picture = if number < bad { b"no picture".to_vec() } else { photograph(number, 24, 18) };
        fs::write(folder.join(format!("{number:02}.jpg")), picture).unwrap();
    }
    folder.to_str().unwrap().to_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_example_configuration_is_accepted_as_it_is_printed() {
    let example = forebay(&["config", "--example"]);
    assert!(example.status.success(), "{}", said(&example));
    assert_eq!(example.stdout, Config::example().as_bytes());
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("forebay.toml");
    fs::write(&file, example.stdout).unwrap();
    let check = forebay(&["config", "--check", file.to_str().unwrap()]);
    assert!(check.status.success(), "{}", said(&check));
    assert!(String::from_utf8_lossy(&check.stdout).contains("no mistakes"));
}

#[test]
fn a_configuration_with_mistakes_ends_with_all_of_them_and_exit_code_2() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("forebay.toml");
    fs::write(&file, "[ring]\ncredits = 0\ntrainer = 1\n").unwrap();
    let check = forebay(&["config", "--check", file.to_str().unwrap()]);
    assert_eq!(check.status.code(), Some(2));
    for words in ["There are 2 mistakes", "forebay.toml", "line 2: ring.credits: is 0", "Did you mean \"trainers\"?"] {
        assert!(said(&check).contains(words), "{words:?} is not in: {}", said(&check));
    }
    fs::write(&file, "[streams.train]\nsource = \"/nowhere/data\"\nbatch_size = 4\nsize = 8\n").unwrap();
    let check = forebay(&["config", "--check", file.to_str().unwrap()]);
    assert_eq!(check.status.code(), Some(2));
    assert!(
        said(&check).contains("line 2: streams.train.source: cannot be used. \"/nowhere/data\" does not exist."),
        "{}",
        said(&check)
    );
    let missing = forebay(&["config", "--check", "/nowhere/forebay.toml"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(said(&missing).contains("/nowhere/forebay.toml"), "{}", said(&missing));
}

#[test]
fn generated_pictures_are_a_dataset_of_class_folders_and_nothing_is_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("pictures");
    let args =
        ["sample", folder.to_str().unwrap(), "--count", "8", "--classes", "3", "--width", "64", "--height", "48"];
    let made = forebay(&args);
    assert!(made.status.success(), "{}", said(&made));
    let source = open(folder.to_str().unwrap(), &Options::default()).unwrap();
    assert_eq!((source.len(), source.classes().len()), (8, 3));
    let labels: Vec<i64> = (0..8).map(|record| source.label(record)).collect();
    assert_eq!(labels, [0, 0, 0, 1, 1, 1, 2, 2]);
    let mut picture = Vec::new();
    source.read(7, u64::MAX, &mut picture).unwrap();
    assert!(picture.starts_with(&[0xff, 0xd8]), "a JPEG");
    let again = forebay(&args);
    assert_eq!(again.status.code(), Some(1));
    assert!(said(&again).contains("not empty"), "{}", said(&again));
}

#[test]
fn parity_says_that_the_python_package_has_it_and_compare_what_it_is_called_now() {
    for (command, words) in
        [("parity", "This binary has no parity."), ("compare", "`forebay compare` is now `forebay parity`.")]
    {
        let output = forebay(&[command, "pictures", "--limit", "4", "-o", "worst.png"]);
        assert_eq!(output.status.code(), Some(2));
        for words in [words, "docs/install.md", "python -m forebay.parity"] {
            assert!(said(&output).contains(words), "{words:?} is not in: {}", said(&output));
        }
    }
}

#[test]
fn a_sample_that_would_leave_a_class_folder_empty_is_refused_before_anything_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("pictures");
    let name = folder.to_str().unwrap();
    let refused = forebay(&["sample", name, "--count", "2", "--classes", "5"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("every class folder needs a picture"), "{}", said(&refused));
    assert!(!folder.exists());
    let fewer = forebay(&["sample", name, "--count", "2", "--width", "64", "--height", "48"]);
    assert!(fewer.status.success(), "{}", said(&fewer));
    assert_eq!(open(name, &Options::default()).unwrap().classes().len(), 2);
}

#[test]
fn a_preview_under_a_name_that_is_no_png_is_refused_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let folder = pictures(dir.path(), 2, 0);
    for (name, code, words) in [("sheet.jpg", 2, "ends with .png"), ("nowhere/sheet.png", 1, "cannot be written")] {
        let name = dir.path().join(name);
        let refused = forebay(&["preview", &folder, "-o", name.to_str().unwrap()]);
        assert_eq!(refused.status.code(), Some(code), "{}", said(&refused));
        assert!(said(&refused).contains(words), "{}", said(&refused));
        assert!(!name.exists());
    }
}

#[test]
fn a_preview_counts_and_names_the_pictures_that_it_leaves_out() {
    let dir = tempfile::tempdir().unwrap();
    let sheet = dir.path().join("sheet.png");
    let folder = pictures(dir.path(), 20, 4);
    let made = forebay(&["preview", &folder, "--count", "20", "--size", "32", "-o", sheet.to_str().unwrap()]);
    assert!(made.status.success(), "{}", said(&made));
    let text = printed(&made);
    assert!(text.contains("sheet.png: 16 pictures") && text.contains("left out, 4 bad pictures:"), "{text}");
    assert!(text.contains("03.jpg: The content is no picture"), "{text}");
    assert!(fs::read(&sheet).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "pictures and sheet, nothing else is left");
}

#[test]
fn rule_45_a_preview_shows_boxes_and_masks_on_the_pictures() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    image::RgbImage::from_pixel(64, 64, image::Rgb([100; 3])).save(path("one.png")).unwrap();
    let json = r#"{"images": [{"id": 1, "file_name": "one.png", "width": 64, "height": 64}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 5, "bbox": [8, 16, 24, 32], "area": 1}],
        "categories": [{"id": 5, "name": ""}]}"#;
    fs::write(path("instances.json"), json).unwrap();
    fs::create_dir(path("masks")).unwrap();
    let right = |x: u32, _| image::Luma([u8::from(x >= 32)]);
    image::GrayImage::from_fn(64, 64, right).save(path("masks/one.png")).unwrap();
    let (source, sheet) = (path("instances.json"), path("sheet.png"));
    let args = ["--size", "56", "--columns", "1", "--mask", "seg=masks"];
    let made = forebay(&[&["preview", source.to_str().unwrap(), "-o", sheet.to_str().unwrap()], &args[..]].concat());
    assert!(made.status.success(), "{}", said(&made));
    let sheet = image::open(sheet).unwrap().to_rgb8();
    // The sheet has a border of 8 pixels, and the middle 56 of 64 pixels are shown.
    let at = |x: u32, y: u32| sheet.get_pixel(8 + x - 4, 8 + y - 4).0;
    assert_eq!((at(40, 8), at(6, 8)), ([114, 50, 50], [100; 3]), "the mask is on the right alone");
    let line = at(8, 30);
    assert!(line != [100; 3] && [at(8, 16), at(31, 20), at(20, 47)].iter().all(|pixel| *pixel == line), "{line:?}");
    assert_eq!((at(7, 30), at(9, 30)), ([100; 3], [100; 3]), "it is an outline");
}

#[test]
fn a_folder_of_broken_files_is_an_error_that_names_them() {
    let dir = tempfile::tempdir().unwrap();
    let sheet = dir.path().join("sheet.png");
    let folder = pictures(dir.path(), 7, 7);
    for args in [&["preview", &folder, "-o", sheet.to_str().unwrap()], &["bench", &folder, "--batch-size", "2"]] {
        let broken = forebay(args);
        assert_eq!(broken.status.code(), Some(1), "{}", said(&broken));
        for words in ["7 bad pictures:", "00.jpg: The content is no picture", "and 2 more"] {
            assert!(said(&broken).contains(words), "{words:?} is not in: {}", said(&broken));
        }
        assert_eq!(printed(&broken), "");
    }
    assert!(!sheet.exists());
}

#[test]
fn a_measurement_counts_bad_pictures_and_is_told_as_json() {
    let dir = tempfile::tempdir().unwrap();
    let folder = pictures(dir.path(), 8, 1);
    let bench = ["bench", &folder, "--seconds", "1", "--batch-size", "4", "--size", "16", "--threads", "1"];
    let measured = forebay(&[&bench[..], &["--json"]].concat());
    assert!(measured.status.success(), "{}", said(&measured));
    let figures: Value = serde_json::from_slice(&measured.stdout).unwrap();
    assert!(figures["pictures_per_second"].as_f64().unwrap() > 0.0, "{figures}");
    assert_eq!((&figures["records"], &figures["bad_records"]), (&Value::from(8), &Value::from(1)));
    assert!(figures["bad"][0]["file"].as_str().unwrap().ends_with("00.jpg"), "{figures}");
    assert_eq!(figures["threads"]["decode"], 1);
    for share in ["reading", "decoding", "no_free_slot", "trainer_waiting"] {
        assert!((0.0..=1.0).contains(&figures["shares"][share].as_f64().unwrap()), "{figures}");
    }
    let words = ["trainer", "decoding", "reading", "ledger", "elsewhere"];
    assert!(words.contains(&figures["bottleneck"].as_str().unwrap()), "{figures}");
    let text = printed(&forebay(&bench));
    assert!(text.contains("pictures/s") && text.contains("1 of 8 records were left out, 1 bad picture:"), "{text}");
}

#[test]
fn a_signal_ends_a_measurement_with_the_code_that_a_shell_expects() {
    let dir = tempfile::tempdir().unwrap();
    let folder = pictures(dir.path(), 8, 0);
    for (signal, name, code) in [(Signal::INT, "SIGINT", 130), (Signal::TERM, "SIGTERM", 143)] {
        let sockets = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.args(["bench", &folder, "--seconds", "3600", "--batch-size", "4", "--size", "16"]);
        command.env("TMPDIR", sockets.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let bench = command.spawn().unwrap();
        wait_for_socket(&bench, sockets.path());
        kill_process(Pid::from_raw(bench.id().cast_signed()).unwrap(), signal).unwrap();
        let ended = bench.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{}", said(&ended));
        let words = said(&ended);
        assert!(words.contains(&format!("{name} ended it early.")) && words.lines().count() == 1, "{words}");
        assert_eq!(fs::read_dir(sockets.path()).unwrap().count(), 0, "its folder is gone");
    }
}

/// Waits until the daemon of a measurement has its control socket: then signals are listened for.
fn wait_for_socket(bench: &Child, folder: &Path) {
    let until = Instant::now() + Duration::from_secs(60);
    let there = || fs::read_dir(folder).unwrap().any(|each| each.unwrap().path().join("control.sock").exists());
    while !there() {
        assert!(Instant::now() < until, "process {} makes no socket", bench.id());
        // Nobody unparks this thread: it rests between two looks.
        thread::park_timeout(Duration::from_millis(10));
    }
}

#[test]
fn completions_and_manual_pages_have_every_command_that_the_help_has() {
    let help = printed(&forebay(&["--help"]));
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // The rest of a description stands further to the right.
    let names = listed.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let commands: Vec<&str> = names.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help").collect();
    assert!(commands.contains(&"serve") && commands.contains(&"man"), "{help}");

    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&forebay(&["completions", shell]));
        for words in commands.iter().chain(&["quarantine", "batch-size"]) {
            assert!(script.contains(words), "{words:?} is not among the completions for {shell}");
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("forebay.bash");
    fs::write(&script, forebay(&["completions", "bash"]).stdout).unwrap();
    let complete =
        "source \"$0\" && COMP_WORDS=(forebay sta) COMP_CWORD=1 && _forebay forebay sta && echo ${COMPREPLY[*]}";
    let completed = Command::new("bash").args(["-c", complete]).arg(&script).output().unwrap();
    assert_eq!(printed(&completed), "status\n", "{}", said(&completed));

    let pages = dir.path().join("man1");
    fs::create_dir(&pages).unwrap();
    let written = forebay(&["man", pages.to_str().unwrap()]);
    assert!(written.status.success(), "{}", said(&written));
    let page = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
    for command in commands {
        assert!(page("forebay.1").contains(command), "{command}");
        assert!(page(&format!("forebay-{command}.1")).contains(".TH "), "{command}");
    }
    assert!(page("forebay-status.1").contains("quarantine"));
    let refused = forebay(&["man", "/nowhere/man1"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("/nowhere/man1"), "{}", said(&refused));
}

#[test]
fn what_is_said_of_etcd_to_a_coordinator_is_checked_and_a_password_is_not_repeated() {
    let refused = |args: &[&str]| {
        let output = forebay(&[&["coordinate"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        said(&output)
    };
    let with_password = refused(&["--store", "etcd", "--etcd", "http://root:hunter2@etcd.example:2379"]);
    assert!(with_password.contains("@etcd.example:2379") && with_password.contains("--etcd-password-file"));
    assert!(!with_password.contains("hunter2") && !with_password.contains("root"), "{with_password}");
    for of_etcd in [["--leader-lease", "5s"], ["--etcd-prefix", "/a"], ["--etcd", "http://a:1"]] {
        assert!(refused(&of_etcd).contains("need --store etcd"), "{of_etcd:?}");
    }
    let nowhere = refused(&["--store", "etcd", "--etcd", "http://a:1", "--snapshot-every", "5s"]);
    assert!(nowhere.contains("--snapshot-every needs --path"), "{nowhere}");
}
