//! Readers of our own whose service cannot be reached: no record is to blame.

use super::*;

/// Raises or hangs while the folder has a file of that name, also while it is made.
const PROGRAM: &str = "import os, time


def obey(folder):
    if os.path.exists(os.path.join(folder, 'raise')):
        error = OSError('the tunnel is closed')
        error.is_outage = True
        raise error
    while os.path.exists(os.path.join(folder, 'hang')):
        time.sleep(3600)


class Reader:
    def __init__(self, folder):
        self.folder = folder
        obey(folder)

    def create_shards(self):
        return [('a', 0, 4)]

    def read_records(self, task):
        obey(self.folder)
        for number in range(task.shard.start, task.shard.end):
            yield b'a-%d' % number
";

fn own(folder: &Path, options: &Options) -> Box<dyn Source> {
    let parameters = Map::from_iter([("folder".to_owned(), folder.to_str().unwrap().into())]);
    let url = "odps://p/t".to_owned();
    let reader = OwnReader { program: PROGRAM, class: "Reader", url, parameters, access: Map::new() };
    open_own(reader, Path::new("p/t"), options).unwrap()
}

/// Why a record is not read now, which passes.
fn outage(source: &dyn Source) -> String {
    let error = source.read(1, u64::MAX, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.retry()), (ReadErrorKind::Storage, Retry::Later), "{error}");
    error.to_string()
}

#[test]
fn rule_55_a_service_that_is_not_reached_makes_no_record_bad() {
    let folder = tempfile::tempdir().unwrap();
    let source = own(folder.path(), &with([("records_per_task", "2"), ("workers", "1")]));
    fs::write(folder.path().join("raise"), "").unwrap();
    for _ in 0..3 {
        assert!(outage(&*source).contains("OSError: the tunnel is closed"));
    }
    fs::remove_file(folder.path().join("raise")).unwrap();
    assert_eq!(all(&*source), good("a", 0..4));
}

#[test]
fn rule_55_a_service_that_says_nothing_makes_no_record_bad() {
    let folder = tempfile::tempdir().unwrap();
    let source = own(folder.path(), &with([("read_timeout", "2"), ("workers", "1")]));
    fs::write(folder.path().join("hang"), "").unwrap();
    assert!(outage(&*source).contains("no answer within 2s"));
    // The next process cannot make a reader, and is not waited for longer than for a record.
    assert!(outage(&*source).contains("cannot be made any more: it gave no answer within 2s"));
    fs::remove_file(folder.path().join("hang")).unwrap();
    assert_eq!(all(&*source), good("a", 0..4));
}

#[test]
fn rule_55_a_reader_of_the_user_cannot_call_its_failure_an_outage() {
    let body = reads("error = OSError('mine')\nerror.is_outage = True\nraise error");
    let script = Script::new(&body.replace("'a': (0, 5), 'b': (100, 3)", "'a': (0, 1)"));
    let script = script.open([]).unwrap();
    assert!(all(&script)[0].as_ref().unwrap_err().contains("OSError: mine"));
}
