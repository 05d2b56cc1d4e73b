//! Compiles libwebp's decoder and the C shim. The files with instructions of newer processors alone get the flags for them;
//! libwebp asks the processor at run time, so that the same binary starts on every x86-64.

use std::fs;
use std::path::{Path, PathBuf};

/// Endings of files that need flags of their own, and these flags. Every x86-64 has SSE2, and every 64-bit ARM has NEON.
const NEWER: [(&str, &str); 2] = [("_sse41", "-msse4.1"), ("_avx2", "-mavx2")];

fn main() {
    println!("cargo::rerun-if-changed=libwebp");
    println!("cargo::rerun-if-changed=shim");
    let is_x86 = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64");
    let mut plain = libwebp(is_x86);
    for (ending, flag) in NEWER {
        let of_this = |file: &PathBuf| stem(file).ends_with(ending);
        let files: Vec<_> = plain.extract_if(.., |file| of_this(file)).collect();
        if is_x86 {
            build(is_x86).files(files).flag(flag).compile(&format!("forebay_webp{ending}"));
        }
    }
    // Memory that libwebp takes goes through the shim, which counts it.
    let takes_memory = plain.extract_if(.., |file| stem(file) == "utils").collect::<Vec<_>>();
    let mut counted = build(is_x86);
    for function in ["malloc", "calloc", "free"] {
        counted.define(function, Some(format!("forebay_webp_{function}").as_str()));
    }
    counted.files(takes_memory).compile("forebay_webp_counted");
    build(is_x86).files(plain).compile("forebay_webp");
    build(is_x86)
        .files(["shim/webp.c", "shim/memory.c"])
        .std("c11")
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .compile("forebay_webp_shim");
    println!("cargo::rustc-link-lib=pthread");
}

/// A build with what all files share.
fn build(is_x86: bool) -> cc::Build {
    let mut build = cc::Build::new();
    build.include("libwebp").warnings(false).flag_if_supported("-fvisibility=hidden");
    // Its tables of functions are filled once for all threads.
    build.define("WEBP_USE_THREAD", None).define("NDEBUG", None);
    if is_x86 {
        build.define("WEBP_HAVE_SSE41", None).define("WEBP_HAVE_AVX2", None);
    }
    build
}

/// The sources for this processor.
fn libwebp(is_x86: bool) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in ["dec", "demux", "dsp", "utils"] {
        let entries = fs::read_dir(Path::new("libwebp/src").join(folder)).expect("libwebp's sources are there");
        files.extend(entries.map(|entry| entry.expect("the folder can be read").path()));
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    // Those of another kind of processor are empty then.
    let other = if is_x86 { "_neon" } else { "_sse2" };
    files.retain(|file| !stem(file).ends_with(other));
    files.sort();
    files
}

fn stem(file: &Path) -> &str {
    file.file_stem().and_then(|stem| stem.to_str()).expect("names of sources are UTF-8")
}
