//! The reflection of gRPC: tells tools such as `grpcurl` which calls and messages a coordinator has.

use forebay_proto::LEDGER_DESCRIPTORS;
use tonic_reflection::server::Builder;
use tonic_reflection::server::v1::{ServerReflection, ServerReflectionServer};

/// Describes the ledgers' service and the health checks. What else the daemon's protocol has is not served here.
pub(super) fn service() -> ServerReflectionServer<impl ServerReflection> {
    Builder::configure()
        .register_encoded_file_descriptor_set(LEDGER_DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()
        .expect("protoc has written the descriptors")
}
