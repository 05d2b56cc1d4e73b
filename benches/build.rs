//! Compiles the kernels of `gpu/gate` for the CPU.

fn main() {
    for source in ["gpu/gate/segments.cu", "gpu/gate/twin.c"] {
        println!("cargo::rerun-if-changed={source}");
    }
    println!("cargo::rerun-if-changed=../cuda/kernels");
    cc::Build::new()
        .file("gpu/gate/twin.c")
        .include("../cuda/kernels")
        .std("c11")
        .flag("-ffp-contract=off")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .compile("forebay_gate_twin");
}
