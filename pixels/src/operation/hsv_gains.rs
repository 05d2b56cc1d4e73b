//! Hue turned, and saturation and value multiplied, as in the training of YOLO.

use serde::{Deserialize, Serialize};

use super::Operation;
use super::blend::factor_problem;
use super::hsv::{FromHsv, ToHsv};
use super::tables::table;
use super::workpiece::Workpiece;
use crate::draw::Draws;

/// All three numbers of the colours changed at once: the hue turned, saturation and value multiplied. The arithmetic is Pillow's,
/// with 8 bits for each number, whatever the recipe matches.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HsvGains {
    /// Part of a full turn, from -1 to 1.
    pub hue: f64,
    /// 0 takes all colours away, 1 leaves the saturation as it is.
    pub saturation: f64,
    /// 0 gives black, 1 leaves the value as it is.
    pub value: f64,
}

/// The random gains of YOLO's training code, with the names of its settings. They change colours as Ultralytics' settings do,
/// but `OpenCV`'s hue has 180 steps, and Pillow's 255, so that single values differ.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomHsv {
    /// How far the hue is turned at most, as a part of a full turn.
    #[serde(default = "default_hue")]
    pub hsv_h: f64,
    /// How far the factor of the saturation is from 1 at most.
    #[serde(default = "default_saturation")]
    pub hsv_s: f64,
    /// How far the factor of the value is from 1 at most.
    #[serde(default = "default_value")]
    pub hsv_v: f64,
}

impl HsvGains {
    pub(super) const IS_LOCAL: bool = true;

    pub(super) fn problem(self) -> Option<String> {
        let hue = self.hue;
        let far = !(-1.0..=1.0).contains(&hue);
        far.then(|| format!("hue is {hue}, but must be from -1 to 1"))
            .or_else(|| factor_problem("saturation", self.saturation))
            .or_else(|| factor_problem("value", self.value))
    }

    /// The turn of the hue, of 256, and what saturations and values become.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "such casts saturate or wrap, which is meant"
    )]
    pub(super) fn tables(self) -> (u8, [u8; 256], [u8; 256]) {
        let turn = (self.hue * 255.0) as i32 as u8;
        let times = |factor: f64| table(|value| (f64::from(value) * factor) as u8);
        (turn, times(self.saturation), times(self.value))
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let (turn, saturations, values) = self.tables();
        work.each_pixel(ToHsv);
        work.map_channels(&[table(|hue| hue.wrapping_add(turn)), saturations, values]);
        work.each_pixel(FromHsv);
    }
}

impl RandomHsv {
    pub(crate) fn problem(&self) -> Option<String> {
        let gains = [("hsv_h", self.hsv_h), ("hsv_s", self.hsv_s), ("hsv_v", self.hsv_v)];
        let wrong = gains.into_iter().find(|(_, gain)| !(0.0..=1.0).contains(gain));
        wrong.map(|(key, gain)| format!("{key} is {gain}, but must be from 0 to 1"))
    }

    pub(crate) fn draw(&self, draws: Draws, _size: (u32, u32), give: &mut dyn FnMut(Operation)) {
        let up_to = |number: u64, gain: f64| draws.between(number, -gain, gain);
        give(Operation::HsvGains(HsvGains {
            hue: up_to(0, self.hsv_h),
            saturation: 1.0 + up_to(1, self.hsv_s),
            value: 1.0 + up_to(2, self.hsv_v),
        }));
    }
}

fn default_hue() -> f64 {
    0.015
}

fn default_saturation() -> f64 {
    0.7
}

fn default_value() -> f64 {
    0.4
}
