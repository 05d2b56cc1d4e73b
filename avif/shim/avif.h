/* Decoding the one picture of some AV1 data with dav1d. `src/calls.rs` declares the same functions and structs for Rust; change both
 * together. */
#ifndef FOREBAY_AVIF_H
#define FOREBAY_AVIF_H

#include <stddef.h>
#include <stdint.h>

enum forebay_avif_outcome {
    FOREBAY_AVIF_GOOD = 0,
    FOREBAY_AVIF_CORRUPT = 1,
    FOREBAY_AVIF_NO_PICTURE = 2, /* the data end before a picture does */
    FOREBAY_AVIF_NO_MEMORY = 3, /* the system has none */
    FOREBAY_AVIF_TOO_MUCH_MEMORY = 4, /* dav1d wants more than it may take */
    FOREBAY_AVIF_TOO_LARGE = 5, /* a frame has more pixels than it may have */
};

struct forebay_avif_picture {
    const uint8_t *planes[3]; /* of colour none if there is none */
    size_t strides[2]; /* bytes from row to row, of the first plane and of the others */
    uint32_t width, height;
    uint32_t depth; /* 8, 10 or 12: above 8, a value has two bytes */
    uint32_t layout; /* 0: gray, 1: 4:2:0, 2: 4:2:2, 3: 4:4:4 */
    uint32_t primaries, transfer, matrix, is_full_range; /* as the sequence header has them */
    void *owner; /* for forebay_avif_close */
    size_t memory; /* bytes that dav1d has taken at most */
};

/* Decodes the first picture that the data show. It takes at most `memory` bytes, and frames have at most `pixels` pixels. The planes are
 * there until the picture is closed, in the same thread. */
int forebay_avif_decode(const uint8_t *data, size_t len, uint32_t operating_point, uint32_t pixels, size_t memory,
                        struct forebay_avif_picture *picture);

/* Gives the planes' memory back. */
void forebay_avif_close(void *owner);

#endif
