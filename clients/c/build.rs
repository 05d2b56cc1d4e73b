//! Gives the shared library its name for the dynamic linker.
//!
//! Before 1.0, each minor version may change the functions, so each has a name of its own, and two of them can be installed at once.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = |part: &str| var(format!("CARGO_PKG_VERSION_{part}")).expect("cargo sets it for build scripts");
    let (major, minor) = (version("MAJOR"), version("MINOR"));
    let name = if major == "0" { format!("{major}.{minor}") } else { major };
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libforebay.so.{name}");
}
