//! Single forms: other sources than planes, whole pictures, sums in floats and values of each type.

use half::{bf16, f16};

use super::*;

#[test]
fn packed_rgb_gives_what_planes_of_the_same_picture_give() {
    let mut bench = Bench::new();
    for interpolation in FILTERS {
        let (bytes, made, _) = small(interpolation, Dtype::Uint8);
        let rgb = CpuDecoder::new().whole(&bytes, &Limits::default()).unwrap().rgb;
        let planes = bench.decode(&[&bytes])[0];
        let from_planes = bench.compose(&[(planes, &made)]);
        bench.host[..rgb.len()].copy_from_slice(&rgb);
        // SAFETY: both memories are left alone until the next wait.
        unsafe { bench.stream.begin_write(&bench.host, rgb.len(), &bench.surfaces) }.unwrap();
        let packed = Source::rgb(bench.surfaces.at(), 61 * 3);
        let from_rgb = bench.compose(&[(packed, &made)]);
        assert!(from_rgb == from_planes, "{interpolation:?}");
    }
}

#[test]
fn a_whole_picture_is_its_pixels() {
    let mut bench = Bench::new();
    let (bytes, ..) = small(Interpolation::Bilinear, Dtype::Uint8);
    let planes = bench.decode(&[&bytes])[0];
    let made = Composition::whole((61, 47));
    let whole = bench.compose(&[(planes, &made)]);
    assert!(whole[0] == CpuDecoder::new().whole(&bytes, &Limits::default()).unwrap().rgb);
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// Both passes in double precision, in the order that torch has, before anything is rounded: 0 to 255.
fn in_doubles(made: &Composition, rgb: &[u8], width: usize) -> Vec<f64> {
    let height = rgb.len() / 3 / width;
    let (columns, rows) = (made.sums.columns.len(), made.sums.rows.len());
    let mut between = vec![0.0; columns * height * 3];
    let mut column = 0;
    made.sums.columns.each(|first, weights| {
        for row in 0..height {
            for channel in 0..3 {
                let value = |tap: usize| f64::from(rgb[(row * width + first as usize + tap) * 3 + channel]);
                between[(row * columns + column) * 3 + channel] =
                    weights.iter().enumerate().map(|(tap, weight)| weight * value(tap)).sum();
            }
        }
        column += 1;
    });
    let mut result = Vec::with_capacity(columns * rows * 3);
    made.sums.rows.each(|first, weights| {
        for place in 0..columns * 3 {
            let value = |tap: usize| between[(first as usize + tap) * columns * 3 + place];
            result.push(weights.iter().enumerate().map(|(tap, weight)| weight * value(tap)).sum());
        }
    });
    result
}

/// Floats are 2^-24 of themselves off after each operation, which shows where a sum is that close to the middle of two bytes.
#[test]
fn torchs_sums_are_rounded_once_at_the_end_and_cut_off_at_black_and_white_before_any_type() {
    let mut bench = Bench::new();
    for interpolation in [Interpolation::Bilinear, Interpolation::Bicubic] {
        let (bytes, mut made, _) = small(interpolation, Dtype::Uint8);
        made.matched = Match::Torch;
        let single = Composition { output: Output { dtype: Dtype::Float32, ..made.output }, ..made.clone() };
        let rgb = CpuDecoder::new().whole(&bytes, &Limits::default()).unwrap().rgb;
        let planes = bench.decode(&[&bytes])[0];
        let composed = bench.compose(&[(planes, &made), (planes, &single)]);
        for ((byte, float), exact) in composed[0].iter().zip(floats(&composed[1])).zip(in_doubles(&made, &rgb, 61)) {
            let exact = exact.clamp(0.0, 255.0);
            assert!((f64::from(*byte) - exact).abs() < 0.5 + 1e-4, "{interpolation:?}: {byte} for {exact}");
            assert_eq!(float.to_bits(), (f32::from(*byte) / 255.0).to_bits(), "{interpolation:?}: {float} for {byte}");
        }
    }
}

#[test]
fn halves_of_either_kind_are_the_single_precision_rounded_to_even() {
    let mut bench = Bench::new();
    let (bytes, mut made, _) = small(Interpolation::Bicubic, Dtype::Float32);
    let planes = bench.decode(&[&bytes])[0];
    // The last deviations leave half precision its subnormal numbers, no digits at all, and no numbers.
    for deviation in [0.229, 1.0, 3.0e3, 7.0e4, 9.0e6, 1.0e8, 1.0e-4, 3.0e-7] {
        made.normalize = Some(Normalize { mean: [0.485, 0.0, -0.1].into(), std: [deviation; 3].into() });
        let forms = [Dtype::Float32, Dtype::Float16, Dtype::Bfloat16].map(|dtype| {
            let output = Output { dtype, ..made.output };
            Composition { output, ..made.clone() }
        });
        let composed = bench.compose(&forms.each_ref().map(|made| (planes, made)));
        let single = floats(&composed[0]);
        let halves: Vec<u8> = single.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect();
        let brains: Vec<u8> = single.iter().flat_map(|value| bf16::from_f32(*value).to_le_bytes()).collect();
        assert!(composed[1] == halves && composed[2] == brains, "deviation {deviation}");
    }
}
