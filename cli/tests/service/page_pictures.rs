//! Pictures of `forebay page`: bad records as far as they can be decoded, and the latest batch as the trainers have it. Child processes
//! draw them, and the daemon decodes nothing for them.

use std::fs;
use std::process::Command;

use forebay_client::{Next, Patient};
use forebay_pixels::sample::photograph;
use image::{ImageFormat, RgbImage};

use crate::daemon::{Home, until};
use crate::page::{Page, link};
use crate::suspects::{FAULT, library};
use crate::trainer::Trainer;

/// The images of a page.
fn images(html: &str) -> Vec<String> {
    html.split("<img src=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// A page that an overview leads to over these links.
fn followed(page: &Page, links: &[&str]) -> String {
    let overview = until("the stream is open", || {
        let html = page.shows("");
        html.contains("href=\"stream?").then_some(html)
    });
    links.iter().fold(overview, |html, begin| page.shows(&link(&html, begin)))
}

/// A record that is cut off, one that is no picture, and one that ends the process that decodes it where [`library`] is preloaded.
fn with_bad_records() -> Home {
    let home = Home::with_pictures(6);
    let whole = photograph(3, 400, 300);
    fs::write(home.picture(6), &whole[..whole.len() / 2]).unwrap();
    fs::write(home.picture(7), "this is no picture").unwrap();
    let poison = home.picture(8);
    RgbImage::new(FAULT, 40).save_with_format(&poison, ImageFormat::Png).unwrap();
    let bytes = fs::read(&poison).unwrap();
    fs::write(&poison, &bytes[..bytes.len() - 40]).unwrap();
    home
}

#[test]
fn bad_records_are_shown_as_far_as_they_can_be_decoded_and_one_that_ends_its_process_hides_no_other() {
    let home = with_bad_records();
    let _daemon = home.serve("epochs = 1\non_error = \"skip\"");
    Trainer::attach(&home).epoch();
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.env("LD_PRELOAD", library(&home));
    let page = Page::started(&mut command, &["--socket-dir", home.path("sockets").to_str().unwrap()]);
    let html = followed(&page, &["stream?", "quarantine?", "bad-pictures?"]);
    assert_eq!(html.matches("<figure>").count(), 3, "{html}");
    let images = images(&html);
    assert_eq!(images.len(), 1, "{html}");
    let (kind, bytes) = page.image(&images[0]);
    assert!(kind == "image/jpeg" && bytes.starts_with(&[0xFF, 0xD8]), "{kind}");
    assert!(html.contains("width=\"160\" height=\"120\"") && html.contains("0006.jpg"), "{html}");
    assert!(html.contains("None of it can be decoded.") && html.contains("0007.jpg"), "{html}");
    assert!(html.contains("has ended the process that draws (signal 11)") && html.contains("0008.jpg"), "{html}");
    assert_eq!(page.get("image?name=0123456789abcdef0123456789abcdef").status, 404);
    assert_eq!(page.shows(""), page.shows(""), "the page goes on");
}

#[test]
fn the_latest_batch_is_drawn_as_trainers_have_it_and_the_daemon_decodes_nothing_for_it() {
    let home = Home::with_pictures(10);
    let settings = "epochs = 1\nshuffle = true\nseed = 5\nlast_batch_policy = \"partial\"\ntransform = [{ random_resized_crop = { size = 16 } }, \
                    { random_horizontal_flip = {} }]";
    let _daemon = home.serve(settings);
    let mut trainer = Trainer::attach(&home);
    let mut last = Vec::new();
    while let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() {
        let (records, all) = (batch.records(), batch.images());
        let len = all.len() / records.len();
        let places = records.iter().zip(all.chunks(len)).take(batch.shown());
        last = places.map(|(record, pixels)| (*record, pixels.to_vec())).collect();
    }
    assert!(!last.is_empty());
    let decoded = |home: &Home| {
        let status = home.status();
        let stages: Vec<_> = status.stages.iter().map(|stage| (stage.name.clone(), stage.items)).collect();
        // Which slots are free depends on what becomes of the ring behind the last epoch.
        (stages, status.batches, status.slots_held)
    };
    let before = decoded(&home);
    let page = Page::of(&home);
    let html = followed(&page, &["stream?", "batch?"]);
    assert!(html.contains("drawn anew by the recipe") && html.contains("Epoch 0"), "{html}");
    let images = images(&html);
    assert_eq!(images.len(), last.len(), "{html}");
    for (image, (record, pixels)) in images.iter().zip(&last) {
        let (kind, bytes) = page.image(image);
        assert_eq!(kind, "image/png");
        assert!(html.contains(&format!("<b>Record {record}</b>")), "{record}: {html}");
        assert_eq!(image::load_from_memory(&bytes).unwrap().to_rgb8().as_raw(), pixels, "record {record}");
    }
    assert_eq!(decoded(&home), before, "the daemon has made nothing");
}

#[test]
fn labels_of_the_latest_batch_are_shown() {
    let home = Home::with_pictures(4);
    for (class, number) in [("cat", 0), ("dog", 1)] {
        fs::create_dir(home.path("pictures").join(class)).unwrap();
        fs::rename(home.picture(number), home.path("pictures").join(class).join("a.jpg")).unwrap();
        fs::remove_file(home.picture(number + 2)).unwrap();
    }
    let _daemon = home.serve("epochs = 1\nbatch_size = 2");
    Trainer::attach(&home).epoch();
    let html = followed(&Page::of(&home), &["stream?", "batch?"]);
    assert!(html.contains("<br>cat<") && html.contains("<br>dog<"), "{html}");
    assert!(html.contains("alt=\"Record 0 as the recipe makes it: cat\""), "{html}");
}

#[test]
fn a_page_without_pictures_draws_none_and_a_dataset_that_is_gone_is_said() {
    let home = with_bad_records();
    let _daemon = home.serve("epochs = 1\non_error = \"skip\"");
    Trainer::attach(&home).epoch();
    let folder = home.path("sockets");
    let without = Page::with(&["--no-pictures", "--socket-dir", folder.to_str().unwrap()]);
    let stream = followed(&without, &["stream?"]);
    assert!(!stream.contains("batch?"), "{stream}");
    let list = without.shows(&link(&stream, "quarantine?"));
    assert!(!list.contains("bad-pictures?"), "{list}");
    let asked = without.get(&link(&stream, "quarantine?").replace("quarantine", "bad-pictures"));
    assert!(asked.status == 404 && asked.body.contains("--no-pictures"), "{}", asked.body);
    let page = Page::of(&home);
    fs::rename(home.path("pictures"), home.path("elsewhere")).unwrap();
    let html = followed(&page, &["stream?", "quarantine?", "bad-pictures?"]);
    assert!(html.contains("No pictures: The dataset cannot be opened here") && html.contains("0007.jpg"), "{html}");
}
