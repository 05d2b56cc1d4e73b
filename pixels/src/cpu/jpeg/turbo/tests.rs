//! libjpeg-turbo behind the shim: regions, limits, and what one picture leaves for the next, which is nothing.

use super::*;
use crate::draw::Draw;
use crate::sample::{JpegColors, JpegForm, photograph_rgb};

const SCALES: [Scale; 4] = [Scale::Full, Scale::Half, Scale::Quarter, Scale::Eighth];

/// Opens a picture and begins with a part of it, or with all of it.
fn begin<'a>(
    reader: &'a mut TurboReader,
    bytes: &'a [u8],
    limits: &'a Limits,
    scale: Scale,
    part: Option<Rect>,
) -> BegunPicture<'a> {
    let open = reader.open(bytes, limits, Instant::now()).unwrap();
    let (width, height) = open.size();
    let (width, height) = (scale.side(width), scale.side(height));
    open.begin(scale, (width, height), part.unwrap_or_else(|| Rect::whole(width, height))).unwrap()
}

fn read(begun: BegunPicture<'_>) -> Result<(Rect, Vec<u8>), Fault> {
    let region = begun.region();
    let mut pixels = vec![0; region.width as usize * region.height as usize * begun.channels()];
    begun.read(&mut pixels).map(|()| (region, pixels))
}

#[test]
fn no_handle_is_left_after_good_and_bad_pictures() {
    let photo = crate::sample::photograph(0, 60, 50);
    let limits = Limits::default();
    assert_eq!(LIVE_HANDLES.get(), 0);
    {
        let mut reader = TurboReader::default();
        assert_eq!(LIVE_HANDLES.get(), 1);
        read(begin(&mut reader, &photo, &limits, Scale::Full, None)).unwrap();
        assert!(reader.open(&photo[..30], &limits, Instant::now()).is_err());
        drop(reader.open(&photo, &limits, Instant::now()).unwrap());
        let half = &photo[..photo.len() / 2];
        assert_eq!(read(begin(&mut reader, half, &limits, Scale::Full, None)), Err(Fault::Truncated));
    }
    assert_eq!(LIVE_HANDLES.get(), 0);
}

/// What is decoded of a picture, or why nothing is: with and without the rows above and the columns beside.
fn outcome(reader: &mut TurboReader, bytes: &[u8], scale: Scale, cut: bool) -> Result<(Rect, Vec<u8>), Fault> {
    let limits = Limits { scans: 8, ..Limits::default() };
    let open = reader.open(bytes, &limits, Instant::now())?;
    let (width, height) = open.size();
    let (width, height) = (scale.side(width), scale.side(height));
    let part = Rect { left: width / 3, top: height / 3, width: width.div_ceil(3), height: height.div_ceil(3) };
    read(open.begin(scale, (width, height), if cut { part } else { Rect::whole(width, height) })?)
}

/// Pictures of every kind, whole and damaged, tables left out among them, with whether parts can be decoded.
fn all_kinds() -> Vec<(Vec<u8>, bool)> {
    use JpegColors::{Cmyk, Gray, Rgb, YCbCr, Ycck};
    let mut kinds = Vec::new();
    for (number, colors) in [Gray, YCbCr, Rgb, Cmyk, Ycck].into_iter().enumerate() {
        for (progressive, arithmetic) in [(false, false), (true, false), (false, true)] {
            let quality = 40 + 10 * u32::try_from(number).unwrap();
            let form = JpegForm { colors, progressive, arithmetic, quality, restart_rows: 1, ..JpegForm::default() };
            let (width, height) = (90 + 7 * quality, 60);
            let pixels = photograph_rgb(1, width, height).into_iter().cycle();
            let pixels: Vec<u8> = pixels.take((width * height) as usize * form.channels()).collect();
            let bytes = form.encode(&pixels, width, height).unwrap();
            let parts = !progressive && !arithmetic;
            let without = |code: u8| {
                let mut bytes = bytes.clone();
                while let Some(at) = bytes.windows(2).position(|pair| pair == [0xFF, code]) {
                    bytes.drain(at..at + 2 + usize::from(u16::from_be_bytes([bytes[at + 2], bytes[at + 3]])));
                }
                (bytes, parts)
            };
            let mut noise = bytes.clone();
            let half = noise.len() / 2;
            noise[half..half + 40].fill(0xFF);
            let damaged = [bytes[..half].to_vec(), bytes[..30].to_vec(), noise].map(|bytes| (bytes, parts));
            kinds.extend([without(0xC4), without(0xDB), (bytes, parts)].into_iter().chain(damaged));
        }
    }
    kinds
}

