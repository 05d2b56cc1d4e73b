//! Random numbers that distinguish one start of something from every other start.

/// A random number from the system. It is never 0, because 0 means "none" in messages.
///
/// # Errors
/// The system has no randomness to give.
pub fn fresh() -> std::io::Result<u64> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(u64::from_le_bytes(bytes) | 1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_starts_have_different_numbers() {
        assert_ne!(super::fresh().unwrap(), super::fresh().unwrap());
    }
}
