//! Runs Pillow in its own process. Encoded pictures go in, and Pillow's pixels come out.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::Failure;

/// Names the interpreter; the Python package sets it to its own.
const PYTHON: &str = "FOREBAY_PYTHON";
const SCRIPT: &str = include_str!("pillow.py");

/// The process, which ends with this.
pub(super) struct Pillow {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Its version, that of its libjpeg-turbo, and those of the libraries that the interpreter has.
    pub versions: Versions,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Versions {
    pub pillow: String,
    pub libjpeg: Option<String>,
    pub torch: Option<String>,
    pub torchvision: Option<String>,
    pub opencv: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Greeting {
    Versions(Versions),
    Error { error: String },
}

/// What Pillow made of one picture.
pub(super) enum Answer {
    Opened(Opened),
    /// Its exception.
    Refused(String),
}

pub(super) struct Opened {
    /// Format and sampling in a few words.
    pub kind: String,
    /// Whether its EXIF orientation is another than as stored.
    pub turned: bool,
    /// Whether its stored colours are other than red, green, blue or their usual JPEG form.
    pub coloured: bool,
    /// One per task.
    pub pictures: Vec<Pixels>,
}

/// Packed RGB.
pub(super) struct Pixels {
    pub width: u32,
    pub height: u32,
    pub rgb: Vec<u8>,
}

#[derive(Deserialize)]
struct Line {
    error: Option<String>,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    turned: bool,
    #[serde(default)]
    coloured: bool,
    #[serde(default)]
    sizes: Vec<(u32, u32)>,
}

impl Pillow {
    /// Starts the interpreter of `FOREBAY_PYTHON`, else `python3`.
    pub(super) fn start() -> Result<Self, Failure> {
        let python = std::env::var(PYTHON).unwrap_or_else(|_| "python3".into());
        let lacking = |why: &dyn std::fmt::Display| {
            Failure::Failed(format!(
                "\"{python}\" gives no pixels of Pillow's to compare with: {why}. Install it (`{python} -m pip install \
                 pillow`), or name an interpreter that has it in {PYTHON}."
            ))
        };
        let mut child = Command::new(&python)
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Where libraries under Pillow write warnings by the thousand.
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| lacking(&error))?;
        let questions = child.stdin.take().expect("it was asked to be piped");
        let mut answers = BufReader::new(child.stdout.take().expect("it was asked to be piped"));
        let mut line = String::new();
        answers.read_line(&mut line)?;
        match serde_json::from_str(&line).unwrap_or_else(|_| Greeting::Error { error: "it says nothing".into() }) {
            Greeting::Versions(versions) => Ok(Self { child, questions, answers, versions }),
            Greeting::Error { error } => Err(lacking(&error)),
        }
    }

    /// Sends a picture and the task for it. Take the answer before the next picture is sent.
    pub(super) fn ask(&mut self, bytes: &[u8], tasks: &[Value]) -> io::Result<()> {
        writeln!(self.questions, "{}", json!({ "bytes": bytes.len(), "tasks": tasks }))?;
        self.questions.write_all(bytes)?;
        self.questions.flush()
    }

    /// What Pillow says to the last question.
    pub(super) fn answer(&mut self) -> io::Result<Answer> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let Line { error, kind, turned, coloured, sizes } = serde_json::from_str(&line)?;
        if let Some(error) = error {
            return Ok(Answer::Refused(error));
        }
        let pictures = sizes.into_iter().map(|(width, height)| {
            let mut rgb = vec![0; width as usize * height as usize * 3];
            self.answers.read_exact(&mut rgb)?;
            Ok(Pixels { width, height, rgb })
        });
        Ok(Answer::Opened(Opened { kind, turned, coloured, pictures: pictures.collect::<io::Result<_>>()? }))
    }
}

impl Drop for Pillow {
    fn drop(&mut self) {
        // It waits for questions and has nothing to lose; if it has ended already, so much the better.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
