//! Children that end in each way: each one that was started is reaped, and no wait lasts for ever.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use forebay_children::{
    ChildCommand, ChildCounts, ChildProcess, FrameHead, LentMemory, Patience, PythonModule, Refill, Silence,
};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Longer than anything here takes, and not for ever.
const LONG: Duration = Duration::from_secs(120);

/// Answers, and does other things.
const PROGRAM: PythonModule = PythonModule {
    name: "program",
    code: "
import os, resource, signal, sys, time

from forebay_child import ERROR


class Program:
    def __init__(self, daemon):
        self.daemon = daemon

    def echo(self, text, times):
        for number in range(times):
            self.daemon.give(memoryview(text.encode()))

    def kill(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def hang(self):
        time.sleep(1000)

    def greed(self):
        kept = []
        while True:
            kept.append(bytearray(1 << 24))

    def raise_limit(self, to):
        resource.setrlimit(resource.RLIMIT_DATA, (to, resource.getrlimit(resource.RLIMIT_DATA)[1]))

    def flood(self, lines):
        for number in range(lines):
            print('x' * 100)

    def leave(self):
        # The grandchild has all descriptors of its parent, and survives the end of the parent's group.
        grandchild = os.fork()
        if grandchild == 0:
            os.setsid()
            time.sleep(1000)
        self.daemon.send(b'G', str(grandchild).encode())
        self.daemon.flush()
        os._exit(3)

    def failed(self, error, request):
        return ERROR


def program(daemon):
    return Program(daemon)
",
};

/// A child, and the memory that it was lent.
struct Python {
    process: ChildProcess,
    memory: LentMemory,
}

impl Python {
    fn start(command: ChildCommand) -> Self {
        let (mut process, memory) = (command.start().unwrap(), LentMemory::new().unwrap());
        memory.lend(process.channel()).unwrap();
        Self { process, memory }
    }

    fn new() -> Self {
        Self::start(ChildCommand::python("python3", "program.py", &[PROGRAM]))
    }

    fn ask(&mut self, request: &str) {
        self.process.channel().send(format!("{request}\n").as_bytes(), &Patience::lasting(LONG)).unwrap();
    }

    /// The letter and the bytes of the next frame.
    fn frame(&mut self) -> Result<(char, Vec<u8>), Silence> {
        let (channel, patience, mut body) = (self.process.channel(), Patience::lasting(LONG), Refill::new(Vec::new()));
        let head = channel.head(&patience)?;
        match head {
            FrameHead { letter: b'M', len } => self.memory.take(len, &mut body)?,
            head => channel.body(head, 1 << 20, &patience, &mut body)?,
        }
        Ok((char::from(head.letter), body.finish()))
    }

    fn signal(&self) -> Option<i32> {
        self.process.ending(LONG).unwrap().signal()
    }
}

fn answers_small_and_large_requests() {
    let mut child = Python::new();
    for len in [5, 100_000] {
        let text = "a".repeat(len);
        child.memory.begin().unwrap();
        child.ask(&format!("{{\"do\": \"echo\", \"text\": \"{text}\", \"times\": 3}}"));
        let letter = if len == 5 { 'R' } else { 'M' };
        for _ in 0..3 {
            assert!(child.frame().unwrap() == (letter, text.clone().into_bytes()));
        }
        assert_eq!(child.frame(), Ok(('D', Vec::new())));
    }
    child.ask("{\"do\": \"unknown\"}");
    assert_eq!(child.frame().unwrap().0, 'E');
    assert_eq!(child.process.ending(Duration::from_millis(5)), None, "it lives");
}

fn is_killed_from_within_and_from_outside() {
    let mut child = Python::new();
    child.ask("{\"do\": \"kill\"}");
    assert_eq!(child.frame(), Err(Silence::Ended));
    assert_eq!(child.signal(), Some(Signal::KILL.as_raw()));
    let mut child = Python::new();
    kill_process(child.process.pid(), Signal::KILL).unwrap();
    assert_eq!(child.frame(), Err(Silence::Ended));
    assert_eq!(child.signal(), Some(Signal::KILL.as_raw()));
}

fn is_silent() {
    let mut child = Python::new();
    child.ask("{\"do\": \"hang\"}");
    let brief = Patience::lasting(Duration::from_millis(200));
    assert_eq!(child.process.channel().head(&brief), Err(Silence::Late));
    let withdrawn = Patience::lasting(LONG).unless(&|| true);
    assert_eq!(child.process.channel().head(&withdrawn), Err(Silence::Late));
}

fn ends_with_the_pipe_to_the_daemon() {
    let mut child = Python::new();
    child.process.close_life();
    assert!(child.process.ending(LONG).is_some(), "it has only begun");
    let mut child = Python::new();
    child.ask("{\"do\": \"echo\", \"text\": \"\", \"times\": 0}");
    assert_eq!(child.frame(), Ok(('D', Vec::new())));
    child.ask("{\"do\": \"hang\"}");
    child.process.close_life();
    assert_eq!(child.signal(), Some(Signal::IO.as_raw()));
}

fn takes_more_memory_than_it_may() {
    let command = ChildCommand::python("python3", "program.py", &[PROGRAM]).most_memory(256 << 20);
    let mut child = Python::start(command);
    child.ask("{\"do\": \"greed\"}");
    let (letter, words) = child.frame().unwrap();
    assert_eq!((letter, String::from_utf8(words).unwrap().as_str()), ('E', "MemoryError"));
}

fn raises_the_limit_of_its_memory_if_it_may() {
    for (may, command) in [(true, ChildCommand::memory_at_first as fn(_, _) -> _), (false, ChildCommand::most_memory)] {
        let command = command(ChildCommand::python("python3", "program.py", &[PROGRAM]), 256 << 20);
        let mut child = Python::start(command);
        child.ask("{\"do\": \"raise_limit\", \"to\": 536870912}");
        assert_eq!(child.frame().unwrap().0, if may { 'D' } else { 'E' });
    }
}

fn floods_its_output() {
    let mut child = Python::new();
    // More than a pipe holds, so that the child stops if the parent does not read them.
    child.ask("{\"do\": \"flood\", \"lines\": 20000}");
    assert_eq!(child.frame(), Ok(('D', Vec::new())));
}

fn leaves_a_process_that_holds_its_descriptors() {
    let mut child = Python::new();
    child.ask("{\"do\": \"leave\"}");
    let (letter, grandchild) = child.frame().unwrap();
    assert_eq!(letter, 'G');
    let grandchild = Pid::from_raw(String::from_utf8(grandchild).unwrap().parse().unwrap()).unwrap();
    // The socket is still open, and so is the pipe of the lines.
    assert_eq!(child.frame(), Err(Silence::Ended));
    assert_eq!(child.process.ending(LONG).unwrap().code(), Some(3));
    drop(child);
    test_kill_process(grandchild).unwrap();
    kill_process(grandchild, Signal::KILL).unwrap();
}

#[test]
fn each_child_that_was_started_is_reaped_however_it_ends() {
    let scenes = [
        (1, answers_small_and_large_requests as fn()),
        (2, is_killed_from_within_and_from_outside),
        (1, is_silent),
        (2, ends_with_the_pipe_to_the_daemon),
        (1, takes_more_memory_than_it_may),
        (2, raises_the_limit_of_its_memory_if_it_may),
        (1, floods_its_output),
        (1, leaves_a_process_that_holds_its_descriptors),
    ];
    let mut all = 0;
    for (number, (children, scene)) in scenes.into_iter().enumerate() {
        scene();
        all += children;
        // What a grandchild holds open is not waited for.
        assert_eq!(ChildCounts::settled(LONG), ChildCounts { started: all, reaped: all }, "scene {number}");
    }
    assert!(ChildCommand::new("/nowhere/program", "none").start().is_err());
    // Many at once, which are asked nothing.
    let many: Vec<ChildProcess> = (0..20).map(|_| ChildCommand::new("cat", "cat").start().unwrap()).collect();
    assert_eq!(ChildCounts::settled(Duration::ZERO), ChildCounts { started: all + 20, reaped: all });
    drop(many);
    assert_eq!(ChildCounts::settled(LONG), ChildCounts { started: all + 20, reaped: all + 20 });
}
