//! Masks that are arrays of `NumPy`: their types, their orders, and what is refused.

use super::*;

/// A file as `numpy.save` writes it.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let len = u16::try_from(header.len() + 1).unwrap();
    [b"\x93NUMPY\x01\0", &len.to_le_bytes()[..], header.as_bytes(), b"\n", data].concat()
}

fn array(of: &str, is_fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    file(&format!("{{'descr': '{of}', 'fortran_order': {order}, 'shape': {shape}, }}"), data)
}

/// The numbers of a mask of 4 x 3, by rows, in this many little-endian bytes each.
fn bytes(numbers: &[i64], size: usize) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()[..size].to_vec()).collect()
}

/// With a border of -1 on the right of each row.
fn bordered(numbers: &[i64], size: usize) -> Vec<u8> {
    numbers.chunks(4).flat_map(|row| bytes(&[row, &[-1]].concat(), size)).collect()
}

#[test]
fn rule_45_numbers_of_an_array_keep_their_value_in_every_type_that_holds_them() {
    let small: Vec<i64> = (0..12).map(|number| number * 19).collect();
    let signed: Vec<i64> = (0..12).map(|number| number * 9 - 50).collect();
    for (of, size, numbers, least) in [
        ("|u1", 1, &small, MaskDepth::U8),
        ("<u2", 2, &small, MaskDepth::U16),
        ("|i1", 1, &signed, MaskDepth::I32),
        ("<i2", 2, &signed, MaskDepth::I32),
        ("<u4", 4, &small, MaskDepth::I32),
        ("<i4", 4, &signed, MaskDepth::I32),
        ("<i8", 8, &signed, MaskDepth::I32),
        ("<u8", 8, &small, MaskDepth::I32),
    ] {
        let data = bytes(numbers, size);
        let columns: Vec<i64> = (0..12).map(|at| numbers[at % 3 * 4 + at / 3]).collect();
        let mut swapped = data.clone();
        swapped.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        let files = [
            array(of, false, "(3, 4)", &data),
            array(of, false, "(1, 3, 4)", &data),
            array(of, false, "(3, 4, 1)", &data),
            array(of, true, "(3, 4)", &bytes(&columns, size)),
            array(&of.replace('<', ">"), false, "(3, 4)", &swapped),
        ];
        for depth in [MaskDepth::U8, MaskDepth::U16, MaskDepth::I32] {
            for (layout, file) in files.iter().enumerate() {
                let found = decoded(file, depth, -1);
                if depth.size() >= least.size() {
                    assert_eq!(found.unwrap(), bordered(numbers, depth.size()), "{of}, layout {layout}");
                } else {
                    let words = found.unwrap_err().to_string();
                    assert!(words.contains(&of[1..2]) && words.contains(depth.name()), "{words}");
                }
            }
        }
    }
    let truths: Vec<i64> = (0..12).map(|number| i64::from(number % 5 == 2)).collect();
    let file = array("|b1", false, "(3, 4)", &bytes(&truths, 1));
    assert_eq!(decoded(&file, MaskDepth::U8, 7).unwrap()[..6], [0, 0, 1, 0, 7, 0]);
}

#[test]
fn rule_45_an_array_follows_its_picture_as_a_png_of_the_same_numbers_does() {
    let transforms = || {
        vec![
            Transform::CenterCrop(CenterCrop { size: Size::HeightWidth([5, 7]) }),
            Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(1.0)),
            Transform::Resize(Resize { size: Size::HeightWidth([8, 9]), interpolation: Interpolation::Bilinear }),
        ]
    };
    let numbers: Vec<i64> = (0..11 * 8).map(|at| i64::from(number(at % 11, at / 11))).collect();
    let recipe = Recipe::new(transforms(), Output::default()).unwrap();
    let origin = Origin::of_recipe((11, 8), Orientation::AsStored, &recipe);
    let order = MaskOrder { origin: &origin, recipe: &recipe, draw: DRAW, annotated: Annotated::AsSeen, fill: 255 };
    let made = |mask: &[u8]| {
        let mut out = vec![9; 72];
        MaskDecoder::default().decode(mask, MaskDepth::U8, &order, &Limits::default(), &mut out).unwrap();
        out
    };
    assert_eq!(made(&array("|u1", false, "(8, 11)", &bytes(&numbers, 1))), made(&mask_png(11, 8, number)));
}

#[test]
fn an_array_that_is_no_mask_of_its_picture_is_refused_by_name() {
    let words = |file: &[u8]| decoded(file, MaskDepth::I32, 0).unwrap_err().to_string();
    let zeros = [0; 96];
    assert!(words(&array("<f4", false, "(3, 4)", &zeros[..48])).contains("whole numbers"));
    assert!(words(&array("|O", false, "(3, 4)", &zeros[..96])).contains("whole numbers"));
    assert!(words(&array("|u1", false, "(4, 3)", &zeros[..12])).contains("(3, 4) pixels (width, height)"));
    assert!(words(&array("|u1", false, "(3, 4, 3)", &zeros[..36])).contains("[height, width]"));
    assert!(words(&array("|u1", false, "(3, 4)", &zeros[..11])).contains("11 bytes are behind its header"));
    assert!(words(&array("<u8", false, "(4294967295, 4294967295)", &[])).contains("0 bytes"));
    let mut large = zeros;
    large[40..48].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(words(&array("<u8", false, "(3, 4)", &large)).contains("does not fit"));
    large[40..48].copy_from_slice(&(-3_000_000_000_i64).to_le_bytes());
    assert!(words(&array("<i8", false, "(3, 4)", &large)).contains("-3000000000"));
    let good = array("|u1", false, "(3, 4)", &zeros[..12]);
    for end in 6..good.len() {
        assert!(words(&good[..end]).contains("its array is no mask"), "{end}");
    }
    let limit = Limits { pixels: 11, ..Limits::default() };
    let recipe = Recipe::evaluation(8).unwrap();
    let origin = Origin::of_recipe((4, 3), Orientation::AsStored, &recipe);
    let order = MaskOrder { origin: &origin, recipe: &recipe, draw: DRAW, annotated: Annotated::AsSeen, fill: 0 };
    let refused = MaskDecoder::default().decode(&good, MaskDepth::U8, &order, &limit, &mut [0; 64]).unwrap_err();
    assert_eq!(refused, MaskFault::TooLarge { pixels: 12, limit: 11 });
}

proptest! {
    #[test]
    fn any_header_is_an_array_or_an_error(header in "[ '{}():,a-z0-9<>|]{0,60}", data in prop::collection::vec(any::<u8>(), 0..40)) {
        let _numbers = decoded(&file(&header, &data), MaskDepth::I32, 0);
    }
}
