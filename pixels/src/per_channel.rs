//! Numbers that each channel of a picture may have of its own.

use serde::Deserialize;

/// One number, or one for each channel. In settings, a list of equal numbers is one number.
///
/// ```
/// use forebay_pixels::PerChannel;
///
/// let means: PerChannel = serde_json::from_str("[0.5, 0.5, 0.5]")?;
/// assert_eq!(means, PerChannel::One(0.5));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(from = "InSettings")]
pub enum PerChannel {
    /// The same for all channels.
    One(f32),
    /// For brightness and alpha.
    La([f32; 2]),
    /// For red, green and blue.
    Rgb([f32; 3]),
    /// For red, green, blue and alpha.
    Rgba([f32; 4]),
}

/// As settings have them.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "mean and std must be one number each, or three: red, green and blue. With alpha in the mode they may be two or four"
)]
enum InSettings {
    One(f32),
    OneInList([f32; 1]),
    La([f32; 2]),
    Rgb([f32; 3]),
    Rgba([f32; 4]),
}

impl From<InSettings> for PerChannel {
    fn from(given: InSettings) -> Self {
        let all = match given {
            InSettings::One(value) | InSettings::OneInList([value]) => Self::One(value),
            InSettings::La(numbers) => Self::La(numbers),
            InSettings::Rgb(numbers) => Self::Rgb(numbers),
            InSettings::Rgba(numbers) => Self::Rgba(numbers),
        };
        let first = all.of(0);
        if all.numbers().iter().all(|number| number.to_bits() == first.to_bits()) { Self::One(first) } else { all }
    }
}

impl From<[f32; 3]> for PerChannel {
    fn from(numbers: [f32; 3]) -> Self {
        InSettings::Rgb(numbers).into()
    }
}

impl PerChannel {
    /// All numbers that it has.
    pub fn numbers(&self) -> &[f32] {
        match self {
            Self::One(number) => std::slice::from_ref(number),
            Self::La(numbers) => numbers,
            Self::Rgb(numbers) => numbers,
            Self::Rgba(numbers) => numbers,
        }
    }

    /// The number of a channel. Channels that it has no number for have its last one.
    pub fn of(&self, channel: usize) -> f32 {
        let numbers = self.numbers();
        numbers[channel.min(numbers.len() - 1)]
    }

    /// Those of red, green and blue.
    pub fn rgb(&self) -> [f32; 3] {
        [0, 1, 2].map(|channel| self.of(channel))
    }
}
