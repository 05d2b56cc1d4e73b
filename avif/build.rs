//! Compiles dav1d and the C shim. dav1d asks the processor at run time which of its assembler it may call, so that the same binary
//! starts on every x86-64. What only videos need has no assembler here: predictions from other frames, and film grain.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Files whose functions are C alone.
const WITHOUT_ASSEMBLER: [&str; 3] = ["mc_tmpl", "filmgrain_tmpl", "refmvs"];
/// What takes memory or gives it back: the shim's functions, which count it.
const MEMORY: [&str; 4] = ["malloc", "realloc", "posix_memalign", "free"];

fn main() {
    for path in ["dav1d", "config", "shim"] {
        println!("cargo::rerun-if-changed={path}");
    }
    let mut shim = cc::Build::new();
    // The version of dav1d is beside its configuration.
    shim.includes(["dav1d/include", "config/dav1d"]).define("_POSIX_C_SOURCE", "200809L").std("c11");
    shim.warnings(true).extra_warnings(true).warnings_into_errors(true);
    shim.files(["shim/avif.c", "shim/memory.c"]).compile("forebay_avif_shim");
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let (mut common, of_depths): (Vec<_>, Vec<_>) =
        files("dav1d/src", "c").into_iter().partition(|file| !stem(file).ends_with("_tmpl"));
    let mut depths: Vec<(PathBuf, Option<&str>)> = Vec::new();
    for depth in ["8", "16"] {
        depths.extend(of_depths.iter().map(|file| (file.clone(), Some(depth))));
    }
    let folder = match arch.as_str() {
        "x86_64" => "x86",
        "aarch64" => "arm",
        _ => "",
    };
    if !folder.is_empty() {
        common.push(PathBuf::from(format!("dav1d/src/{folder}/cpu.c")));
    }
    let sources: Vec<_> = common.into_iter().map(|file| (file, None)).chain(depths).collect();
    for (depth, name) in [(None, "common"), (Some("8"), "8"), (Some("16"), "16")] {
        for in_c in [false, true] {
            let chosen: Vec<_> = sources
                .iter()
                .filter(|(file, of)| *of == depth && in_c == WITHOUT_ASSEMBLER.contains(&stem(file)))
                .map(|(file, _)| file)
                .collect();
            if chosen.is_empty() {
                continue;
            }
            let mut build = dav1d();
            if let Some(depth) = depth {
                build.define("BITDEPTH", depth);
            }
            if in_c {
                build.define("HAVE_ASM", "0");
            }
            build.files(chosen).compile(&format!("forebay_avif_{name}{}", if in_c { "_plain" } else { "" }));
        }
    }
    match arch.as_str() {
        "x86_64" => {
            let objects = assemble(&files("dav1d/src/x86", "asm"));
            cc::Build::new().objects(objects).compile("forebay_avif_assembler");
        }
        "aarch64" => {
            // The others are parts of these.
            let parts = ["util", "cdef_tmpl", "looprestoration_tmpl"];
            let whole = files("dav1d/src/arm/64", "S").into_iter().filter(|file| !parts.contains(&stem(file)));
            dav1d().files(whole).compile("forebay_avif_assembler");
        }
        _ => {}
    }
    println!("cargo::rustc-link-lib=pthread");
}

/// A build with what all files of dav1d share.
fn dav1d() -> cc::Build {
    let mut build = cc::Build::new();
    for folder in ["dav1d", "config", "config/dav1d", "dav1d/include", "dav1d/include/dav1d", "dav1d/src"] {
        build.include(folder);
    }
    build.std("c99").warnings(false).flag_if_supported("-fvisibility=hidden").flag_if_supported("-fomit-frame-pointer");
    build.define("_GNU_SOURCE", None).define("NDEBUG", None);
    for function in MEMORY {
        build.define(function, Some(format!("forebay_avif_{function}").as_str()));
    }
    build
}

/// Runs nasm, as many at a time as cargo allows.
fn assemble(sources: &[PathBuf]) -> Vec<PathBuf> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let object = |source: &PathBuf| out.join(format!("{}.asm.o", stem(source)));
    let jobs = std::env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1_usize);
    let taken = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, 16) {
            scope.spawn(|| {
                while let Some(source) = sources.get(taken.fetch_add(1, Ordering::Relaxed)) {
                    let mut nasm = Command::new("nasm");
                    nasm.args(["-f", "elf64", "-Idav1d/src/", "-Iconfig/"]).arg(source).arg("-o").arg(object(source));
                    let status = nasm.status().expect("nasm can be run: `make deps` installs it");
                    assert!(status.success(), "nasm takes {}", source.display());
                }
            });
        }
    });
    sources.iter().map(object).collect()
}

/// The files of a folder with this ending, in order.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("dav1d's sources are there");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == ending));
    files.sort();
    files
}

fn stem(file: &Path) -> &str {
    file.file_stem().and_then(|stem| stem.to_str()).expect("names of sources are UTF-8")
}
