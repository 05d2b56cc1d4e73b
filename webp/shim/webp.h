/* Reading the first picture of a WebP with libwebp. `src/calls.rs` declares the same functions and structs for Rust; change
 * both together. */
#ifndef FOREBAY_WEBP_H
#define FOREBAY_WEBP_H

#include <stddef.h>
#include <stdint.h>

enum forebay_webp_outcome {
    FOREBAY_WEBP_GOOD = 0,
    FOREBAY_WEBP_CORRUPT = 1,
    FOREBAY_WEBP_TRUNCATED = 2, /* the data ended before the picture */
    FOREBAY_WEBP_NO_MEMORY = 3, /* the system has none */
    FOREBAY_WEBP_TOO_MUCH_MEMORY = 4, /* libwebp wants more than it may take */
};

/* What the file says of its canvas and of the first frame on it; a still picture is a frame that fills its canvas. */
struct forebay_webp_head {
    uint32_t canvas[2]; /* width and height */
    uint32_t frame[4];  /* left, top, width, height */
    uint32_t frames;
    uint32_t has_alpha;   /* whether the file says that something is transparent */
    uint32_t is_lossless; /* of the first frame */
    uint32_t frame_has_alpha;
    size_t data[2]; /* where the frame's data begin in the file, and their length */
};

/* A part of a frame. Left and top are even, or else libwebp decodes a part that begins a pixel before. */
struct forebay_webp_part {
    uint32_t left, top, width, height;
};

/* Reads what the file says, and looks whether all of it is there. Takes at most `memory` bytes. */
int forebay_webp_open(const uint8_t *bytes, size_t len, size_t memory, struct forebay_webp_head *head);

/* Decodes a part of a frame, whose data these are, into `out`: `channels` bytes for each pixel, which are 3 for RGB or 4 for
 * RGB with alpha, `stride` bytes from row to row, `out_len` in all. libwebp takes at most `memory` bytes beside it. */
int forebay_webp_read(const uint8_t *data, size_t len, const struct forebay_webp_part *part, uint32_t channels,
                      size_t memory, uint8_t *out, size_t stride, size_t out_len);

#endif
