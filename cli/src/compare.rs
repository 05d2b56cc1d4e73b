//! `forebay compare`: compares our pixels with Pillow's on the user's own pictures. It prints a table, and draws the
//! worst pictures.

mod difference;
mod pillow;
mod published;
mod report;
mod sheet;
mod table;
mod task;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use forebay_formats::open;
use forebay_pixels::{CpuDecoder, Draw, Fault, probe};
use forebay_printable::printable;
use forebay_sources::{Labels, Options, Source};

use crate::failure::Failure;
use crate::picture::PngFile;
use crate::progress;
use difference::Difference;
use pillow::{Answer, Opened, Pillow, Pixels};
use published::Publisher;
use report::Report;
use sheet::Sheet;
use task::Task;

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Folders, .csv files or .txt lists. Each gets its own table. This needs a Python with Pillow: that of the environment
    /// where this command is installed, or the one that `FOREBAY_PYTHON` names. If it also has torch, resizes with
    /// `match = "torch"` are compared with torch's.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// PNG file to write. For each comparison, it shows the worst part of the worst picture: ours, Pillow's and the
    /// difference.
    #[arg(short, long, value_name = "FILE", default_value = "compare.png")]
    output: PngFile,
    /// Also write the tables to this Markdown file.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Compare only this many pictures of each path.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Also compare these recipes, step by step, with the parameters that Forebay draws. All but yolo need
    /// torchvision in Python. yolo is also compared with `OpenCV`, if Python has it. May be repeated.
    #[arg(long, value_name = "RECIPE")]
    recipe: Vec<Publisher>,
}

/// Of the random parts: any will do, and the same ones every time.
const SEED: u64 = 0;

pub(crate) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let fail = |error: &dyn std::fmt::Display| Failure::Failed(error.to_string());
    args.output.check_folder()?;
    let mut pillow = Pillow::start()?;
    let mut tasks = Task::all(pillow.versions.torch.is_some()).map_err(|error| fail(&error))?;
    for (number, publisher) in args.recipe.iter().enumerate() {
        if !args.recipe[..number].contains(publisher) {
            tasks.extend(publisher.tasks(&pillow.versions)?);
        }
    }
    let mut comparer = Comparer { tasks, decoder: CpuDecoder::new() };
    let mut sheet = Sheet::default();
    let mut reports = Vec::new();
    for path in &args.paths {
        let own = args.limit.map(|limit| ("limit", limit.to_string())).into_iter().collect();
        let options = Options { labels: Labels::None, own, ..Options::default() };
        let source = open(path, &options).map_err(|error| fail(&error))?;
        let report = comparer.compare(path, &*source, &mut pillow, &mut sheet)?;
        table::text(&mut io::stdout().lock(), &report)?;
        reports.push(report);
    }
    if let Some(file) = &args.markdown {
        let mut page = Vec::new();
        table::markdown(&mut page, &pillow.versions, &reports)?;
        fs::write(file, page).map_err(|error| fail(&format!("{} cannot be written: {error}.", printable(file))))?;
    }
    if let Some(sheet) = sheet.draw() {
        args.output.write(&sheet)?;
        writeln!(io::stdout(), "\n{}: ours, Pillow's, and the difference made visible", args.output.name())?;
    }
    Ok(())
}

/// What is compared, and our side of it.
struct Comparer {
    tasks: Vec<Task>,
    decoder: CpuDecoder,
}

impl Comparer {
    fn compare(
        &mut self,
        path: &str,
        source: &dyn Source,
        pillow: &mut Pillow,
        sheet: &mut Sheet,
    ) -> Result<Report, Failure> {
        let bar = progress::bar(source.len(), "{wide_bar} {pos} of {len} pictures, {eta} left");
        let mut report = Report::new(path, self.tasks.iter().map(|task| task.name));
        let mut bytes = Vec::new();
        for record in 0..source.len() {
            bar.inc(1);
            let file = PathBuf::from(source.locator(record).name());
            let name = printable(file.strip_prefix(path).unwrap_or(&file)).to_string();
            match source.read(record, u64::MAX, &mut bytes) {
                Ok(()) => self.one(&name, record, &bytes, pillow, &mut report, sheet)?,
                Err(error) => report.unreadable.push((name, error.to_string())),
            }
        }
        bar.finish_and_clear();
        Ok(report)
    }

    /// One picture: Pillow works on it while we do.
    fn one(
        &mut self,
        name: &str,
        record: u64,
        bytes: &[u8],
        pillow: &mut Pillow,
        report: &mut Report,
        sheet: &mut Sheet,
    ) -> Result<(), Failure> {
        let draw = Draw { seed: SEED, epoch: 0, record };
        let ended = |error: io::Error| Failure::Failed(format!("Pillow's process ended over {name}: {error}."));
        // What we cannot open is asked for all the same, to learn whether Pillow can.
        let theirs = match probe(bytes) {
            Ok(seen) => self.tasks.iter().map(|task| task.theirs(seen.width, seen.height, draw)).collect(),
            Err(_) => Vec::new(),
        };
        pillow.ask(bytes, &theirs).map_err(ended)?;
        let ours: Result<Vec<Pixels>, Fault> =
            self.tasks.iter().map(|task| task.ours(&mut self.decoder, bytes, draw)).collect();
        match (ours, pillow.answer().map_err(ended)?) {
            (Ok(ours), Answer::Opened(theirs)) => self.count(name, &ours, &theirs, report, sheet),
            (Ok(_), Answer::Refused(reason)) => report.refused_by_pillow.push((name.to_owned(), reason)),
            (Err(fault), Answer::Opened(_)) => report.refused_by_us.push((name.to_owned(), fault.to_string())),
            (Err(_), Answer::Refused(_)) => report.refused_by_both += 1,
        }
        Ok(())
    }

    fn count(&self, name: &str, ours: &[Pixels], theirs: &Opened, report: &mut Report, sheet: &mut Sheet) {
        for ((task, ours), theirs_of_task) in self.tasks.iter().zip(ours).zip(&theirs.pictures) {
            let Some(difference) = Difference::between(ours, theirs_of_task) else {
                report.other_size.push(name.to_owned());
                return;
            };
            if task.is_whole() {
                report.add_whole(name, theirs, &difference);
            }
            if report.add(task.name, name, &difference) {
                sheet.keep(&report.path, task.name, name, ours, theirs_of_task, &difference);
            }
        }
    }
}

/// A name for people: the last part of a path.
fn short(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}
