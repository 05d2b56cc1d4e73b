//! Where the points of a picture are after a plan.

use crate::plan::stage::Frame;
use crate::plan::{Plan, Step};
use crate::point_map::{Line, PointMap, Straight};

/// Adds to a map where the points of a picture of this size, the plan's own, are in the result. It follows the frames that
/// the steps work on, which decide what is decoded, cut and resized too.
pub(crate) fn add_plan(map: &mut PointMap, plan: &Plan, (width, height): (u32, u32), is_of_keypoints: bool) {
    let (mut frame, mut denominator) = (Frame::whole(width, height), 1);
    for (number, step) in plan.steps.iter().enumerate() {
        match *step {
            // It makes the frame smaller; the next step begins at the frame.
            Step::Cut(_) => {}
            Step::Resize { width, height, interpolation } => map.add(frame.resized(width, height, interpolation)),
            Step::Canvas { left, top, .. } => map.add(frame.laid(left, top)),
            Step::Mirror => {
                map.add(frame.laid(0, 0));
                map.add(Straight::of_columns(Line::mirrored(frame.pixels().width)));
            }
            Step::Flip => {
                map.add(frame.laid(0, 0));
                map.add(Straight::of_rows(Line::mirrored(frame.pixels().height)));
            }
            Step::Operate(_) | Step::Turn { .. } => {
                map.add(frame.laid(0, 0));
                let shift = plan.keypoints.before(number).filter(|_| is_of_keypoints);
                if let Some(shift) = shift {
                    map.shift(shift);
                }
            }
        }
        let pixels = frame.pixels();
        if let Some(geometry) = step.geometry((pixels.width, pixels.height)) {
            map.bend(geometry.forward(), geometry.to);
        }
        (frame, denominator) = frame.after(step, denominator);
    }
    map.add(frame.laid(0, 0));
    let columns = if plan.mirrored { Line::mirrored(plan.width) } else { Line::IDENTITY };
    map.add(Straight::of_columns(columns));
    if plan.flipped {
        map.add(Straight::of_rows(Line::mirrored(plan.height)));
    }
    if is_of_keypoints {
        map.shift(plan.keypoints.last);
    }
}
