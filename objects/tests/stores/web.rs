//! Plain HTTP servers, good ones and others.

use std::sync::Arc;

use bytes::Bytes;
use forebay_objects::{Secret, Settings, Store, WebSettings};
use forebay_sources::{ReadErrorKind, Retry};
use hyper::header::{
    AUTHORIZATION, CONTENT_RANGE, ETAG, HeaderName, IF_MATCH, IF_UNMODIFIED_SINCE, LAST_MODIFIED, LOCATION, RANGE,
};
use hyper::{Method, Request, Response, StatusCode};

use crate::faults::{Event, Fault};
use crate::object_map::{ObjectMap, etag, range};
use crate::s3::{impatient, noise, quick, read};
use crate::server::{Handler, Server};

/// What a server of files can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manners {
    /// `ETag`s and ranges.
    Good,
    /// `ETag`s that are weak.
    Weak,
    /// Only the time of the last change.
    Times,
    /// Neither `ETag`s nor times.
    Nothing,
    /// HEAD is refused, as with signed URLs.
    NoHead,
}

const MONDAY: &str = "Mon, 23 Nov 2026 10:00:00 GMT";

fn start(object_map: &ObjectMap, manners: Manners) -> Server {
    Server::start(handler(object_map, manners))
}

pub(crate) fn handler(object_map: &ObjectMap, manners: Manners) -> Handler {
    let object_map = object_map.clone();
    Arc::new(move |request| {
        let answer = answer(&object_map, manners, &request.map(|_| ()));
        Box::pin(async move { answer })
    })
}

fn answer(object_map: &ObjectMap, manners: Manners, request: &Request<()>) -> Response<Bytes> {
    let path = request.uri().path();
    let header = |name: &HeaderName| request.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    let status = |status: StatusCode| Response::builder().status(status);
    if let Some(target) = path.strip_prefix("/to/") {
        let target = percent_encoding_of_slashes(target);
        return status(StatusCode::FOUND).header(LOCATION, target).body(Bytes::new()).unwrap();
    }
    if manners == Manners::NoHead && request.method() == Method::HEAD {
        return status(StatusCode::FORBIDDEN).body(Bytes::new()).unwrap();
    }
    if path.starts_with("/private") && header(&AUTHORIZATION).as_deref() != Some("Bearer hf_hunter2") {
        return status(StatusCode::UNAUTHORIZED).body(Bytes::new()).unwrap();
    }
    let Some(bytes) = object_map.get(path.trim_start_matches('/')) else {
        return status(StatusCode::NOT_FOUND).body(Bytes::new()).unwrap();
    };
    let version = etag(&bytes);
    let modified = if bytes.first() == Some(&0) { "Tue, 24 Nov 2026 10:00:00 GMT" } else { MONDAY };
    let other = header(&IF_MATCH).is_some_and(|wanted| manners == Manners::Weak || wanted.trim_matches('"') != version);
    if other || header(&IF_UNMODIFIED_SINCE).is_some_and(|since| since != modified) {
        return status(StatusCode::PRECONDITION_FAILED).body(Bytes::new()).unwrap();
    }
    let size = bytes.len() as u64;
    let asked = header(&RANGE);
    let part = asked.as_deref().map(|asked| range(asked, size));
    let mut answer = match &part {
        None => status(StatusCode::OK),
        Some(None) => {
            let range = format!("bytes */{size}");
            return status(StatusCode::RANGE_NOT_SATISFIABLE).header(CONTENT_RANGE, range).body(Bytes::new()).unwrap();
        }
        Some(Some(part)) => status(StatusCode::PARTIAL_CONTENT)
            .header(CONTENT_RANGE, format!("bytes {}-{}/{size}", part.start, part.end - 1)),
    };
    answer = match manners {
        Manners::Good | Manners::NoHead => answer.header(ETAG, format!("\"{version}\"")),
        Manners::Weak => answer.header(ETAG, format!("W/\"{version}\"")),
        Manners::Times => answer.header(LAST_MODIFIED, modified),
        Manners::Nothing => answer,
    };
    let part = part.flatten().unwrap_or(0..size);
    answer.body(Bytes::from(bytes).slice(part.start as usize..part.end as usize)).unwrap()
}

/// `/to/http:%2F%2Fhost%2Fa` leads to `http://host/a`.
fn percent_encoding_of_slashes(text: &str) -> String {
    text.replace("%2F", "/")
}

fn open(server: &Server) -> Arc<Store> {
    Store::open(&server.url(), &Settings { retries: quick(), ..Settings::default() }).unwrap()
}

