//! What those who name a source for a service cannot make it run.

use super::*;

/// A service that allows the reader's folder and nothing else.
fn service<const N: usize>(script: &Script, own: [(&str, &str); N]) -> Options {
    Options { readers: ReaderFolders::Below(vec![script.dir.path().to_owned()]), ..with(own) }
}

#[test]
fn rule_55_a_service_starts_only_interpreters_in_its_folders() {
    let script = Script::new(&reads("yield content(task, number)"));
    let elsewhere = tempfile::tempdir().unwrap();
    let python = elsewhere.path().join("python3");
    fs::write(&python, "#!/bin/sh\necho ran > \"$0.ran\"\n").unwrap();
    let into = script.dir.path().join("bin");
    symlink(elsewhere.path(), &into).unwrap();
    // A folder elsewhere, a link to one, a way out, and what `PATH` or the working folder would decide.
    let out = format!("{}/../python3", script.dir.path().display());
    for wrong in [python.to_str().unwrap(), into.join("python3").to_str().unwrap(), &out, "python3", "./python3"] {
        let opened = open(&script.file(), &service(&script, [("python", wrong)]));
        refused(opened, &["python = ", "[sources]", "a service starts no other"]);
        assert!(check(&script.file(), &service(&script, [("python", wrong)])).is_err(), "{wrong}");
    }
    assert!(!elsewhere.path().join("python3.ran").exists());
    // As in a virtual environment, the program is a link.
    let path = std::env::var_os("PATH").unwrap();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("python3"));
    let venv = script.dir.path().join("python3");
    symlink(found.find(|file| file.exists()).unwrap(), &venv).unwrap();
    assert!(open(&script.file(), &service(&script, [("python", venv.to_str().unwrap())])).is_ok());
}

#[test]
fn rule_55_a_service_calls_only_what_the_reader_s_file_defines() {
    let script = Script::new(&reads("yield content(task, number)"));
    let text = fs::read_to_string(script.file()).unwrap();
    fs::write(script.file(), format!("from subprocess import Popen\n\n{text}\n\nMine = CustomDataReader\n")).unwrap();
    let ran = script.dir.path().join("ran");
    let command = format!("touch {}", ran.display());
    let popen = [("class", "Popen"), ("args", command.as_str()), ("shell", "1")];
    refused(open(&script.file(), &service(&script, popen)), &["Popen is not defined in the reader's file"]);
    assert!(!ran.exists());
    for name in ["CustomDataReader", "Mine"] {
        assert!(open(&script.file(), &service(&script, [("class", name)])).is_ok());
    }
}
