//! Files that were damaged at random: bytes flipped, cut out, doubled and put elsewhere. Each run has the same damages.

/// Gives `check` the bytes with each of these many damages.
pub(crate) fn each(bytes: &[u8], count: u64, mut check: impl FnMut(&[u8])) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % limit.max(1) as u64).unwrap()
    };
    for _ in 0..count {
        let mut damaged = bytes.to_vec();
        for _ in 0..=below(3) {
            let place = below(damaged.len());
            let end = place + below((damaged.len() - place).min(40));
            match below(5) {
                0 if !damaged.is_empty() => damaged[place] ^= 1 << below(8),
                1 => damaged.truncate(place),
                2 => drop(damaged.drain(place..end)),
                3 => {
                    let piece = damaged[place..end].to_vec();
                    let to = below(damaged.len());
                    damaged.splice(to..to, piece);
                }
                _ if !damaged.is_empty() => damaged[place] = b"0123456789-.,[]{}<>&\"e\n\0\xff"[below(25)],
                _ => {}
            }
        }
        check(&damaged);
    }
}
