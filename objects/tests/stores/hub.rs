//! Datasets of the Hugging Face Hub: what is pinned, what is listed, where the token goes, and what a refusal says.

use forebay_objects::{Object, Settings, Store};
use forebay_sources::{ReadErrorKind, Retry, SourceError};

use crate::faults::Fault;
use crate::hub_server::{TOKEN, TestHub};
use crate::s3::{noise, read};

fn keys(objects: &[Object]) -> Vec<&str> {
    objects.iter().map(|object| object.key.as_str()).collect()
}

fn whole(store: &std::sync::Arc<Store>, object: &Object) -> Vec<u8> {
    read(store, object, 0..object.size)
}

#[test]
fn a_dataset_is_listed_in_pages_and_its_files_are_read() {
    let test = TestHub::start();
    let (large, odd) = (noise(100_000), "train/b/3 %20+\u{e9}.jpg");
    let files = [
        ("README.md", b"about".to_vec()),
        ("train/1.jpg", b"one".to_vec()),
        ("train/2.tar", large.clone()),
        (odd, b"three".to_vec()),
        ("training/4.jpg", b"four".to_vec()),
        ("empty", Vec::new()),
    ];
    test.commit("main", &files);
    let store = test.store("");
    let mut counted = Vec::new();
    let all = store.list("", &mut |count| counted.push(count)).unwrap();
    assert_eq!(keys(&all), ["README.md", "empty", "train/1.jpg", "train/2.tar", odd, "training/4.jpg"]);
    assert_eq!(counted.last(), Some(&6), "{counted:?}");
    assert!(counted.len() > 3, "there are several pages: {counted:?}");
    for object in &all {
        let (_, bytes) = files.iter().find(|(path, _)| *path == object.key).unwrap();
        assert_eq!(whole(&store, object), *bytes, "{object:?}");
        assert_eq!(store.head(&object.key).unwrap(), *object);
        assert!(object.version.is_some());
    }
    assert_eq!(read(&store, &all[3], 99_000..99_010), large[99_000..99_010]);
    assert_eq!(keys(&store.list("train/", &mut |_| {}).unwrap()), ["train/1.jpg", "train/2.tar", odd]);
    assert_eq!(keys(&store.list("trai", &mut |_| {}).unwrap()).len(), 4, "a prefix is no folder");
    assert_eq!(store.list("none/", &mut |_| {}).unwrap(), []);
    assert_eq!(store.head("train/0.jpg").unwrap_err().kind, ReadErrorKind::Missing);
    assert_eq!(store.head("train/../README.md").unwrap_err().kind, ReadErrorKind::Unreadable);
}

#[test]
fn rule_54_a_revision_that_moves_is_read_as_it_was_when_it_was_opened() {
    let test = TestHub::start();
    let old = [("1.jpg", vec![1; 100]), ("2.tar", vec![2; 100])];
    test.commit("main", &old);
    let store = test.store("");
    let objects = store.list("", &mut |_| {}).unwrap();
    test.commit("main", &[("1.jpg", vec![3; 100]), ("2.tar", vec![4; 100]), ("3.jpg", vec![5; 100])]);
    assert_eq!(store.list("", &mut |_| {}).unwrap(), objects, "also a second list");
    for (object, (_, bytes)) in objects.iter().zip(&old) {
        assert_eq!(whole(&store, object), *bytes);
        assert_eq!(store.head(&object.key).unwrap(), *object);
    }
    let reopened = test.store("");
    assert_eq!(reopened.list("", &mut |_| {}).unwrap().len(), 3);
    for object in &objects {
        let error = reopened.read(object, 0..100, 100, &mut Vec::new()).unwrap_err();
        assert_eq!((error.kind, error.retry()), (ReadErrorKind::Changed, Retry::Never), "{}", object.key);
    }
}

#[test]
fn revisions_are_branches_and_commits_and_are_encoded() {
    let test = TestHub::start();
    test.commit("main", &[("a", b"main".to_vec())]);
    let first = test.commit("feature/new", &[("a", b"branch".to_vec())]);
    test.commit("refs/convert/parquet", &[("a", b"parquet".to_vec())]);
    let of = |revision: &str| {
        let store = test.store(revision);
        whole(&store, &store.head("a").unwrap())
    };
    assert_eq!((of(""), of("@main")), (b"main".to_vec(), b"main".to_vec()));
    test.hub.asked();
    assert_eq!(of("@feature%2Fnew"), b"branch");
    assert_eq!(test.hub.asked()[0], "GET /api/datasets/o/n/revision/feature%2Fnew");
    assert_eq!(of("@refs/convert/parquet"), b"parquet");
    test.hub.asked();
    assert_eq!(of(&format!("@{first}")), b"branch");
    let asked = test.hub.asked();
    assert!(asked.iter().all(|line| !line.contains("/revision/")), "a commit means itself: {asked:?}");
}

#[test]
fn rule_54_the_token_goes_to_the_hub_and_to_no_other_host() {
    let test = TestHub::start();
    test.commit("main", &[("2.tar", noise(1000))]);
    test.gate();
    let store = test.store("");
    let object = store.head("2.tar").unwrap();
    assert_eq!(whole(&store, &object), noise(1000));
    assert!(!test.files.asked().is_empty(), "the bytes are there");
    assert_eq!(test.leaked(), 0);
    test.files.faults.always(Some(Fault::Answer(403, "SignatureDoesNotMatch")));
    let error = store.read(&object, 0..10, 10, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.retry()), (ReadErrorKind::Storage, Retry::Later), "{error}");
    let texts = format!("{store:?} {error} {error:?} {:?}", test.settings(Some(TOKEN)));
    assert!(!texts.contains("hunter"), "{texts}");
    assert_eq!(test.leaked(), 0);
    let settings = Settings { endpoint: Some("http://hub.example".into()), ..test.settings(Some(TOKEN)) };
    let error = Store::open("hf://datasets/o/n", &settings).unwrap_err().to_string();
    assert!(error.contains("https") && !error.contains("hunter"), "{error}");
    for endpoint in ["hub.example", "ftp://hub.example", "https://user:hunter2@hub.example"] {
        let settings = Settings { endpoint: Some(endpoint.into()), ..Settings::default() };
        let error = Store::open("hf://datasets/o/n", &settings).unwrap_err().to_string();
        assert!(error.contains("huggingface.co") && !error.contains("hunter"), "{error}");
    }
}

