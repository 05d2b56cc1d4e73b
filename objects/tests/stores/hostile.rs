//! Stores whose lists have no end.

use std::sync::Arc;

use bytes::Bytes;
use forebay_objects::{Settings, Store};
use forebay_sources::SourceError;
use hyper::Response;

use crate::s3::quick;
use crate::server::{Handler, Server};

/// A store that answers each request with the list that is made of the request's target.
fn store(list: fn(&str) -> String) -> (Server, Arc<Store>) {
    let handler: Handler = Arc::new(move |request| {
        let body =
            format!("<?xml version=\"1.0\"?><ListBucketResult>{}</ListBucketResult>", list(&request.uri().to_string()));
        Box::pin(async move { Response::new(Bytes::from(body)) })
    });
    let server = Server::start(handler);
    let settings = Settings { endpoint: Some(server.url()), anonymous: true, retries: quick(), ..Settings::default() };
    let store = Store::open("s3://pictures/", &settings).unwrap();
    (server, store)
}

fn object(key: &str) -> String {
    format!("<Contents><Key>{key}</Key><LastModified>2025-01-01T00:00:00.000Z</LastModified><Size>1</Size></Contents>")
}

#[test]
fn rule_54_a_list_that_comes_back_to_a_page_ends_with_an_outage() {
    let (_server, store) = store(|asked| {
        let next = if asked.contains("continuation-token=A") { "B" } else { "A" };
        let token = format!("<NextContinuationToken>{next}</NextContinuationToken>");
        format!("<IsTruncated>true</IsTruncated>{}{token}", object("a.jpg"))
    });
    let error = store.list("", &mut |_| {}).unwrap_err();
    assert!(matches!(error, SourceError::Outage(_)) && error.to_string().contains("does not go on"), "{error}");
}

#[test]
fn rule_54_a_folder_that_is_not_below_the_listed_one_is_not_listed() {
    let (server, store) = store(|_| {
        let below = |prefix: &str| format!("<CommonPrefixes><Prefix>{prefix}</Prefix></CommonPrefixes>");
        format!("<IsTruncated>false</IsTruncated>{}{}{}", object("a/1.jpg"), below("a/"), below("b/"))
    });
    let listed = store.list("a/", &mut |_| {}).unwrap();
    assert_eq!(listed.iter().map(|object| &*object.key).collect::<Vec<_>>(), ["a/1.jpg"]);
    assert_eq!(server.asked().len(), 1);
}