#[test]
fn files_of_servers_of_all_manners_are_read() {
    let object_map = ObjectMap::default();
    let bytes = noise(100_000);
    object_map.put("train/0.tar", bytes.clone());
    object_map.put("empty", "");
    for manners in [Manners::Good, Manners::Weak, Manners::Times, Manners::Nothing, Manners::NoHead] {
        let server = start(&object_map, manners);
        let store = open(&server);
        let object = store.head("train/0.tar").unwrap();
        assert_eq!((object.size, object.version.is_some()), (100_000, manners != Manners::Nothing), "{manners:?}");
        for (start, end) in [(0, 100_000), (7, 8), (99_000, 100_000)] {
            assert_eq!(read(&store, &object, start..end), bytes[start as usize..end as usize], "{manners:?}");
        }
        assert_eq!(store.head("empty").unwrap().size, 0, "{manners:?}");
        let missing = store.head("train/1.tar").unwrap_err();
        assert_eq!(missing.kind, if manners == Manners::NoHead { ReadErrorKind::Missing } else { missing.kind });
        assert_eq!(missing.retry(), Retry::Never, "{manners:?}");
    }
}

#[test]
fn rule_54_a_file_that_changed_is_a_changed_record() {
    for manners in [Manners::Good, Manners::Weak, Manners::Times, Manners::NoHead] {
        let object_map = ObjectMap::default();
        object_map.put("a", vec![1; 1000]);
        let server = start(&object_map, manners);
        let store = open(&server);
        let object = store.head("a").unwrap();
        object_map.put("a", vec![0; 1000]);
        let error = store.read(&object, 10..20, 1000, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind, ReadErrorKind::Changed, "{manners:?}");
        assert_eq!(error.retry(), Retry::Never);
    }
}

#[test]
fn rule_54_a_file_that_changes_between_two_attempts_gives_no_mixture() {
    for manners in [Manners::Good, Manners::Weak, Manners::Times, Manners::Nothing] {
        let object_map = ObjectMap::default();
        object_map.put("a", vec![1; 1000]);
        let server = start(&object_map, manners);
        let store = open(&server);
        let object = store.head("a").unwrap();
        let changed = object_map.clone();
        let change = Event(Arc::new(move || changed.put("a", vec![0; 1000])));
        server.faults.next([Fault::ShortAndThen(change)]);
        let mut buf = Vec::new();
        let read = store.read(&object, 0..1000, 1000, &mut buf);
        if manners == Manners::Nothing {
            assert_eq!((read, buf), (Ok(()), vec![0; 1000]), "all of it is read again");
        } else {
            assert_eq!((read.unwrap_err().kind, buf.len()), (ReadErrorKind::Changed, 0), "{manners:?}");
        }
    }
}

#[test]
fn rule_54_without_versions_another_size_is_a_change() {
    let object_map = ObjectMap::default();
    object_map.put("a", vec![1; 1000]);
    let server = start(&object_map, Manners::Nothing);
    let store = open(&server);
    let object = store.head("a").unwrap();
    object_map.put("a", vec![1; 1001]);
    let error = store.read(&object, 10..20, 1000, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Changed);
}

#[test]
fn a_file_of_a_server_without_ranges_is_read_once_to_its_end() {
    let object_map = ObjectMap::default();
    let bytes = noise(9 << 20);
    object_map.put("a", bytes.clone());
    object_map.put("b", noise(1000));
    for manners in [Manners::Good, Manners::Weak, Manners::Times, Manners::Nothing] {
        let server = start(&object_map, manners);
        let store = open(&server);
        let object = store.head("a").unwrap();
        server.faults.always(Some(Fault::Whole));
        server.asked();
        let far = (9 << 20) - 10;
        for range in [1000..3000, far..far + 10, 0..1, 0..9 << 20] {
            let usual = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
            assert_eq!(read(&store, &object, range), bytes[usual], "{manners:?}");
        }
        assert_eq!(server.asked().len(), 2, "one for the parts, and one for the whole");
        // A file that has changed is another one.
        let other = store.head("b").unwrap();
        assert_eq!(read(&store, &other, 10..20), noise(1000)[10..20]);
    }
}

#[test]
fn a_file_that_is_too_large_to_be_kept_is_refused_by_name_and_not_begun_again() {
    let object_map = ObjectMap::default();
    for key in ["a", "b"] {
        object_map.put(key, noise(5000));
    }
    let server = start(&object_map, Manners::Good);
    let store = Store::open(
        &server.url(),
        &Settings {
            web: WebSettings { whole_files: 9999, ..WebSettings::default() },
            retries: quick(),
            ..Settings::default()
        },
    )
    .unwrap();
    let (first, second) = (store.head("a").unwrap(), store.head("b").unwrap());
    server.faults.always(Some(Fault::Whole));
    assert_eq!(read(&store, &first, 10..20), noise(5000)[10..20]);
    server.asked();
    for _ in 0..3 {
        let error = store.read(&second, 10..20, 10, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind, ReadErrorKind::Unreadable);
        assert!(error.cause.contains("whole files") && error.cause.contains("9999 bytes"), "{error}");
    }
    assert_eq!(server.asked().len(), 1);
    assert_eq!(read(&store, &second, 0..5000), noise(5000), "a read of the whole file needs no range");
}

