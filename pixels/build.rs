//! Compiles the C shim against the headers of the libjpeg-turbo that `turbojpeg-sys` has built and links.

fn main() {
    println!("cargo::rerun-if-changed=shim");
    let include = std::env::var_os("DEP_TURBOJPEG_INCLUDE").expect("turbojpeg-sys names its include folder");
    cc::Build::new()
        .files(["shim/jpeg.c", "shim/write.c"])
        .includes(include.to_str().expect("the build folder's path is UTF-8").split(','))
        .std("c11")
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .compile("forebay_jpeg_shim");
}
