//! The checked-in Rust is what the .proto files give. After a change of a .proto file:
//! `FOREBAY_REGENERATE=1 cargo test -p forebay-proto --test generated`.

use std::path::Path;

/// Clients and servers are behind the feature of services.
fn configure() -> tonic_prost_build::Builder {
    let services = "#[cfg(feature = \"services\")]";
    tonic_prost_build::configure().client_mod_attribute(".", services).server_mod_attribute(".", services)
}

#[test]
fn generated_code_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if std::process::Command::new("protoc").arg("--version").output().is_err() {
        println!("skipped: no protoc on this machine (make deps installs it)");
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder");
    let files: Vec<_> = ["ledger", "session", "control", "stored", "children", "decoder"]
        .iter()
        .map(|name| root.join(format!("forebay/v1/{name}.proto")))
        .collect();
    configure().out_dir(out.path()).compile_protos(&files, &[root.to_path_buf()]).expect("the .proto files compile");
    // etcd serves its own part.
    configure()
        .build_server(false)
        .out_dir(out.path())
        .compile_protos(&[root.join("etcd.proto")], &[root.to_path_buf()])
        .expect("etcd.proto compiles");
    // The client is ElasticDL's.
    configure()
        .build_client(false)
        .out_dir(out.path())
        .compile_protos(&[root.join("elasticdl.proto")], &[root.to_path_buf()])
        .expect("elasticdl.proto compiles");
    let described = std::process::Command::new("protoc")
        .args(["--include_imports", "--descriptor_set_out"])
        .arg(out.path().join("ledger.binpb"))
        .arg("-I")
        .arg(root)
        .arg(&files[0])
        .status();
    assert!(described.is_ok_and(|status| status.success()), "protoc describes ledger.proto");
    for name in ["forebay.v1.rs", "etcdserverpb.rs", "proto.rs", "ledger.binpb"] {
        let fresh = std::fs::read(out.path().join(name)).expect("generated code");
        let kept = root.join("src/gen").join(name);
        if std::env::var_os("FOREBAY_REGENERATE").is_some() {
            std::fs::write(&kept, &fresh).expect("writable checkout");
        }
        let current = std::fs::read(&kept).unwrap_or_default();
        assert!(
            current == fresh,
            "{} is stale: run FOREBAY_REGENERATE=1 cargo test -p forebay-proto --test generated",
            kept.display()
        );
    }
}
