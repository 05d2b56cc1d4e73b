//! Buckets of Google Cloud Storage, against the answers of its XML interface. No server of it exists in Rust.

use std::fmt::Write as _;

use bytes::Bytes;
use forebay_objects::{Settings, Store};
use forebay_sources::ReadErrorKind;
use hyper::header::{CONTENT_RANGE, ETAG, IF_MATCH, LAST_MODIFIED, RANGE};
use hyper::{Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use reqwest::Url;

use crate::faults::Fault;
use crate::object_map::{ObjectMap, etag, range};
use crate::s3::{noise, quick, read};
use crate::server::Server;

fn start(object_map: &ObjectMap) -> Server {
    let object_map = object_map.clone();
    Server::answering(move |request| answer(&object_map, request))
}

fn answer(object_map: &ObjectMap, request: &Request<()>) -> Response<Bytes> {
    let url = Url::parse(&format!("http://host{}", request.uri())).unwrap();
    let query = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    if query("list-type").is_some() {
        let limit = query("max-keys").map_or(usize::MAX, |limit| limit.parse().unwrap());
        let (prefix, delimiter) = (query("prefix").unwrap_or_default(), query("delimiter"));
        let page = object_map.page(&prefix, delimiter.as_deref(), query("continuation-token").as_deref(), limit);
        let mut xml = String::from("<ListBucketResult>");
        for entry in page.entries {
            let (key, size, etag) = (entry.key, entry.size, entry.etag);
            write!(
                xml,
                "<Contents><Key>{key}</Key><Generation>1</Generation><Size>{size}</Size><ETag>\"{etag}\"</ETag>\
                 <LastModified>2026-11-22T10:00:00.000Z</LastModified></Contents>"
            )
            .unwrap();
        }
        for prefix in page.prefixes {
            write!(xml, "<CommonPrefixes><Prefix>{prefix}</Prefix></CommonPrefixes>").unwrap();
        }
        if let Some(next) = page.next {
            write!(xml, "<NextContinuationToken>{next}</NextContinuationToken>").unwrap();
        }
        xml.push_str("</ListBucketResult>");
        return Response::new(xml.into());
    }
    file(object_map, request, "/pictures/")
}

/// An object of the bucket whose path this is, with the headers that Google and Azure share.
pub(crate) fn file(object_map: &ObjectMap, request: &Request<()>, bucket: &str) -> Response<Bytes> {
    let status = |status| Response::builder().status(status);
    let header = |name| request.headers().get(name).map(|value| value.to_str().unwrap());
    let path = percent_decode_str(request.uri().path()).decode_utf8().unwrap();
    let Some(bytes) = path.strip_prefix(bucket).and_then(|key| object_map.get(key)) else {
        return status(StatusCode::NOT_FOUND).body("<Error><Code>NoSuchKey</Code></Error>".into()).unwrap();
    };
    let (version, size) = (etag(&bytes), bytes.len() as u64);
    if header(IF_MATCH).is_some_and(|wanted| wanted.trim_matches('"') != version) {
        return status(StatusCode::PRECONDITION_FAILED).body(Bytes::new()).unwrap();
    }
    let asked = header(RANGE).or_else(|| request.headers().get("x-ms-range").map(|value| value.to_str().unwrap()));
    let part = asked.map(|asked| range(asked, size).unwrap());
    let answer = match &part {
        None => status(StatusCode::OK),
        Some(part) => status(StatusCode::PARTIAL_CONTENT)
            .header(CONTENT_RANGE, format!("bytes {}-{}/{size}", part.start, part.end - 1)),
    };
    let part = part.unwrap_or(0..size);
    answer
        .header(ETAG, format!("\"{version}\""))
        .header(LAST_MODIFIED, "Sun, 22 Nov 2026 10:00:00 GMT")
        .body(Bytes::from(bytes).slice(part.start as usize..part.end as usize))
        .unwrap()
}

#[test]
fn a_bucket_of_google_is_listed_and_read() {
    let object_map = ObjectMap::default();
    let bytes = noise(50_000);
    for number in 0..1500 {
        object_map.put(&format!("train/{number:04}.jpg"), [1]);
    }
    object_map.put("train/", "");
    object_map.put("a.tar", bytes.clone());
    let server = start(&object_map);
    let variables = [("STORAGE_EMULATOR_HOST", server.address.to_string())];
    let settings = Settings::from_variables(variables.map(|(name, value)| (name.into(), value.into())));
    let settings = Settings { anonymous: true, retries: quick(), ..settings };
    let store = Store::open("gs://pictures/", &settings).unwrap();
    assert_eq!(store.list("", &mut |_| {}).unwrap().len(), 1501);
    let listed = store.list("a", &mut |_| {}).unwrap();
    let object = store.head("a.tar").unwrap();
    assert_eq!(listed, std::slice::from_ref(&object));
    server.faults.next([Fault::Reset, Fault::Answer(503, "SlowDown"), Fault::Short]);
    assert_eq!(read(&store, &object, 10..40_000), bytes[10..40_000]);
    object_map.put("a.tar", noise(50_001)[1..].to_vec());
    let error = store.read(&object, 0..10, 10, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Changed);
    object_map.remove("a.tar");
    assert_eq!(store.head("a.tar").unwrap_err().kind, ReadErrorKind::Missing);
}
