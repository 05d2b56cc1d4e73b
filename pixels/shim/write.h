/* Writing JPEG pictures with libjpeg-turbo, for samples and tests. `src/sample/jpeg.rs` declares the same for Rust. */
#ifndef FOREBAY_WRITE_H
#define FOREBAY_WRITE_H

#include <stddef.h>
#include <stdint.h>

enum forebay_jpeg_colors {
    FOREBAY_JPEG_GRAY = 0,  /* 1 byte a pixel in */
    FOREBAY_JPEG_YCBCR = 1, /* 3 bytes a pixel in: red, green, blue */
    FOREBAY_JPEG_RGB = 2,   /* 3 */
    FOREBAY_JPEG_CMYK = 3,  /* 4 */
    FOREBAY_JPEG_YCCK = 4,  /* 4 */
};

struct forebay_jpeg_form {
    uint32_t colors;
    uint32_t quality;      /* 1 to 100 */
    uint32_t sampling[2];  /* horizontal and vertical factor of the first component, 1 to 4 */
    uint32_t progressive;  /* 0 or 1 */
    uint32_t arithmetic;   /* 0 or 1 */
    uint32_t restart_rows; /* MCU rows between restart markers, 0: none */
};

/* Encodes; null if libjpeg refuses or there is no memory. Free the bytes with forebay_jpeg_drop. */
uint8_t *forebay_jpeg_write(const uint8_t *pixels, uint32_t width, uint32_t height,
                            const struct forebay_jpeg_form *form, size_t *len);
void forebay_jpeg_drop(uint8_t *bytes);

#endif
