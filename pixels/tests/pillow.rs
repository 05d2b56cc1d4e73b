//! Our pixels beside Pillow's, where a Python with Pillow is found: `FOREBAY_PYTHON`, else `python3`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at what should not be, and print what they found"
)]

#[path = "shared/data.rs"]
mod data;
#[path = "shared/with_pillow.rs"]
mod with_pillow;

use std::path::{Path, PathBuf};
use std::process::Command;

use forebay_pixels::{CpuDecoder, Draw, Input, Interpolation, Limits, Output, Recipe, Resize, Size, Transform, sample};
use with_pillow::with_pillow;

/// What Pillow made of one picture: width, height, packed RGB; none where it failed.
type Theirs = Option<(u32, u32, Vec<u8>)>;

/// Greatest and mean absolute difference of values, over all pictures.
#[derive(Debug, Default)]
struct Difference {
    greatest: u8,
    sum: u64,
    values: u64,
    pictures: usize,
}

impl Difference {
    fn add(&mut self, ours: &[u8], theirs: &[u8]) -> u8 {
        assert_eq!(ours.len(), theirs.len());
        let differences = ours.iter().zip(theirs).map(|(a, b)| a.abs_diff(*b));
        let (greatest, sum) = differences.fold((0, 0), |(most, sum), d| (d.max(most), sum + u64::from(d)));
        self.greatest = self.greatest.max(greatest);
        self.sum += sum;
        self.values += ours.len() as u64;
        self.pictures += 1;
        greatest
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
    fn mean(&self) -> f64 {
        self.sum as f64 / self.values.max(1) as f64
    }
}

/// Runs `tests/pillow.py`; none, with the reason printed, where there is no Pillow.
fn pillow(task: &str, pictures: &[PathBuf]) -> Option<Vec<Theirs>> {
    let python = with_pillow()?;
    let folder = tempfile::tempdir().unwrap();
    let (list, out) = (folder.path().join("list"), folder.path().join("out"));
    let names: Vec<_> = pictures.iter().map(|path| path.to_str().unwrap()).collect();
    std::fs::write(&list, names.join("\n")).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pillow.py");
    let status = Command::new(&python).arg(script).arg(task).args([&list, &out]).status().unwrap();
    assert!(status.success(), "pillow.py failed");
    let bytes = std::fs::read(out).unwrap();
    let mut rest = bytes.as_slice();
    let word = |rest: &mut &[u8]| {
        let (word, tail) = rest.split_first_chunk().unwrap();
        *rest = tail;
        u32::from_le_bytes(*word)
    };
    let one = |_: &PathBuf| {
        let (width, height) = (word(&mut rest), word(&mut rest));
        let (rgb, tail) = rest.split_at(width as usize * height as usize * 3);
        rest = tail;
        (width != 0).then(|| (width, height, rgb.to_vec()))
    };
    Some(pictures.iter().map(one).collect())
}

/// Compares what a recipe gives with what Pillow gives for the task.
fn compare(task: &str, recipe: &Recipe, pictures: &[PathBuf]) -> Option<Difference> {
    let theirs = pillow(task, pictures)?;
    let mut difference = Difference::default();
    let mut decoder = CpuDecoder::new();
    let mut place = vec![0; recipe.place_len()];
    let draw = Draw { seed: 0, epoch: 0, record: 0 };
    for (path, theirs) in pictures.iter().zip(theirs) {
        let (_, _, theirs) = theirs.unwrap();
        decoder.decode(&std::fs::read(path).unwrap(), recipe, draw, &Limits::default(), &mut place).unwrap();
        difference.add(&place, &theirs);
    }
    println!("{task}: {difference:?}, mean {:.4}", difference.mean());
    Some(difference)
}

fn resize(interpolation: Interpolation, height: u32, width: u32) -> Recipe {
    let resize = Resize { size: Size::HeightWidth([height, width]), interpolation };
    Recipe::new(vec![Transform::Resize(resize)], Output::default()).unwrap()
}

/// Photographs that the project makes itself, in a folder that goes away with the returned guard.
fn samples() -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let sizes = [(500, 375), (333, 500), (223, 311), (64, 48), (700, 60)];
    let paths = (0..).zip(sizes).map(|(index, (width, height))| {
        let path = folder.path().join(format!("{index}.jpg"));
        std::fs::write(&path, sample::photograph(index, width, height)).unwrap();
        path
    });
    let paths = paths.collect();
    (folder, paths)
}