#[test]
fn rule_54_bodies_that_end_early_or_late_give_no_wrong_bytes() {
    let object_map = ObjectMap::default();
    let bytes = noise(100_000);
    object_map.put("a", bytes.clone());
    for manners in [Manners::Good, Manners::Weak, Manners::Times, Manners::Nothing] {
        let server = start(&object_map, manners);
        let settings = Settings { retries: impatient(), ..Settings::default() };
        let store = Store::open(&server.url(), &settings).unwrap();
        let object = store.head("a").unwrap();
        for fault in [Fault::Short, Fault::ShortChunks, Fault::Reset, Fault::Stuck, Fault::WrongRange, Fault::Whole] {
            server.faults.next([fault.clone(), fault.clone(), Fault::BadRange("bytes */*")]);
            assert_eq!(read(&store, &object, 500..90_000), bytes[500..90_000], "{manners:?}, {fault:?}");
        }
    }
}

#[test]
fn rule_54_what_arrived_is_kept_only_under_a_strong_version() {
    let object_map = ObjectMap::default();
    let bytes = noise(10_000);
    object_map.put("a", bytes.clone());
    for (manners, again) in [
        (Manners::Good, "bytes=1500-1999"),
        (Manners::Weak, "bytes=1000-1999"),
        (Manners::Times, "bytes=1000-1999"),
        (Manners::Nothing, "bytes=1000-1999"),
    ] {
        let server = start(&object_map, manners);
        let store = open(&server);
        let object = store.head("a").unwrap();
        server.asked();
        server.faults.next([Fault::Short]);
        assert_eq!(read(&store, &object, 1000..2000), bytes[1000..2000], "{manners:?}");
        let asked = server.asked();
        assert!(asked[1].ends_with(again), "{manners:?}: {asked:?}");
    }
}

#[test]
fn a_server_cannot_list_and_the_error_says_what_to_do() {
    let server = start(&ObjectMap::default(), Manners::Good);
    let error = open(&server).list("train/", &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("cannot list") && error.contains("{000..127}"), "{error}");
    assert_eq!(server.asked(), Vec::<String>::new(), "nothing is asked");
}

#[test]
fn redirects_stay_with_the_hosts_that_the_user_named() {
    let object_map = ObjectMap::default();
    object_map.put("a", "here");
    let (here, there) = (start(&object_map, Manners::Good), start(&object_map, Manners::Good));
    let store = open(&here);
    assert_eq!(store.head("to/%2Fa").unwrap().size, 4, "to the same server");
    let away = format!("to/{}%2Fa", there.url().replace('/', "%2F"));
    let error = store.head(&away).unwrap_err();
    assert_eq!(error.retry(), Retry::Later, "{error}");
    assert_eq!(there.asked(), Vec::<String>::new(), "another port of the host is another server");
    let redirect_hosts = vec!["127.0.0.1".to_owned()];
    let named = Settings {
        web: WebSettings { redirect_hosts, ..WebSettings::default() },
        retries: quick(),
        ..Settings::default()
    };
    assert_eq!(Store::open(&here.url(), &named).unwrap().head(&away).unwrap().size, 4);
    let circle = store.head("to/%2Fto%2F%2Fa");
    assert!(circle.is_ok() || circle.unwrap_err().retry() == Retry::Later);
}

#[test]
fn rule_54_a_token_goes_to_its_host_and_into_no_error() {
    let object_map = ObjectMap::default();
    object_map.put("private/a", "secret bytes");
    let server = start(&object_map, Manners::Good);
    let error = open(&server).head("private/a?sig=hunter3").unwrap_err();
    assert_eq!((error.kind, error.retry()), (ReadErrorKind::Storage, Retry::Later), "{error}");
    let mut settings = Settings { retries: quick(), ..Settings::default() };
    settings.web.bearers.insert("127.0.0.1".into(), Secret::new("hf_hunter2"));
    let store = Store::open(&server.url(), &settings).unwrap();
    let object = store.head("private/a?sig=hunter3").unwrap();
    assert_eq!(read(&store, &object, 0..12), b"secret bytes");
    object_map.remove("private/a");
    let error = store.read(&object, 0..12, 12, &mut Vec::new()).unwrap_err();
    let texts = format!("{store:?} {error} {error:?} {} {settings:?}", error.locator);
    assert!(!texts.contains("hunter"), "{texts}");
    let plain = Store::open("http://hub.example/", &{
        let mut settings = Settings::default();
        settings.web.bearers.insert("hub.example".into(), Secret::new("hf_hunter2"));
        settings
    });
    let error = plain.unwrap_err().to_string();
    assert!(error.contains("https") && !error.contains("hunter"), "{error}");
}
