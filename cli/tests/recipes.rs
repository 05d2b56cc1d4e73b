//! Recipes as a user of the command meets them: printed and previewed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::process::{Command, Output};

use forebay_daemon::config::Config;
use forebay_pixels::document::NAMED;

fn forebay(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forebay")).args(args).output().expect("the command can be started")
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn pictures(folder: &Path) -> String {
    let folder = folder.join("pictures").to_str().unwrap().to_owned();
    printed(&forebay(&["sample", &folder, "--count", "3", "--classes", "1", "--width", "120", "--height", "90"]));
    folder
}

#[test]
fn a_printed_recipe_is_the_stream_that_the_name_means() {
    let stream = |text: &str| {
        let settings = Config::parse(text, "a.toml").unwrap().streams.remove("train").unwrap().settings;
        (settings.recipe, settings.views)
    };
    for recipe in NAMED {
        let page = printed(&forebay(&["config", "--recipe", recipe.name]));
        let keys = "[streams.train]\nsource = \"/data\"\nbatch_size = 1\n";
        let by_name = stream(&format!("{keys}recipe = \"{}\"\n", recipe.name));
        assert_eq!(stream(&page.replace("[streams.train]\n", keys)), by_name, "{page}");
        assert!(recipe.parameters().keys().all(|key| page.contains(&format!("#   {key}: "))), "{page}");
    }
    let smaller = printed(&forebay(&["config", "--recipe", "{ name = \"timm_eval\", size = 96 }"]));
    assert!(smaller.contains("center_crop = { size = 96 }"), "{smaller}");
    let unknown = forebay(&["config", "--recipe", "resnet"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        said(&unknown).contains("\"resnet\", which is no recipe; give one of torchvision_train"),
        "{}",
        said(&unknown)
    );
}

#[test]
fn rule_51_a_preview_of_a_record_has_a_picture_for_each_epoch_and_view() {
    let dir = tempfile::tempdir().unwrap();
    let folder = pictures(dir.path());
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let preview = |args: &[&str]| forebay(&[&["preview", "-o", &at("sheet.png")], args].concat());

    let recipe = "{ name = \"torchvision_train\", size = 64, auto_augment = \"ta_wide\" }";
    let text = printed(&preview(&[&folder, "--recipe", recipe, "--record", "2", "--count", "7", "--columns", "4"]));
    assert!(text.contains("7 pictures of ") && text.contains("pictures/"), "{text}");
    let sheet = image::open(at("sheet.png")).unwrap().to_rgb8();
    assert_eq!(sheet.width(), 8 + 4 * (168 + 8), "narrow pictures have room for what was drawn");
    let cell = |column: u32| image::imageops::crop_imm(&sheet, 8 + column * 176, 8, 64, 64).to_image();
    assert!(cell(0) != cell(1) && cell(1) != cell(2), "each epoch has its own draws");

    let crops = "{ name = \"dinov2\", local_crops_number = 2, global_crops_size = 48, local_crops_size = 16 }";
    let text = printed(&preview(&[&folder, "--recipe", crops, "--count", "9"]));
    assert!(text.contains("8 pictures of "), "two whole rows of four views: {text}");

    let file = at("a.toml");
    let stream = format!("[streams.train]\nsource = \"{folder}\"\nbatch_size = 2\nsize = 32\n");
    std::fs::write(&file, stream).unwrap();
    let text = printed(&preview(&["--config", &file, "--stream", "train", "--record", "1", "--count", "2"]));
    assert!(text.contains("2 pictures of "), "{text}");

    for (args, words) in [
        (&["--record", "1"][..], "--record needs a path, or --config FILE with --stream NAME."),
        (&[&folder, "--record", "3"], "there is no record 3: the dataset has 3 records"),
        (&[&folder, "--recipe", "simclr", "--set", "size=8"], "cannot be combined with recipe"),
        (&["--config", &file, "--stream", "eval", "--record", "1"], "no stream \"eval\". It has: train."),
        (&[&folder, "--recipe", "{ name = \"yolo_eval\", imgsz = 16384 }"], "Set --count to less than 24."),
    ] {
        let refused = preview(args);
        assert!(!refused.status.success() && said(&refused).contains(words), "{args:?}: {}", said(&refused));
    }
}
