//! Seek points that `forebay index --seek` has written: they are there in the first epoch, and change no pixel, whatever is in
//! their file.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use forebay_pixels::sample::photograph;
use serde_json::Value;

use crate::cache::{Pixels, attach, take};
use crate::daemon::{Daemon, Home};

const PICTURES: u64 = 12;

/// A home whose pictures are large enough for seek points, and the index of these pictures.
fn scene() -> (Home, PathBuf) {
    let home = Home::with_pictures(0);
    for number in 0..PICTURES {
        fs::write(home.picture(number), photograph(number, 400, 300)).unwrap();
    }
    // One has none.
    fs::write(home.picture(PICTURES), photograph(PICTURES, 24, 18)).unwrap();
    let index = home.path("x.arrow");
    (home, index)
}

/// Runs `forebay index --seek` for these pictures, and gives what it says of the seek points.
fn note(home: &Home, index: &PathBuf, more: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.arg("index").arg(home.path("pictures")).arg("--output").arg(index).args(["--seek", "--json"]).args(more);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    told["seek"].clone()
}

/// The pixels of two epochs. The trainer comes once the daemon has said `hears`. `figures` gets how many pictures have points,
/// and the bytes of these, at that time and after the first epoch.
fn two_epochs(home: &Home, settings: &str, hears: &str, figures: impl FnOnce([(u64, u64); 2])) -> Pixels {
    home.configure(&(home.train("batch_size = 1\nepochs = 2\nshuffle = true\nseed = 7\n") + settings));
    let mut daemon: Daemon = home.start();
    if !daemon.said().contains(hears) {
        daemon.hears(hears);
    }
    let kept = || home.status().seek.map_or((0, 0), |seek| (seek.pictures, seek.bytes));
    let (before, mut seen, mut session) = (kept(), Pixels::new(), attach(home, "train"));
    take(&mut session, usize::MAX, &mut seen);
    figures([before, kept()]);
    take(&mut session, usize::MAX, &mut seen);
    session.close().unwrap();
    daemon.stop();
    fs::remove_dir_all(home.path("state")).unwrap();
    assert_eq!(seen.len() as u64, 2 * (PICTURES + 1));
    seen
}

#[test]
fn rule_53_the_first_epoch_with_the_seek_points_of_an_index_has_the_same_pixels_as_without() {
    let (home, index) = scene();
    let noted = note(&home, &index, &[]);
    assert_eq!((&noted["pictures"], &noted["unread"], &noted["noted"]), (&PICTURES.into(), &0.into(), &true.into()));
    let points = PathBuf::from(noted["file"].as_str().unwrap());
    assert_eq!(
        (points.as_path(), &noted["bytes"]),
        (home.path("x.arrow.seek").as_path(), &points.metadata().unwrap().len().into())
    );
    assert_eq!(note(&home, &index, &[])["noted"], false, "they fit");
    let plain = two_epochs(&home, "[decode]\nseek = \"off\"\n", "", |figures| assert_eq!(figures, [(0, 0); 2]));
    let from_index = format!("index = \"{}\"\n", index.display());
    let seeking = two_epochs(&home, &from_index, "loaded the seek points of the index", |[before, after]| {
        // The ring has room for fewer pictures than that, so no decode has noted all of these.
        assert_eq!([before.0, after.0], [PICTURES; 2]);
    });
    assert!(seeking == plain);
}

#[test]
fn rule_53_a_file_of_seek_points_that_is_damaged_foreign_or_open_to_others_changes_nothing() {
    let (home, index) = scene();
    note(&home, &index, &[]);
    let points = home.path("x.arrow.seek");
    let good = fs::read(&points).unwrap();
    let plain = two_epochs(&home, "[decode]\nseek = \"off\"\n", "", |_| {});
    let from_index = format!("index = \"{}\"\n", index.display());
    let mut damaged = good.clone();
    let blocks = damaged.len() - 2000;
    damaged[blocks..].iter_mut().step_by(7).for_each(|byte| *byte ^= 0x55);
    let mut foreign = good.clone();
    foreign[20] ^= 1;
    let cut = good[..good.len() - 1].to_vec();
    for (name, bytes, mode, hears) in [
        ("its blocks are damaged", &damaged, 0o644, "loaded the seek points of the index"),
        ("it is of another dataset", &foreign, 0o644, "it is of another dataset"),
        ("it is cut", &cut, 0o644, "it is cut or damaged"),
        ("it is something else", &b"nothing".repeat(20), 0o644, "it is no file of seek points"),
        ("others may write it", &good, 0o666, "can write it"),
    ] {
        fs::write(&points, bytes).unwrap();
        fs::set_permissions(&points, Permissions::from_mode(mode)).unwrap();
        let seen = two_epochs(&home, &from_index, hears, |[_, (noted, _)]| assert_eq!(noted, PICTURES, "{name}"));
        assert!(seen == plain, "{name}");
    }
    // What does not fit is made anew without being asked.
    assert_eq!(note(&home, &index, &[])["noted"], true);
    assert_eq!(fs::read(&points).unwrap(), good);
}

#[test]
fn points_follow_the_file_so_pictures_that_change_between_epochs_are_decoded_as_they_are_now() {
    const EPOCHS: u64 = 5;
    let home = Home::with_pictures(0);
    let write = |seed: u64| {
        for number in 0..PICTURES {
            let picture = photograph(seed + number, 400, 300);
            // By rename, so that no read finds half of a picture.
            fs::write(home.path("next"), picture).unwrap();
            fs::rename(home.path("next"), home.picture(number)).unwrap();
        }
    };
    let [with, without] = ["memory", "off"].map(|seek| {
        write(0);
        let settings =
            format!("batch_size = 1\nepochs = {EPOCHS}\nshuffle = true\nseed = 7\n[decode]\nseek = \"{seek}\"\n");
        home.configure(&home.train(&settings));
        let daemon = home.start();
        let (mut session, mut seen) = (attach(&home, "train"), Pixels::new());
        take(&mut session, usize::MAX, &mut seen);
        write(1000);
        (1..EPOCHS).for_each(|_| take(&mut session, usize::MAX, &mut seen));
        let noted = home.status().seek.map_or(0, |seek| seek.pictures);
        assert_eq!(noted, if seek == "memory" { PICTURES } else { 0 });
        session.close().unwrap();
        daemon.stop();
        fs::remove_dir_all(home.path("state")).unwrap();
        // The epochs between may have been read ahead before the change.
        let of_epoch = |epoch| {
            seen.iter().filter(move |((of, _), _)| *of == epoch).map(|((_, record), pixels)| (*record, pixels.clone()))
        };
        [0, EPOCHS - 1].map(|epoch| of_epoch(epoch).collect::<Vec<_>>())
    });
    assert_eq!([&with[0], &with[1]].map(Vec::len), [12; 2]);
    assert!(with == without);
    assert!(with[0].iter().zip(&with[1]).all(|(before, after)| before.1 != after.1), "the pictures have changed");
}
