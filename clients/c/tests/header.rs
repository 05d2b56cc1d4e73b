//! The checked-in header is what cbindgen makes of the source. `FOREBAY_REGENERATE=1` writes it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::{env, fs};

/// Everything that the header shows, in its order.
const SOURCES: [&str; 5] = ["failure", "view", "abi", "abi/session", "abi/batch"];

fn generated(folder: &Path) -> String {
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = SOURCES.iter().fold(builder, |builder, name| builder.with_src(folder.join(format!("src/{name}.rs"))));
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    // Rust's heading for what an unsafe function requires of its caller.
    String::from_utf8(header).unwrap().replace("# Safety", "Requires:")
}

#[test]
fn the_header_is_made_of_the_source() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (generated, file) = (generated(folder), folder.join("include/forebay.h"));
    if env::var_os("FOREBAY_REGENERATE").is_some() {
        fs::write(&file, &generated).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap() == generated,
        "include/forebay.h is old: run `FOREBAY_REGENERATE=1 cargo test -p forebay-c --test header`"
    );
}

#[test]
fn every_function_is_in_the_header() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = generated(folder);
    let exported: usize = ["abi.rs", "abi/session.rs", "abi/batch.rs", "abi/pointer.rs"]
        .map(|name| fs::read_to_string(folder.join("src").join(name)).unwrap().matches("#[unsafe(no_mangle)]").count())
        .iter()
        .sum();
    let declared = header.lines().filter(|line| line.contains(" forebay_") || line.contains("*forebay_"));
    let declared = declared.filter(|line| line.contains('(') && !line.trim_start().starts_with(['*', '/'])).count();
    assert!(exported > 15, "the functions were not found");
    assert_eq!(declared, exported);
}
