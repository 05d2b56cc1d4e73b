//! Tests with scripts in place of the daemon.

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::*;

fn script(folder: &tempfile::TempDir, text: &str) -> PathBuf {
    let [draft, path] = ["draft", "daemon"].map(|name| folder.path().join(name));
    std::fs::write(&draft, format!("#!/bin/sh\n{text}\n")).unwrap();
    // Another process writes the script. A child that another test starts meanwhile would inherit our descriptor until
    // it runs its program, and a file that is open for writing cannot be run ("text file busy").
    let installed = Command::new("install").args(["-m", "700"]).arg(draft).arg(&path).status().unwrap();
    assert!(installed.success(), "{installed}");
    path
}

/// Blocks until the daemon at the other end is gone.
fn wait_for_end(socket: &Socket) {
    while !socket.wait(Some(Duration::from_secs(10))).unwrap().hung_up {}
}

#[test]
fn rule_16_a_private_daemon_is_started_again_three_times_without_a_batch_and_then_its_words_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    // It takes what it is sent first. If it died before that, it would die several times within one call.
    let daemon = PrivateDaemon::new(script(&folder, "head -c 1 >/dev/null; echo out of luck >&2; exit 7"));
    for _ in 0..9 {
        wait_for_end(&daemon.connect().unwrap());
        daemon.has_delivered();
    }
    let error = loop {
        match daemon.connect() {
            Ok(socket) => wait_for_end(&socket),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("died 4 times in a row") && error.contains("out of luck"), "{error}");
}

#[test]
fn a_private_daemon_whose_end_somebody_else_was_told_of_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = PrivateDaemon::new(script(&folder, "exec cat"));
    let socket = daemon.connect().unwrap();
    let pid = daemon.pid().unwrap();
    let number = Pid::from_raw(pid.try_into().unwrap()).unwrap();
    kill_process(number, Signal::KILL).unwrap();
    // As the kernel does where SIGCHLD is ignored.
    waitpid(Some(number), WaitOptions::empty()).unwrap();
    wait_for_end(&socket);
    let _socket = daemon.connect().unwrap();
    assert_ne!(daemon.pid().unwrap(), pid);
    let state = daemon.state.lock();
    assert!(state.deaths == 1 && state.cause.contains("SIGCHLD"), "{}", state.cause);
}

#[test]
fn sessions_share_one_process_which_ends_with_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = PrivateDaemon::new(script(&folder, "cat"));
    let first = daemon.connect().unwrap();
    let pid = daemon.pid();
    let second = daemon.connect().unwrap();
    assert_eq!(daemon.pid(), pid);
    drop(daemon);
    wait_for_end(&first);
    wait_for_end(&second);
}

#[test]
fn it_ends_by_itself_although_a_forked_child_holds_its_socket() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = PrivateDaemon::new(script(&folder, "cat 2>/dev/null\n: > \"$0.ended\""));
    let _session = daemon.connect().unwrap();
    let held = daemon.state.lock().running.as_ref().map(|running| running.socket.as_fd().try_clone_to_owned());
    drop(daemon);
    assert!(folder.path().join("daemon.ended").exists(), "it was killed");
    drop(held);
}

#[test]
fn a_binary_that_is_not_there_is_named() {
    let error = PrivateDaemon::new("/nowhere/forebay").connect().unwrap_err().to_string();
    assert!(error.contains("/nowhere/forebay"), "{error}");
}

#[test]
fn a_private_daemon_that_refuses_its_settings_is_started_once_and_its_words_are_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "echo start >>\"$0.starts\"\nprintf 'forebay: There is a mistake in config:\\n  ring.credit\\n' >&2\nexit 2";
    let daemon = PrivateDaemon::new(script(&folder, text));
    for starts in 1..=2 {
        let error = loop {
            match daemon.connect() {
                Ok(socket) => wait_for_end(&socket),
                Err(error) => break error,
            }
        };
        let AttachError::Refused(Refusal { code, message }) = error else { panic!("{error}") };
        assert_eq!((code, &*message), (text_code::SETTINGS, "There is a mistake in config:\n  ring.credit"));
        // Only another session starts it again.
        let written = std::fs::read_to_string(folder.path().join("daemon.starts")).unwrap();
        assert_eq!(written.lines().count(), starts, "{written}");
        assert_eq!(daemon.state.lock().deaths, 0);
    }
}
