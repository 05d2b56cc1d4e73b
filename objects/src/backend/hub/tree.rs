//! The hub's list of a folder, in pages of JSON. Pure.

use serde::Deserialize;

use crate::Object;
use crate::repository::is_digest;

/// Bytes of a file's path.
const PATH_LIMIT: usize = 4096;
/// Bytes of the query that leads to the next page.
const QUERY_LIMIT: usize = 16 << 10;

/// A file or a folder.
#[derive(Deserialize)]
struct HubEntry {
    r#type: String,
    path: String,
    #[serde(default)]
    size: u64,
    oid: Option<String>,
    lfs: Option<Large>,
}

/// A file that git has elsewhere.
#[derive(Deserialize)]
struct Large {
    oid: String,
    size: u64,
}

/// The files of a page whose path begins with `prefix` and, if the list is not `deep`, the folders with a slash at their
/// end. The error says what is wrong.
pub(super) fn entries(page: &[u8], prefix: &str, deep: bool) -> Result<(Vec<Object>, Vec<String>), String> {
    let entries: Vec<HubEntry> = serde_json::from_slice(page).map_err(|error| error.to_string())?;
    let (mut objects, mut folders) = (Vec::new(), Vec::new());
    for HubEntry { r#type: kind, path, size, oid, lfs } in entries {
        if path.len() > PATH_LIMIT {
            return Err(format!("a path has more than {PATH_LIMIT} bytes"));
        }
        if !path.starts_with(prefix) {
            continue;
        }
        match &*kind {
            "file" => {
                let (size, oid) = lfs.map_or((size, oid), |large| (large.size, Some(large.oid)));
                objects.push(Object { key: path, size, version: oid.filter(|oid| is_digest(oid)) });
            }
            "directory" if !deep => folders.push(format!("{path}/")),
            _ => {}
        }
    }
    Ok((objects, folders))
}

/// The query of the next page, from the header `Link`. Its host is not needed: the caller knows the hub.
pub(super) fn next(link: &str) -> Option<String> {
    let url = link.split(',').find_map(|part| {
        let (url, relation) = part.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = relation.split(';').any(|word| matches!(word.trim(), "rel=\"next\"" | "rel=next"));
        is_next.then_some(url)
    })?;
    let (_, query) = url.split_once('?')?;
    (!query.is_empty() && query.len() <= QUERY_LIMIT).then(|| query.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OID: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn a_page_has_files_with_their_digests_and_folders() {
        let sha = "ab".repeat(32);
        let page = format!(
            r#"[{{"type":"directory","path":"a/b","oid":"{OID}","size":0}},
                {{"type":"file","path":"a/1.jpg","oid":"{OID}","size":7,"xetHash":"x"}},
                {{"type":"file","path":"a/2.tar","oid":"{OID}","size":134,"lfs":{{"oid":"{sha}","size":9000,"pointerSize":134}}}},
                {{"type":"file","path":"ab.txt","size":1,"oid":"odd"}},
                {{"type":"submodule","path":"a/c"}}]"#
        );
        let object =
            |key: &str, size, version: Option<&str>| Object { key: key.into(), size, version: version.map(Into::into) };
        let inside = vec![object("a/1.jpg", 7, Some(OID)), object("a/2.tar", 9000, Some(&sha))];
        assert_eq!(entries(page.as_bytes(), "a/", true), Ok((inside.clone(), vec![])));
        assert_eq!(entries(page.as_bytes(), "a/", false), Ok((inside, vec!["a/b/".to_owned()])));
        let (all, _) = entries(page.as_bytes(), "", true).unwrap();
        assert_eq!(all[2], object("ab.txt", 1, None));
    }

    #[test]
    fn what_is_no_page_is_told() {
        let long = format!(r#"[{{"type":"file","path":"{}"}}]"#, "x".repeat(PATH_LIMIT + 1));
        for page in ["", "{}", "<html>", r#"[{"type":"file"}]"#, r#"[{"type":"file","path":"a","size":-1}]"#, &long] {
            assert!(entries(page.as_bytes(), "", true).is_err(), "{page}");
        }
    }

    #[test]
    fn the_next_page_is_a_query() {
        let link = r#"<https://h/api/x?limit=1>; rel="first", <https://h/api/x?cursor=a%3D&limit=2>; rel="next""#;
        assert_eq!(next(link).as_deref(), Some("cursor=a%3D&limit=2"));
        for link in ["", "<https://h/x?a>; rel=\"prev\"", "<https://h/x>; rel=\"next\"", "https://h/x?a; rel=\"next\""]
        {
            assert_eq!(next(link), None, "{link}");
        }
        assert_eq!(next(&format!("<h?{}>; rel=\"next\"", "x".repeat(QUERY_LIMIT + 1))), None);
    }

    proptest! {
        #[test]
        fn no_header_and_no_page_panics(link in ".{0,80}", page in prop::collection::vec(any::<u8>(), 0..80)) {
            next(&link);
            prop_assert!(entries(&page, "a", true).is_ok_and(|(objects, _)| objects.is_empty()) || !page.starts_with(b"[]"));
        }
    }
}
