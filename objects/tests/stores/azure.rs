//! Containers of Azure, against the answers of its interface. No server of it exists in Rust.

use std::fmt::Write as _;

use bytes::Bytes;
use forebay_objects::{Settings, Store};
use forebay_sources::ReadErrorKind;
use hyper::header::AUTHORIZATION;
use hyper::{Request, Response, StatusCode};
use reqwest::Url;

use crate::faults::Fault;
use crate::google::file;
use crate::object_map::ObjectMap;
use crate::s3::{noise, quick, read};
use crate::server::Server;

fn start(object_map: &ObjectMap) -> Server {
    let object_map = object_map.clone();
    Server::answering(move |request| answer(&object_map, request))
}

fn answer(object_map: &ObjectMap, request: &Request<()>) -> Response<Bytes> {
    let signed =
        request.headers().get(AUTHORIZATION).is_some_and(|value| value.to_str().unwrap().contains("SharedKey"));
    if !signed {
        let refused = Response::builder().status(StatusCode::FORBIDDEN);
        return refused.header("x-ms-error-code", "AuthenticationFailed").body(Bytes::new()).unwrap();
    }
    let url = Url::parse(&format!("http://host{}", request.uri())).unwrap();
    let query = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    if query("comp").as_deref() != Some("list") {
        return file(object_map, request, "/pictures/");
    }
    let limit = query("maxresults").map_or(usize::MAX, |limit| limit.parse().unwrap());
    let prefix = query("prefix").unwrap_or_default();
    let page = object_map.page(&prefix, query("delimiter").as_deref(), query("marker").as_deref(), limit);
    let mut xml = String::from("<?xml version=\"1.0\"?><EnumerationResults><Blobs>");
    for entry in page.entries {
        let (key, size, etag) = (entry.key, entry.size, entry.etag);
        write!(
            xml,
            "<Blob><Name>{key}</Name><Properties><Last-Modified>Sun, 22 Nov 2026 10:00:00 GMT</Last-Modified>\
             <Etag>{etag}</Etag><Content-Length>{size}</Content-Length><Content-Type>image/jpeg</Content-Type>\
             </Properties></Blob>"
        )
        .unwrap();
    }
    for prefix in page.prefixes {
        write!(xml, "<BlobPrefix><Name>{prefix}</Name></BlobPrefix>").unwrap();
    }
    write!(xml, "</Blobs><NextMarker>{}</NextMarker></EnumerationResults>", page.next.unwrap_or_default()).unwrap();
    Response::new(xml.into())
}

#[test]
fn a_container_of_azure_is_listed_and_read() {
    let object_map = ObjectMap::default();
    let bytes = noise(50_000);
    for number in 0..1500 {
        object_map.put(&format!("train/{number:04}.jpg"), [1]);
    }
    object_map.put("a.tar", bytes.clone());
    let server = start(&object_map);
    // The key that Azure publishes for its emulator.
    let key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    let variables = [("AZURE_STORAGE_ACCOUNT", "acc"), ("AZURE_STORAGE_KEY", key)];
    let settings = Settings::from_variables(variables.map(|(name, value)| (name.into(), value.into())));
    let settings = Settings { endpoint: Some(server.url()), retries: quick(), ..settings };
    for url in ["az://pictures/", "abfss://pictures@acc.dfs.core.windows.net/"] {
        let store = Store::open(url, &settings).unwrap();
        assert_eq!(store.list("", &mut |_| {}).unwrap().len(), 1501, "{url}");
        let object = store.head("a.tar").unwrap();
        let listed = store.list("a", &mut |_| {}).unwrap();
        assert_eq!(listed, std::slice::from_ref(&object), "lists write versions without quotes");
        server.faults.next([Fault::Reset, Fault::Answer(503, "ServerBusy"), Fault::Short]);
        assert_eq!(read(&store, &object, 10..40_000), bytes[10..40_000]);
    }
    let store = Store::open("az://pictures/", &settings).unwrap();
    let object = store.head("a.tar").unwrap();
    object_map.put("a.tar", noise(50_001)[1..].to_vec());
    let error = store.read(&object, 0..10, 10, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Changed);
    let without_key = Settings { anonymous: true, ..settings };
    let refused = Store::open("az://pictures/", &without_key).unwrap().list("", &mut |_| {}).unwrap_err().to_string();
    assert!(refused.contains("AuthenticationFailed"), "{refused}");
}
