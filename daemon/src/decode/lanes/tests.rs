//! The pool with GPU lanes, on the fake GPU: the same pixels on every lane, one verdict, and a share for each.

use crossbeam_channel as channel;
use forebay_fake_gpu::{Count, Fake, Knob};
use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_pixels::{Draw, Limits, Recipe};

use super::*;
use crate::config::quantity::ByteSize;
use crate::decode::budget::Budget;
use crate::decode::cpu::CpuLane;
use crate::decode::{Done, Job, LaneReport, Pool};
use crate::prefetch::Buffer;
