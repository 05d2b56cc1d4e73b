//! Tests of lists that come from a client.

use std::path::Path;

use forebay_sources::{Labels, Options, OwnOptions};

use crate::open_list;
use crate::scene::{folder, labels, names, says};

/// Relative paths start at this folder.
fn rooted(root: &Path) -> Options {
    let own = OwnOptions::from_iter([("root", root.to_str().unwrap())]);
    Options { own, ..Options::default() }
}

fn refused(list: &str, options: &Options, words: &str) {
    says(&open_list(list.as_bytes(), options).unwrap_err().to_string(), &["the given list", words]);
}

#[test]
fn a_list_of_a_client_names_files_anywhere_and_may_have_a_root() {
    let dir = folder(&[("a.jpg", ""), ("b.jpg", "")]);
    let list = format!("{0}/b.jpg\0{0}/a.jpg\0", dir.path().display()).into_bytes();
    let source = open_list(&list, &Options::default()).unwrap();
    assert_eq!(names(&*source), ["b.jpg", "a.jpg"]);
    assert_eq!(labels(&*source), [-1, -1]);
    assert_eq!(names(&*open_list(b"a.jpg", &rooted(dir.path())).unwrap()), ["a.jpg"]);
    refused("", &Options::default(), "names no file");
    refused("a.jpg\0\0b.jpg", &Options::default(), "line 2");
}

#[test]
fn a_list_of_a_client_may_have_a_label_for_each_path() {
    let dir = folder(&[("a.jpg", ""), ("b.jpg", "")]);
    let options = |labels| Options { labels, ..rooted(dir.path()) };
    let opened = |list: &str, labels| open_list(list.as_bytes(), &options(labels)).unwrap();
    let found = |list, as_what| {
        let source = opened(list, as_what);
        (source.classes().join(" "), labels(&*source))
    };
    let (integers, texts) = ("\0b.jpg\0i12\0a.jpg\0i-3", "\0b.jpg\0t7\0a.jpg\0t10");
    assert_eq!(names(&*opened(integers, Labels::Auto)), ["b.jpg", "a.jpg"]);
    assert_eq!(found(integers, Labels::Auto), (String::new(), vec![12, -3]));
    assert_eq!(found(integers, Labels::Text), ("-3 12".into(), vec![1, 0]));
    assert_eq!(found(texts, Labels::Auto), ("7 10".into(), vec![0, 1]), "classes, in the order of their numbers");
    assert_eq!(found(texts, Labels::Text), ("10 7".into(), vec![1, 0]), "texts that were asked for");
    let decimals = "\0b.jpg\0t12.5\0a.jpg\0t3.0";
    assert_eq!(found(decimals, Labels::Auto), ("3.0 12.5".into(), vec![1, 0]));
    assert_eq!(found(texts, Labels::None), (String::new(), vec![-1, -1]));
    assert_eq!(found("\0b.jpg\0i1\0a.jpg\0tcat", Labels::Text), ("1 cat".into(), vec![0, 1]));
    let lists = [integers, texts, "\0b.jpg\0i12\0a.jpg\0i3", "b.jpg\0a.jpg"];
    let prints = lists.map(|list| opened(list, Labels::Auto).fingerprint());
    assert!((0..prints.len()).all(|place| !prints[..place].contains(&prints[place])));
    for (list, words) in [
        ("\0", "names no file"),
        ("\0\0", "names no file"),
        ("\0a.jpg", "line 1: the path has no label"),
        ("\0a.jpg\0i1\0b.jpg", "line 2: the path has no label"),
        ("\0a.jpg\0t", "no label"),
        ("\0a.jpg\0x5", "no label"),
        ("\0a.jpg\0i1\0b.jpg\0tcat", "\"cat\" is a text, but line 1 has an integer"),
        ("\0a.jpg\0tcat\0b.jpg\0i1", "\"1\" is an integer, but line 1 has a text"),
        ("\0a.jpg\0i1\0\0i2", "line 2: the line has no path"),
    ] {
        refused(list, &options(Labels::Auto), words);
    }
}
