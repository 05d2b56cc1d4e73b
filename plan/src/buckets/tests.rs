//! Buckets and assignments, compared with what sd-scripts and diffusers 0.42.1 give.

use proptest::prelude::*;

use super::*;

fn bucket(height: u32, width: u32) -> Bucket {
    Bucket { height, width }
}

/// A picture's height and width, and the height and width of its bucket with enlarging and without.
const KOHYA: [[u32; 6]; 20] = [
    [3137, 2292, 1216, 832, 1152, 832],
    [437, 4542, 256, 2048, 256, 2624],
    [2240, 4014, 768, 1344, 704, 1216],
    [1484, 624, 1536, 640, 1472, 576],
    [3245, 1127, 1664, 576, 1600, 576],
    [2219, 4042, 768, 1344, 704, 1280],
    [4654, 3319, 1216, 832, 1152, 832],
    [4901, 1035, 2048, 448, 2112, 448],
    [307, 2242, 256, 2048, 256, 2240],
    [3543, 1975, 1344, 768, 1216, 704],
    [1691, 2489, 832, 1216, 832, 1216],
    [214, 1283, 320, 2048, 192, 1280],
    [1915, 243, 2048, 256, 1856, 192],
    [1812, 1688, 1088, 960, 1024, 960],
    [3158, 376, 2048, 256, 2688, 320],
    [740, 2968, 512, 2048, 448, 1792],
    [4071, 4142, 1024, 1024, 960, 960],
    [387, 2298, 320, 2048, 384, 2240],
    [4697, 348, 2048, 256, 3392, 256],
    [1682, 582, 1664, 576, 1664, 576],
];

#[test]
fn rule_64_buckets_of_kohya_are_those_of_sd_scripts() {
    let [up, no_upscale] = [false, true].map(|no_upscale| KohyaBuckets::new(1 << 20, 256, 2048, 64, no_upscale));
    assert_eq!(up.buckets().len(), 41);
    let narrow: Vec<String> = up.buckets().iter().take(9).map(Bucket::to_string).collect();
    let expected =
        ["2048x256", "2048x320", "2048x384", "2048x448", "1856x512", "1920x512", "1984x512", "2048x512", "1664x576"];
    assert_eq!(narrow, expected);
    for [height, width, high, wide, low_high, low_wide] in KOHYA {
        let found = |rule: &KohyaBuckets| BucketRule::Kohya(rule.clone()).bucket(height, width);
        assert_eq!(found(&up), Some(bucket(high, wide)), "{height}x{width}");
        assert_eq!(found(&no_upscale), Some(bucket(low_high, low_wide)), "{height}x{width} is not enlarged");
    }
    let of_its_size = BucketRule::Kohya(up).bucket(1920, 512);
    assert_eq!(of_its_size, Some(bucket(1920, 512)), "a picture of a bucket's size has this bucket");
    assert_eq!(BucketRule::Kohya(no_upscale).bucket(63, 500), None, "it is smaller than a step");
}

#[test]
fn rule_64_buckets_of_diffusers_are_those_of_diffusers_and_the_last_of_equal_ones_wins() {
    for (resolution, divisor, expected) in [
        (
            1024,
            16,
            "1024x1024 1152x912 912x1152 1248x832 832x1248 1184x880 880x1184 1360x768 768x1360 1456x720 720x1456",
        ),
        (512, 16, "512x512 576x464 464x576 624x416 416x624 592x448 448x592 688x384 384x688 720x368 368x720"),
        (768, 64, "768x768 832x704 704x832 960x640 640x960 896x640 640x896 1024x576 576x1024 1088x512 512x1088"),
    ] {
        let BucketRule::Diffusers(buckets) = BucketRule::diffusers(resolution, divisor) else { panic!("another rule") };
        assert_eq!(buckets.iter().map(Bucket::to_string).collect::<Vec<_>>().join(" "), expected);
    }
    let rule = BucketRule::diffusers(1024, 16);
    for [height, width, high, wide] in [
        [3137, 2292, 1184, 880],
        [437, 4542, 720, 1456],
        [2240, 4014, 768, 1360],
        [3543, 1975, 1360, 768],
        [1691, 2489, 832, 1248],
        [1336, 789, 1360, 768],
        [1558, 1965, 912, 1152],
        [1000, 1000, 1024, 1024],
        [10, 12, 912, 1152],
    ] {
        assert_eq!(rule.bucket(height, width), Some(bucket(high, wide)), "{height}x{width}");
    }
    let twins = BucketRule::Diffusers(vec![bucket(10, 20), bucket(10, 20), bucket(20, 10), bucket(20, 10)]);
    assert_eq!(twins.bucket(5, 5), Some(bucket(20, 10)), "both differ by as much");
}

#[test]
fn rule_64_a_list_gives_the_nearest_aspect_as_a_quotient_and_the_first_of_equal_ones() {
    let rule = BucketRule::List(vec![bucket(100, 200), bucket(200, 100), bucket(50, 100)]);
    assert_eq!(rule.bucket(10, 10), Some(bucket(100, 200)), "twice as wide and twice as high are equally far");
    assert_eq!(rule.bucket(11, 10), Some(bucket(200, 100)));
    assert_eq!(rule.bucket(1, 9), Some(bucket(100, 200)), "the third one has the aspect of the first");
    assert_eq!((rule.bucket(0, 5), BucketRule::List(vec![]).bucket(5, 5)), (None, None));
}

#[test]
fn rule_64_buckets_are_neighbours_by_aspect_and_sizes_are_read_as_they_are_written() {
    let mut buckets = ["100x300", "300x100", "50x50", "200x200"].map(|text| text.parse::<Bucket>().unwrap());
    buckets.sort_unstable_by(Bucket::by_aspect);
    assert_eq!(buckets.map(|bucket| bucket.to_string()), ["300x100", "50x50", "200x200", "100x300"]);
    for text in ["", "5", "5x", "x5", "0x5", "5x0", "-5x5", "5x5x5", "99999x5", "5 x 5"] {
        assert!(text.parse::<Bucket>().unwrap_err().to_string().contains("832x1216"), "{text}");
    }
}

proptest! {
    #[test]
    fn rule_64_whatever_the_size_a_bucket_is_one_of_the_rule_and_what_is_cut_off_is_a_share(
        height in 1_u32..70_000,
        width in 1_u32..70_000,
        max_pixels in 1_u64..1 << 24,
        (min, max, step) in (0_u32..600, 0_u32..3000, 0_u32..200),
    ) {
        let kohya = KohyaBuckets::new(max_pixels, min, max, step, false);
        for rule in [BucketRule::Kohya(kohya.clone()), BucketRule::Kohya(KohyaBuckets::new(max_pixels, min, max, step, true))] {
            if let Some(found) = rule.bucket(height, width) {
                prop_assert!(found.pixels() > 0 && (0.0..1.0).contains(&found.cut_off(height, width)));
                prop_assert!(found.height % step.max(1) == 0 || kohya.buckets().contains(&found));
            }
        }
        let found = BucketRule::List(kohya.buckets().to_vec()).bucket(height, width);
        let least = kohya.buckets().iter().map(|bucket| bucket.cut_off(height, width)).fold(f64::INFINITY, f64::min);
        // The nearest aspect is the one of which the least is cut off.
        prop_assert!(found.is_none_or(|found| (found.cut_off(height, width) - least).abs() < 1e-12));
    }
}
