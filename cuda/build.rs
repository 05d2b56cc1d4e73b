//! Compiles the twin of the kernels, which the tests on a GPU hold the kernels against.

fn main() {
    for source in ["twin.c", "compose.cu", "picture.h", "changes.h", "moves.h"] {
        println!("cargo::rerun-if-changed=kernels/{source}");
    }
    cc::Build::new()
        .file("kernels/twin.c")
        .define("TWIN", "forebay_cuda_twin")
        .std("c11")
        // The arithmetic of floats is IEEE's, operation by operation, as the kernels are compiled.
        .flag("-ffp-contract=off")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .compile("forebay_cuda_twin");
}
