/* What the host says of a picture and of a round, and what all parts of the kernel need. */

enum { GRAY, YCC, RGB };
enum { UINT8, FLOAT16, BFLOAT16, FLOAT32 };
/* Where a round takes its pixels from: the sums of the first one, the picture of the round before as it is, or smoothed,
 * blurred (by a Gaussian kernel, or by a box along one direction), or moved. Pillow moves by steps in whole numbers, by steps in floats, or by a place for each pixel; torch by such places
 * too, and by places in single precision for nearest pixels. */
enum { SUMS, OWN, SMOOTHED, BLURRED, BOXED, WHOLE_STEPS, STEPS, PLACES, TORCH_PLACES, TORCH_NEAREST, TORCH_NEAREST_PROJECTED };
enum { NEAREST, BILINEAR, BICUBIC };
/* What is done with the values of a pixel. The last three need statistics of the round before. */
enum { TABLE, SATURATION, GRAYED, HUE, GAINS, ERASED, CONTRAST, AUTOCONTRAST, EQUALIZED };
/* What a round counts for the next one: nothing, each channel's values, or grays. */
enum { UNCOUNTED, VALUES, GRAYS };

typedef unsigned char byte;
typedef unsigned long long address;

/* A value or a weight: whole numbers as Pillow has them, or floats. */
typedef union {
    int whole;
    float real;
} number;

/* For each pixel of a part of the result, which pixels it is made of: their first, their count, and a weight for each. */
struct pass {
    address taps;
    unsigned int stride; /* numbers from one pixel's to the next's */
    unsigned int begin;  /* where the part begins in the result */
    unsigned int len;
    unsigned int side; /* of the result */
};

/* Something done with each pixel. cuda/src/compose/changes.rs has the same. */
struct change {
    unsigned int what;
    unsigned int value;            /* a turn of the hue, or red, green and blue from the lowest bits up */
    unsigned int rows[2], columns[2]; /* of a rectangle: from and to */
    unsigned int table;            /* bytes from the first change to its table */
    float factor, rest;
};

/* Where moved pixels come from: a pixel (x, y) shows the place of column[0] * x + column[1] * y + column[2], and so on, each
 * divided by the sum of depth and 1. And what other rounds have in its place. cuda/src/compose/places.rs has the same. */
struct places {
    double column[3], row[3], depth[2];
    double fill[3];
    float near_column[3], near_row[3], near_depth[2]; /* what torch has in their places for nearest pixels */
    float half[2], to_half[2];                        /* half the sides of the picture and of the result */
    unsigned int filter;
    unsigned int filled; /* whether there is a fill: red, green and blue from the lowest bits up */
    unsigned int fill_bytes;
    float factor; /* of sharpness */
    unsigned int reach[2]; /* weights of a blur on either side of the middle one, along the rows and down the columns */
    unsigned int whole, end; /* weights of a box's values, and of those at its ends, with 24 bits after the point */
};

/* A picture, and what is made of it in a round. cuda/src/compose/picture.rs has the same. */
struct picture {
    address planes[3]; /* of their first samples */
    address out;
    struct pass columns, rows;
    address changes; /* as many as `change_count` says, and then their tables */
    address places;
    address seen;  /* what the round before has counted: 256 numbers for each channel, or for grays */
    address count; /* where this round counts */
    unsigned int pitches[3];
    unsigned int step; /* bytes from sample to sample of a row */
    unsigned int colours;
    unsigned int across, down; /* pixels that share a sample of the colour differences */
    unsigned int chroma_width, chroma_height;
    int x[3], y[3]; /* of the stored pixel: a constant, times the column as seen, times the row as seen */
    unsigned int down_first;
    unsigned int in_floats; /* weights and values up to the second sum are floats, not whole numbers and bytes */
    unsigned int element;
    unsigned int by_planes; /* three planes, not pixels of three values */
    unsigned int fill;
    unsigned int source;
    unsigned int change_count;
    unsigned int counting;
    unsigned int mirrored; /* the result, after the changes */
    float mean[3], deviation[3];
};

typedef char the_host_has_the_same_sizes[sizeof(struct pass) == 24 && sizeof(struct change) == 36 &&
                                                 sizeof(struct places) == 168 && sizeof(struct picture) == 232
                                             ? 1
                                             : -1];

__device__ static int clamped(int value, int most)
{
    int below = value > most ? most : value;
    return below < 0 ? 0 : below;
}

__device__ static int sample(const struct picture *picture, int plane, int x, int y)
{
    address row = picture->planes[plane] + (address)y * picture->pitches[plane];
    return ((const byte *)row)[(address)x * picture->step];
}

/* Samples of a plane that stand beside each other, with so many bytes before the first. No plane has more bytes than 32 bits
 * count, and both planes of colour differences have the same pitch. */
__device__ static const byte *samples(const struct picture *picture, int plane, unsigned int before)
{
    return (const byte *)picture->planes[plane] + before;
}

/* As a cast of Rust cuts floats off: below the point, at 0 and at 255. What is no number is 0. */
__device__ static int cut(float value)
{
    return value >= 255.0f ? 255 : value > 0.0f ? (int)value : 0;
}

__device__ static int cut_double(double value)
{
    return value >= 255.0 ? 255 : value > 0.0 ? (int)value : 0;
}