#[test]
fn resize_and_centre_crop_of_photographs_is_pillows() {
    let Some(folder) = data::folder("imagenet") else { return };
    let Some(difference) = compare("eval", &Recipe::evaluation(224).unwrap(), &data::files(&folder)) else { return };
    assert!(difference.greatest == 0, "greatest difference {}", difference.greatest);
}

#[test]
fn resize_and_centre_crop_of_samples_is_pillows() {
    let (_guard, samples) = samples();
    let Some(difference) = compare("eval", &Recipe::evaluation(224).unwrap(), &samples) else { return };
    assert!(difference.greatest == 0, "greatest difference {}", difference.greatest);
}

#[test]
fn every_filter_is_pillows_for_growing_and_shrinking() {
    let (_guard, samples) = samples();
    for (name, interpolation) in [
        ("nearest", Interpolation::Nearest),
        ("bilinear", Interpolation::Bilinear),
        ("bicubic", Interpolation::Bicubic),
        ("lanczos", Interpolation::Lanczos3),
    ] {
        for (height, width) in [(97, 131), (700, 901)] {
            let task = format!("{name}:{height}:{width}");
            let Some(difference) = compare(&task, &resize(interpolation, height, width), &samples) else { return };
            assert!(difference.greatest == 0, "{task}: greatest difference {}", difference.greatest);
        }
    }
}

#[test]
fn a_reducing_gap_gives_what_pillows_draft_gives_and_stays_close_to_an_exact_result() {
    let (guard, mut pictures) = samples();
    pictures.extend(data::folder("imagenet").map(|folder| data::files(&folder)).unwrap_or_default());
    let big = guard.path().join("big.jpg");
    std::fs::write(&big, sample::photograph(9, 1203, 801)).unwrap();
    pictures.push(big);
    for (height, width) in [(60, 80), (150, 150), (30, 24), (12, 16)] {
        let exact = resize(Interpolation::Bilinear, height, width);
        let input = Input { reducing_gap: Some(2.0), ..Input::default() };
        let Some(difference) =
            compare(&format!("draft:{height}:{width}"), &exact.clone().with_input(input).unwrap(), &pictures)
        else {
            return;
        };
        assert!(difference.greatest == 0, "greatest difference {}", difference.greatest);
        let difference = compare(&format!("draft:{height}:{width}"), &exact, &pictures).unwrap();
        assert!(difference.mean() < 1.5, "mean difference to an exact result {}", difference.mean());
    }
}

#[test]
fn whole_decodes_of_odd_but_valid_pictures_are_pillows() {
    let Some(folder) = data::folder("conformance") else { return };
    let good = data::verdicts(&folder).into_iter().filter(|verdict| verdict.verdict == "ok");
    let pictures: Vec<_> = good.map(|verdict| folder.parent().unwrap().join(verdict.name)).collect();
    let Some(theirs) = pillow("whole", &pictures) else { return };
    let mut decoder = CpuDecoder::new();
    let mut difference = Difference::default();
    for (path, theirs) in pictures.iter().zip(theirs) {
        let ours = decoder.whole(&std::fs::read(path).unwrap(), &Limits::default()).unwrap();
        let Some((width, height, theirs)) = theirs else {
            println!("this Pillow refuses {}", path.display());
            continue;
        };
        assert_eq!((ours.width, ours.height), (width, height), "{}", path.display());
        let greatest = difference.add(&ours.rgb, &theirs);
        assert!(greatest <= 2, "{}: greatest difference {greatest}", path.display());
    }
    println!("whole: {difference:?}, mean {:.4}", difference.mean());
}
