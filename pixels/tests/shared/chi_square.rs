//! Pearson's chi-square test: whether things happen as often as they should.

/// That each thing was counted about as often as expected. By chance, one of a thousand true expectations is refused.
pub(crate) fn assert_as_often(counts: &[(u32, f64)], what: &str) {
    let found: u32 = counts.iter().map(|(count, _)| count).sum();
    let expected: f64 = counts.iter().map(|(_, expected)| expected).sum();
    assert!((f64::from(found) - expected).abs() < 0.5, "{what}: all are counted: {found} of {expected}");
    assert!(counts.iter().all(|(_, expected)| *expected >= 5.0), "{what}: the test needs five of each");
    let apart = |(count, expected): &(u32, f64)| (f64::from(*count) - expected).powi(2) / expected;
    let distance: f64 = counts.iter().map(apart).sum();
    let freedom = f64::from(u32::try_from(counts.len() - 1).unwrap());
    // Wilson and Hilferty: the cube root is nearly normal, of which a thousandth is beyond 3.09 standard deviations.
    let spread = 2.0 / (9.0 * freedom);
    let most = freedom * (1.0 - spread + 3.09 * spread.sqrt()).powi(3);
    assert!(distance < most, "{what}: {distance:.1} is not below {most:.1}: {counts:?}");
}