#[test]
fn a_gated_dataset_says_what_to_set_and_where_to_ask() {
    let test = TestHub::start();
    test.commit("main", &[("a", b"bytes".to_vec())]);
    test.gate();
    let anonymous = Settings { anonymous: true, ..test.settings(Some(TOKEN)) };
    for settings in [test.settings(None), test.settings(Some("hf_other")), anonymous] {
        let store = Store::open("hf://datasets/o/n", &settings).unwrap();
        let listed = store.list("", &mut |_| {}).unwrap_err();
        assert!(matches!(listed, SourceError::Outage(_)), "{listed}");
        let looked = store.head("a").unwrap_err();
        for text in [listed.to_string(), looked.to_string()] {
            for word in ["gated", "HF_TOKEN", &format!("{}/datasets/o/n", test.hub.url())] {
                assert!(text.contains(word), "{word}: {text}");
            }
            assert!(!text.contains("hf_other"), "{text}");
        }
    }
    assert_eq!(test.store("").list("", &mut |_| {}).unwrap().len(), 1);
}

#[test]
fn what_the_hub_has_not_is_named() {
    let test = TestHub::start();
    test.commit("main", &[("a", b"bytes".to_vec())]);
    let error = test.store("@v9").list("", &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("\"v9\"") && error.contains("/datasets/o/n"), "{error}");
    let store = Store::open("hf://datasets/o/other", &test.settings(None)).unwrap();
    let error = store.list("", &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("\"o/other\"") && error.contains("HF_TOKEN"), "{error}");
}

#[test]
fn rule_54_a_busy_hub_is_waited_for_as_long_as_there_is_time() {
    let test = TestHub::start();
    test.commit("main", &[("a", b"bytes".to_vec())]);
    test.be_busy(3, "0");
    let store = test.store("");
    let object = store.head("a").unwrap();
    test.hub.asked();
    test.be_busy(usize::MAX, "3600");
    let error = store.read(&object, 0..5, 5, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.retry()), (ReadErrorKind::Storage, Retry::Later));
    assert!(error.cause.contains("3600 s"), "{error}");
    assert_eq!(test.hub.asked().len(), 1, "nobody asks again before that");
    let listed = store.list("", &mut |_| {}).unwrap_err();
    assert!(matches!(listed, SourceError::Outage(_)), "{listed}");
    test.be_busy(0, "");
    assert_eq!(whole(&store, &object), b"bytes");
}

#[test]
fn many_ranges_of_a_file_cost_the_hub_one_request_until_its_signature_ends() {
    let test = TestHub::start();
    let bytes = noise(10_000);
    test.commit("main", &[("2.tar", bytes.clone())]);
    let store = test.store("");
    let object = store.head("2.tar").unwrap();
    test.hub.asked();
    for start in (0..10_000).step_by(1000) {
        assert_eq!(read(&store, &object, start..start + 10), bytes[start as usize..start as usize + 10]);
    }
    assert_eq!((test.hub.asked().len(), test.files.asked().len()), (1, 10));
    test.files.faults.next([Fault::Answer(403, "ExpiredToken")]);
    assert_eq!(read(&store, &object, 5..15), bytes[5..15]);
    assert_eq!(test.hub.asked().len(), 1, "the hub gives another signature");
    test.files.faults.next([Fault::Reset, Fault::Short, Fault::WrongRange]);
    assert_eq!(read(&store, &object, 0..10_000), bytes);
}

#[test]
fn rule_54_a_file_server_that_sends_something_else_does_not_make_a_file_another_one() {
    let test = TestHub::start();
    let bytes = noise(10_000);
    test.commit("main", &[("2.tar", bytes.clone())]);
    let store = test.store("");
    let object = store.head("2.tar").unwrap();
    let faults = || [Fault::NotPartial, Fault::BadRange("bytes 5-14/99999"), Fault::Answer(416, "InvalidRange")];
    test.hub.asked();
    test.files.faults.next(faults());
    assert_eq!(read(&store, &object, 5..15), bytes[5..15], "while the hub is asked");
    assert_eq!(test.hub.asked().len(), 4, "no URL is kept that leads to something else");
    for fault in faults() {
        test.files.faults.next([fault.clone()]);
        assert_eq!(read(&store, &object, 5..15), bytes[5..15], "by the URL that was kept: {fault:?}");
        assert_eq!(test.hub.asked().len(), 1, "the hub is asked for another one: {fault:?}");
    }
    test.files.faults.always(Some(Fault::NotPartial));
    let error = store.read(&object, 5..15, 10, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.retry()), (ReadErrorKind::Storage, Retry::Later), "{error}");
}

#[test]
fn a_list_that_repeats_itself_ends() {
    let test = TestHub::start();
    test.commit("main", &[("1", vec![1]), ("2", vec![2]), ("3", vec![3])]);
    test.repeat_pages();
    let error = test.store("").list("", &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("does not end"), "{error}");
}
