//! Where the restart markers of a scan are.

/// Counts MCUs from one restart marker to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Restarts {
    /// MCUs between two of them; 0 without any.
    pub(crate) interval: u32,
    /// MCUs until the next one, and its number.
    pub(crate) due_in: u32,
    pub(crate) number: u8,
}

impl Restarts {
    /// At the first MCU.
    pub(crate) fn first(interval: u32) -> Self {
        Self { interval, due_in: interval, number: 0 }
    }

    /// Before the MCU with this number. A point where a restart marker is due is before the marker. Without markers, nothing
    /// counts.
    pub(crate) fn at(interval: u32, mcu: u32) -> Self {
        let restarts = mcu.saturating_sub(1).checked_div(interval).unwrap_or(0);
        Self { interval, due_in: (interval * (restarts + 1)).saturating_sub(mcu), number: (restarts % 8) as u8 }
    }

    /// Behind a marker.
    pub(crate) fn passed(self) -> Self {
        Self { due_in: self.interval, number: (self.number + 1) % 8, ..self }
    }
}
