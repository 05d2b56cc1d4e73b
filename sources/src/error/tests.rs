//! Tests of what an error is, and of the paths that it shows.

use super::*;

#[test]
fn rule_54_an_outage_inside_an_error_of_the_system_is_an_outage() {
    let of = |kind| {
        let inner = ReadError { kind, locator: Locator::file("a.csv"), cause: "the store answers 503".into() };
        SourceError::of_path(Path::new("a.csv"), io::Error::other(inner))
    };
    assert!(matches!(of(ReadErrorKind::Storage), SourceError::Outage(error) if error.cause.contains("503")));
    assert!(matches!(of(ReadErrorKind::Missing), SourceError::Missing { .. }));
    let changed = of(ReadErrorKind::Changed);
    assert!(matches!(&changed, SourceError::Io { .. }) && changed.to_string().contains("has changed"), "{changed}");
    assert!(matches!(SourceError::of_path(Path::new("a"), io::Error::other("x")), SourceError::Io { .. }));
}

#[test]
fn rule_54_an_error_can_be_told_with_other_paths() {
    let path = || PathBuf::from("https://h/a.csv?sig=hunter2");
    let errors = [
        SourceError::Missing { path: path() },
        SourceError::of_path(&path(), io::Error::other("it is gone")),
        SourceError::malformed_at(&path(), 7, "It is no CSV."),
        SourceError::Line { file: path(), line: 3, problem: LineProblem::NoPath },
        SourceError::MixedFolder { picture: path(), class: path() },
        SourceError::NoneExists { list: path(), count: 1, first: path(), root: path() },
        SourceError::Pattern { pattern: path().display().to_string(), problem: "it names no file".into() },
    ];
    for error in errors {
        let paths = error.to_string().matches("a.csv?sig=hunter2").count();
        let shown = error.with_paths(|path| path.to_string_lossy().split('?').next().unwrap().into()).to_string();
        assert!(paths > 0 && shown.matches("a.csv").count() == paths && !shown.contains("hunter"), "{shown}");
    }
}
