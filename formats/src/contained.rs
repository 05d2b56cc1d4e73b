//! The one place where a panic of a library that reads tables ends. Such a library is written for files that are what they
//! say: on others it may index beyond a slice. What it would allocate without a bound is refused before (`parquet/thrift.rs`,
//! `parquet/pages.rs`, `arrow/batch.rs`).

use std::cell::Cell;
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Set with the first file that is read.
static HOOK: Once = Once::new();

/// What the library makes of a file's bytes, or its words about them. A panic is one of these answers: nothing that the
/// library had in its hands is used afterwards. It is not reported: the error says what is wrong.
pub(crate) fn contained<T, E: Display>(work: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !is_panic_contained() {
                report(info);
            }
        }));
    });
    let before = WITHIN.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    WITHIN.set(before);
    match done {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err("the library that reads it does not understand its bytes".into()),
    }
}

/// Whether a panic of this thread would be caught, because a library is reading a file.
///
/// A process that ends at panics asks this first: such a panic is an outcome of the file.
pub fn is_panic_contained() -> bool {
    WITHIN.get()
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::process::{Command, Stdio};

    use super::*;

    /// The process in which this is set shows what panics print.
    const PANICS: &str = "FOREBAY_TEST_PANICS";

    #[test]
    fn a_panic_is_an_answer() {
        let bytes: [u8; 0] = [];
        let first = |at: usize| {
            assert!(is_panic_contained());
            bytes[at]
        };
        assert!(contained(|| Ok::<_, String>(first(bytes.len()))).unwrap_err().contains("does not understand"));
        assert_eq!(contained(|| Err::<(), _>("why")), Err("why".into()));
        assert_eq!(contained(|| Ok::<_, String>(3)), Ok(3));
        assert!(!is_panic_contained());
    }

    #[test]
    fn a_panic_that_is_contained_prints_nothing_and_any_other_one_is_reported() {
        if env::var_os(PANICS).is_some() {
            contained(|| -> Result<(), String> { panic!("within the library") }).unwrap_err();
            panic!("outside of it");
        }
        let mut process = Command::new(env::current_exe().unwrap());
        process.args(["--exact", "--nocapture"]).env(PANICS, "1").stdin(Stdio::null());
        let name = "contained::tests::a_panic_that_is_contained_prints_nothing_and_any_other_one_is_reported";
        let output = process.arg(name).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(printed.contains("outside of it") && !printed.contains("within the library"), "{printed}");
    }
}
