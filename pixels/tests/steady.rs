//! A decoder that has made pictures with a recipe allocates nothing any more, whatever the recipe does and however many views
//! it has. libjpeg-turbo, which is C, allocates elsewhere and is not seen here.
#![allow(unsafe_code, reason = "counts what passes by on the way to the system's allocator")]
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use forebay_pixels::document::{NAMED, named_views, read};
use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_pixels::{CpuDecoder, Draw, Limits, Recipe, View, ViewOrder, ViewPlaces};
use serde_json::{Map, Value, json};

thread_local! {
    /// Allocations of this thread.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a count.
struct Counting;

// SAFETY: everything is the system's allocator's; a count without memory of its own changes nothing of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller keeps what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// All named recipes that need one record alone, and those of the published trainings with all that they have.
fn recipes() -> Vec<(String, Recipe, Vec<View>)> {
    let mut given: Vec<Value> =
        NAMED.iter().map(|each| json!({ "name": each.name })).filter(|each| each["name"] != "yolo").collect();
    given.extend([
        json!({ "name": "torchvision_train", "auto_augment": "ta_wide", "random_erase_prob": 0.5 }),
        json!({ "name": "torchvision_train", "auto_augment": "ra" }),
        json!({ "name": "torchvision_train", "auto_augment": "imagenet" }),
        json!({ "name": "torchvision_train", "auto_augment": "augmix" }),
        json!({ "name": "timm_train", "auto_augment": "rand-m9-mstd0.5-inc1", "re_prob": 0.5 }),
        json!({ "name": "timm_train", "auto_augment": "3a" }),
        json!({ "name": "yolo", "mosaic": 0.0, "imgsz": 320 }),
    ]);
    let read = |value: Value| {
        let values = Map::from_iter([("recipe".to_owned(), value.clone())]);
        let first = read(&values, true).unwrap();
        let views = named_views(&values, &first).unwrap();
        (value.to_string(), first, views)
    };
    given.into_iter().map(read).collect()
}

#[test]
fn rule_31_a_recipe_that_was_carried_out_before_allocates_nothing() {
    let jpeg = |(width, height)| JpegForm::default().encode(&photograph_rgb(1, width, height), width, height).unwrap();
    let files = [(500, 375), (375, 500), (640, 480)].map(jpeg);
    let limits = Limits::default();
    for (name, recipe, views) in recipes() {
        let mut decoder = CpuDecoder::new();
        let mut first = vec![0; recipe.place_len()];
        let mut further: Vec<Vec<u8>> = views.iter().map(|view| vec![0; view.recipe.place_len()]).collect();
        let mut further: Vec<&mut [u8]> = further.iter_mut().map(Vec::as_mut_slice).collect();
        let mut all = || {
            for epoch in 0..12 {
                for (record, file) in (0..).zip(&files) {
                    let order = ViewOrder { recipe: &recipe, views: &views, draw: Draw { seed: 5, epoch, record } };
                    let to = ViewPlaces { first: &mut first, further: &mut further };
                    decoder.decode_views((file, None), order, &limits, to).unwrap();
                }
            }
        };
        // Twice, since buffers change places with each other.
        all();
        all();
        let before = COUNT.get();
        all();
        assert_eq!(COUNT.get() - before, 0, "allocations for 36 pictures with {name}");
    }
}