/// The state of libjpeg is made once; no picture may find anything in it of those before, however they ended.
#[test]
fn a_picture_gives_the_same_pixels_or_fault_whatever_was_decoded_before() {
    let kinds = all_kinds();
    let fresh = |bytes: &[u8], scale, cut| outcome(&mut TurboReader::default(), bytes, scale, cut);
    let mut reader = TurboReader::default();
    let (mut good, mut bad) = (0, 0);
    for number in 0..1500 {
        let draws = Draw { seed: 5, epoch: 0, record: number }.at(0);
        let (bytes, parts) = &kinds[draws.below(0, u32::try_from(kinds.len()).unwrap()) as usize];
        let (scale, cut) = (SCALES[draws.below(1, 4) as usize], *parts && draws.below(2, 2) == 0);
        let ours = outcome(&mut reader, bytes, scale, cut);
        *if ours.is_ok() { &mut good } else { &mut bad } += 1;
        assert!(ours == fresh(bytes, scale, cut), "picture {number}");
    }
    assert!(good > 400 && bad > 400, "{good} good, {bad} bad");
    assert_eq!(LIVE_HANDLES.get(), 1);
}

/// Regions of odd-sized pictures in every sampling and scale: their pixels are those of the whole decode.
#[test]
fn rule_30_a_region_equals_the_same_cut_of_a_whole_decode() {
    let samplings = [[1, 1], [2, 1], [2, 2], [1, 2], [4, 1], [1, 4], [4, 2], [2, 4], [3, 1], [1, 3]];
    let forms = samplings.map(|sampling| JpegForm { sampling, ..JpegForm::default() });
    let gray = JpegForm { colors: JpegColors::Gray, ..JpegForm::default() };
    let cmyk = JpegForm { colors: JpegColors::Ycck, ..JpegForm::default() };
    for form in forms.into_iter().chain([gray, cmyk]) {
        for (width, height, restart_rows) in [(131, 97, 0), (64, 64, 1), (33, 150, 0), (7, 5, 0)] {
            let form = JpegForm { restart_rows, ..form };
            let pixels: Vec<u8> = photograph_rgb(1, width, height)
                .into_iter()
                .cycle()
                .take(width as usize * height as usize * form.channels())
                .collect();
            let bytes = form.encode(&pixels, width, height).unwrap();
            for scale in SCALES {
                regions_equal_cuts(&bytes, scale, &format!("{form:?} of {width} x {height}"));
            }
        }
    }
}

fn regions_equal_cuts(bytes: &[u8], scale: Scale, name: &str) {
    let limits = Limits::default();
    let mut reader = TurboReader::default();
    let (Rect { width, height, .. }, whole) = read(begin(&mut reader, bytes, &limits, scale, None)).unwrap();
    let channels = whole.len() / (width as usize * height as usize);
    for number in 0..150 {
        let draws = Draw { seed: 0, epoch: 0, record: number }.at(0);
        let (left, top) = (draws.below(0, width), draws.below(1, height));
        let (wide, high) = (1 + draws.below(2, width - left), 1 + draws.below(3, height - top));
        let part = Rect { left, top, width: wide, height: high };
        let (region, ours) = read(begin(&mut reader, bytes, &limits, scale, Some(part))).unwrap();
        assert!(region.left <= left && region.left + region.width >= left + wide);
        assert_eq!((region.top, region.height), (top, high));
        for row in 0..high {
            let pixels = |pixels: &[u8], at: u32| pixels[at as usize * channels..][..wide as usize * channels].to_vec();
            let ours = pixels(&ours, row * region.width + left - region.left);
            assert!(ours == pixels(&whole, (top + row) * width + left), "{name}, {scale:?}: row {row} of {part:?}");
        }
    }
}

#[test]
fn the_time_limit_counts_what_was_spent_before() {
    let photo = crate::sample::photograph(0, 500, 375);
    let limit = Duration::from_secs(5);
    let limits = Limits { time: Some(limit), ..Limits::default() };
    let mut reader = TurboReader::default();
    let begun = Instant::now().checked_sub(limit).unwrap();
    let whole = |open: OpenPicture<'_>| {
        let (width, height) = open.size();
        open.begin(Scale::Full, (width, height), Rect::whole(width, height)).and_then(read).map(drop)
    };
    let spent = reader.open(&photo, &limits, begun).and_then(whole);
    assert_eq!(spent, Err(Fault::TooSlow { limit }));
}

#[test]
fn the_reason_of_a_damaged_picture_is_libjpegs() {
    let fault = TurboReader::default().open(b"\xFF\xD8\xFF\xD9", &Limits::default(), Instant::now()).err();
    let Some(Fault::Corrupt { reason }) = fault else { panic!("{fault:?}") };
    assert!(reason.contains("JPEG"), "{reason}");
}
