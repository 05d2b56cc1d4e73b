//! Stores whose lists have no end, and keys that nobody can read.

use std::sync::Arc;

use forebay_objects::{Settings, Store};
use forebay_sources::{ReadErrorKind, SourceError};
use hyper::Response;

use crate::s3::{Bucket, quick, read};
use crate::server::Server;

/// A store that answers each request with the list that is made of the request's target.
fn store(list: fn(&str) -> String) -> (Server, Arc<Store>) {
    let server = Server::answering(move |request| {
        let listed = list(&request.uri().to_string());
        Response::new(format!("<?xml version=\"1.0\"?><ListBucketResult>{listed}</ListBucketResult>").into())
    });
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
    assert!(matches!(error, SourceError::Outage(_)) && error.to_string().contains("does not end"), "{error}");
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

#[test]
fn keys_that_cannot_be_read_are_refused_by_name() {
    for (key, folder, told) in
        [("a//b.jpg", "a/", "a//"), ("/a.jpg", "", "\"/\""), ("a/../b.jpg", "a/", "a/../"), ("x/./b.jpg", "x/", "x/./")]
    {
        let bucket = Bucket::start();
        bucket.object_map.put(key, "content");
        bucket.object_map.put("good/a.jpg", "good");
        let store = bucket.store();
        let listed = store.list(folder, &mut |_| {}).unwrap_err();
        let text = listed.to_string();
        assert!(!matches!(listed, SourceError::Outage(_)), "no waiting helps: {text}");
        assert!(text.contains(told) && text.contains("rename the object"), "{key}: {text}");
        let looked = store.head(key).unwrap_err();
        assert_eq!(looked.kind, ReadErrorKind::Unreadable, "{key}");
        assert!(looked.to_string().contains(&format!("\"{key}\"")), "{looked}");
        let good = store.list("good/", &mut |_| {}).unwrap();
        assert_eq!(read(&store, &good[0], 0..4), b"good", "other folders are not hindered");
    }
}
