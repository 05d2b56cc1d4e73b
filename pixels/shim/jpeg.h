/* Reading JPEG pictures with libjpeg-turbo, errors caught on this side of the border: no longjmp leaves this shim.
 * `src/cpu/jpeg/turbo.rs` declares the same functions and structs for Rust; change both together. */
#ifndef FOREBAY_JPEG_H
#define FOREBAY_JPEG_H

#include <stddef.h>
#include <stdint.h>

enum forebay_jpeg_outcome {
    FOREBAY_JPEG_GOOD = 0,
    FOREBAY_JPEG_CORRUPT = 1,     /* forebay_jpeg_message says why */
    FOREBAY_JPEG_TRUNCATED = 2,   /* the data ended before the picture */
    FOREBAY_JPEG_TOO_SLOW = 3,
    FOREBAY_JPEG_TOO_MANY_SCANS = 4,
    FOREBAY_JPEG_UNSUPPORTED = 5, /* a number of components that has no known colours */
    FOREBAY_JPEG_NO_MEMORY = 6,
};

/* What the header says, and what read will give. */
struct forebay_jpeg_header {
    uint32_t width;
    uint32_t height;
    uint32_t channels; /* 1: grey, of a lossless picture; 3: red, green, blue; 4: cyan, magenta, yellow, black as stored */
};

/* A decompressor, made once and used for one picture after the other; between them it keeps a few kilobytes. */
struct forebay_jpeg;

/* Null if there is no memory. */
struct forebay_jpeg *forebay_jpeg_new(void);
void forebay_jpeg_free(struct forebay_jpeg *jpeg);

/* Reads the header, on a new decompressor or after forebay_jpeg_close. `data` must stay valid until forebay_jpeg_close.
 * `time_ns` is the time for this picture, 0 for no limit; `scans` the most scans that are read. */
int forebay_jpeg_open(struct forebay_jpeg *jpeg, const uint8_t *data, size_t len, uint64_t time_ns, uint32_t scans,
                      struct forebay_jpeg_header *header);

/* Starts decoding, each side scaled to 1 / `denominator` (1, 2, 4 or 8); columns and rows are the scaled picture's. Only
 * the blocks of columns `left` to `left + width` and of a chroma sample on either side are decoded; the columns that
 * read will give come back in the same two variables. Less than the whole width may be asked for in sequential pictures of
 * one scan. Once per open. */
int forebay_jpeg_begin(struct forebay_jpeg *jpeg, uint32_t denominator, uint32_t *left, uint32_t *width);

/* Decodes rows `top` to `top + rows`, `channels` bytes for each column that begin gave, one row right after the other.
 * What follows is not read. Once per begin. */
int forebay_jpeg_read(struct forebay_jpeg *jpeg, uint8_t *out, uint32_t top, uint32_t rows);

/* Ends the picture; the decompressor is ready for the next one. After any outcome, any number of times. */
void forebay_jpeg_close(struct forebay_jpeg *jpeg);

/* Why the last call came back with FOREBAY_JPEG_CORRUPT: zero-terminated, valid until the next call. */
const char *forebay_jpeg_message(const struct forebay_jpeg *jpeg);

#endif
