//! The rules compared with tables of what the packages give, and with models in whole numbers.

use proptest::prelude::*;

use super::*;

/// Height and width of pictures.
const SIZES: [(u32, u32); 15] = [
    (1, 1),
    (1000, 1500),
    (480, 640),
    (333, 500),
    (16, 16),
    (17, 16),
    (224, 224),
    (2000, 37),
    (37, 2000),
    (1, 131_072),
    (131_072, 1),
    (97, 101),
    (4032, 3024),
    (600, 601),
    (5, 900),
];

/// Rows and columns of patches for each of [`SIZES`].
type Grids = [(u32, u32); 15];

/// What `timm.data.naflex_transforms.get_image_size_for_seq` (1.0.31) and the `get_image_size_for_max_num_patches` of SigLIP2
/// (transformers 5.24) give for [`SIZES`], in patches: their side, most patches, and rows and columns.
const NAFLEX: [(u32, u32, Grids); 4] = [
    (
        16,
        128,
        [
            (7, 7),
            (9, 14),
            (9, 12),
            (9, 14),
            (11, 11),
            (11, 11),
            (11, 11),
            (64, 2),
            (2, 64),
            (1, 128),
            (128, 1),
            (11, 11),
            (12, 9),
            (11, 11),
            (1, 128),
        ],
    ),
    (
        16,
        576,
        [
            (7, 7),
            (19, 29),
            (21, 27),
            (19, 29),
            (24, 24),
            (25, 23),
            (24, 24),
            (163, 3),
            (3, 163),
            (1, 576),
            (576, 1),
            (24, 24),
            (27, 21),
            (24, 24),
            (2, 288),
        ],
    ),
    (
        16,
        1024,
        [
            (7, 7),
            (26, 39),
            (27, 36),
            (26, 39),
            (32, 32),
            (33, 31),
            (32, 32),
            (217, 4),
            (4, 217),
            (1, 1024),
            (1024, 1),
            (31, 33),
            (36, 27),
            (32, 32),
            (2, 360),
        ],
    ),
    (
        14,
        256,
        [
            (8, 8),
            (13, 19),
            (14, 18),
            (13, 19),
            (16, 16),
            (16, 16),
            (16, 16),
            (109, 2),
            (2, 109),
            (1, 256),
            (256, 1),
            (16, 16),
            (18, 14),
            (16, 16),
            (1, 180),
        ],
    ),
];

/// The same of the `get_aspect_ratio_preserving_size` of Gemma 4, with patches of 16.
const GEMMA4: [(u32, [(u32, u32); 15]); 2] = [
    (
        630,
        [
            (24, 24),
            (18, 30),
            (21, 27),
            (18, 30),
            (24, 24),
            (24, 24),
            (24, 24),
            (183, 3),
            (3, 183),
            (3, 210),
            (210, 3),
            (24, 24),
            (27, 21),
            (24, 24),
            (3, 210),
        ],
    ),
    (
        2520,
        [
            (48, 48),
            (39, 60),
            (42, 57),
            (39, 60),
            (48, 48),
            (51, 48),
            (48, 48),
            (369, 6),
            (6, 369),
            (3, 840),
            (840, 3),
            (48, 51),
            (57, 42),
            (48, 48),
            (3, 672),
        ],
    ),
];

#[test]
fn rule_65_sizes_are_those_of_the_packages() {
    for (side, length, grids) in NAFLEX {
        for (size, (rows, columns)) in SIZES.into_iter().zip(grids) {
            let grid = Some(PatchGrid { rows, columns });
            for rule in [PatchRule::Naflex, PatchRule::Siglip2] {
                assert_eq!(rule.grid(size, side, length), grid, "{size:?} in {length} patches of {side}");
            }
        }
    }
    for (length, grids) in GEMMA4 {
        for (size, (rows, columns)) in SIZES.into_iter().zip(grids) {
            assert_eq!(PatchRule::Gemma4.grid(size, 16, length), Some(PatchGrid { rows, columns }), "{size:?}");
        }
    }
}

/// The largest factor that fits is one at which a side is whole patches: that with so many rows, or so many columns. All in whole
/// numbers. Second is the next larger number of patches in either direction: the search may stop short of one that is too near.
fn largest_by_sides(height: u64, width: u64, side: u64, length: u64) -> (PatchGrid, bool) {
    let mut best: Option<((u64, u64), (u64, u64))> = None;
    for (own, other, is_height) in [(height, width, true), (width, height, false)] {
        for patches in 1..=length {
            // The factor is patches * side / own.
            let across = (patches * other).div_ceil(own);
            let factor = (patches * side, own);
            let is_larger = best.is_none_or(|((a, b), _)| factor.0 * b > a * factor.1);
            if patches * across <= length && factor.0 <= 100 * own && is_larger {
                best = Some((factor, if is_height { (patches, across) } else { (across, patches) }));
            }
        }
    }
    let ((up, down), (rows, columns)) = best.unwrap_or(((100, 1), (1, 1)));
    #[expect(clippy::cast_precision_loss, reason = "a test of nearness")]
    let factor = up as f64 / down as f64;
    let near = |pixels: u64, patches: u64| {
        #[expect(clippy::cast_precision_loss, reason = "a test of nearness")]
        let (pixels, patches, side) = (pixels as f64, patches as f64, side as f64);
        // Another number of patches begins within what the search leaves open.
        (patches - 1.0) * side / pixels > factor - 3e-5
    };
    let is_open = near(height, rows) || near(width, columns) || factor > 100.0 - 3e-5;
    let narrow = |number: u64| u32::try_from(number).unwrap();
    (PatchGrid { rows: narrow(rows), columns: narrow(columns) }, is_open)
}

proptest! {
    #[test]
    fn rule_65_naflex_is_the_largest_size_that_fits(
        (height, width) in (16..3000_u32, 16..3000_u32),
        side in prop::sample::select(vec![8_u32, 14, 16, 32]),
        length in 1..1100_u32,
    ) {
        let grid = PatchRule::Naflex.grid((height, width), side, length).unwrap();
        prop_assert!(grid.tokens() <= length.into() && grid.rows > 0 && grid.columns > 0);
        // A picture that even the largest factor leaves within the room has no side that decides.
        let whole = |pixels: u32| u64::from((100 * pixels).div_ceil(side));
        prop_assume!(whole(height) * whole(width) > length.into());
        let wide = |number: u32| u64::from(number);
        let (expected, is_open) = largest_by_sides(wide(height), wide(width), wide(side), wide(length));
        prop_assert!(is_open || grid == expected, "{grid:?} and not {expected:?}");
    }

    #[test]
    fn rule_65_gemma_4_has_the_area_at_the_pictures_aspect(
        (height, width) in (1..5000_u128, 1..5000_u128),
        length in prop::sample::select(GEMMA4_TOKENS.map(|tokens| tokens * 9).to_vec()),
    ) {
        let narrow = |number: u128| u32::try_from(number).unwrap();
        let grid = PatchRule::Gemma4.grid((narrow(height), narrow(width)), 16, length);
        let (area, most) = (u128::from(length) * 256, u128::from(length) / 9);
        // The square of the number of steps of 48 pixels, without its fraction; a whole square may be missed by a last digit.
        let square = |own: u128, other: u128| area * own / (other * 48 * 48);
        let is_square = |own: u128, other: u128| square(own, other).isqrt().pow(2) * other * 48 * 48 == area * own;
        prop_assume!(!is_square(height, width) && !is_square(width, height));
        let (mut rows, mut columns) = (square(height, width).isqrt(), square(width, height).isqrt());
        if rows == 0 {
            (rows, columns) = (1, (width / height).min(most));
        } else if columns == 0 {
            (rows, columns) = ((height / width).min(most), 1);
        }
        prop_assert_eq!(grid, Some(PatchGrid { rows: 3 * narrow(rows), columns: 3 * narrow(columns) }));
    }
}

#[test]
fn rule_65_gemma_4_has_its_own_numbers_of_patches() {
    assert_eq!(PatchRule::Gemma4.length_problem(2520), None);
    assert!(PatchRule::Gemma4.length_problem(2521).unwrap().contains("630, 1260, 2520, 5040, 10080"));
    assert_eq!(PatchRule::Naflex.length_problem(2521), None);
}
