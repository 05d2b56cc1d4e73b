/* The first launch makes of all pictures that were decoded together what a trainer reads: colours at full resolution as libjpeg
 * makes them, EXIF orientation, cut, resize, mirror, changes of values, normalisation, type and layout. Each further launch is a
 * round of those pictures whose operations need other pixels or statistics of what the round before has made. What a pixel is
 * made of was worked out by the host (pixels/src/composition.rs). Plain C, which compilers for GPUs and for CPUs take alike
 * (decision 0008): no headers but its own, no shared memory, no thread that waits for another. */

#define BITS 22 /* of a weight, after the point */
#define ROUND (1 << (BITS - 1))
#define TILE 8 /* pixels of the second sum that a thread makes */

#include "picture.h"

#include "changes.h"
#include "moves.h"

/* A colour difference at the picture's resolution: three parts of the nearer sample and one of the other, along each side that
 * is halved. libjpeg does that for these three samplings, and repeats samples for others and across planes of two columns. */
__device__ static int chroma(const struct picture *picture, int plane, int x, int y)
{
    int near_x = x / (int)picture->across, near_y = y / (int)picture->down;
    int halved = picture->across == 2 && picture->chroma_width > 2;
    int far_x = clamped(x & 1 ? near_x + 1 : near_x - 1, (int)picture->chroma_width - 1);
    int far_y = clamped(y & 1 ? near_y + 1 : near_y - 1, (int)picture->chroma_height - 1);
    int near_sample = sample(picture, plane, near_x, near_y);

    if (halved && picture->down == 1)
        return (3 * near_sample + sample(picture, plane, far_x, near_y) + (x & 1 ? 2 : 1)) >> 2;
    if (picture->across == 1 && picture->down == 2)
        return (3 * near_sample + sample(picture, plane, near_x, far_y) + (y & 1 ? 2 : 1)) >> 2;
    if (halved && picture->down == 2) {
        int near_column = 3 * near_sample + sample(picture, plane, near_x, far_y);
        int far_column = 3 * sample(picture, plane, far_x, near_y) + sample(picture, plane, far_x, far_y);
        return (3 * near_column + far_column + (x & 1 ? 7 : 8)) >> 4;
    }
    return near_sample;
}

/* Red, green, blue of a pixel as seen; JFIF's colours in libjpeg's fixed point. */
__device__ static void pixel(const struct picture *picture, int column, int row, int *rgb)
{
    int x = picture->x[0] + picture->x[1] * column + picture->x[2] * row;
    int y = picture->y[0] + picture->y[1] * column + picture->y[2] * row;
    int first = sample(picture, 0, x, y);

    if (picture->colours == YCC) {
        int cb = chroma(picture, 1, x, y) - 128, cr = chroma(picture, 2, x, y) - 128;
        rgb[0] = clamped(first + ((91881 * cr + 32768) >> 16), 255);
        rgb[1] = clamped(first + ((-22554 * cb - 46802 * cr + 32768) >> 16), 255);
        rgb[2] = clamped(first + ((116130 * cb + 32768) >> 16), 255);
    } else {
        rgb[0] = first;
        rgb[1] = picture->colours == RGB ? sample(picture, 1, x, y) : first;
        rgb[2] = picture->colours == RGB ? sample(picture, 2, x, y) : first;
    }
}

__device__ static void begin(number *sums, int in_floats)
{
    for (int channel = 0; channel < 3; channel++) {
        if (in_floats)
            sums[channel].real = 0;
        else
            sums[channel].whole = ROUND;
    }
}

__device__ static void add(number *sums, number weight, const number *values, int in_floats)
{
    for (int channel = 0; channel < 3; channel++) {
        if (in_floats)
            sums[channel].real += weight.real * values[channel].real;
        else
            sums[channel].whole += weight.whole * values[channel].whole;
    }
}

/* A byte of a sum: whole numbers after either sum, floats after the second, to the nearest, ties to even. */
__device__ static int ended(number sum, int in_floats)
{
    return clamped(in_floats ? (int)rintf(sum.real) : sum.whole >> BITS, 255);
}

/* To nearest, ties to even: what a cut of the lower bits adds before it. */
__device__ static unsigned int half_to_even(unsigned int bits, int cut)
{
    return ((1u << (cut - 1)) - 1) + ((bits >> cut) & 1);
}

__device__ static unsigned int bits_of(float value)
{
    union {
        float value;
        unsigned int bits;
    } both;
    both.value = value;
    return both.bits;
}

/* IEEE half precision of a number, to nearest, ties to even; too large ones are infinite. */
__device__ static unsigned short half_of(float value)
{
    unsigned int bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude >= 0x477ff000)
        return (unsigned short)(sign | 0x7c00);
    if (magnitude >= 0x38800000)
        return (unsigned short)(sign | (magnitude - 0x38000000 + half_to_even(magnitude, 13)) >> 13);
    if (magnitude < 0x33000000)
        return (unsigned short)sign;
    /* Below the smallest normal number the exponent stands still, and the leading one is written. */
    int cut = 126 - (int)(magnitude >> 23);
    unsigned int digits = (magnitude & 0x7fffff) | 0x800000;
    return (unsigned short)(sign | (digits + half_to_even(digits, cut)) >> cut);
}

__device__ static void put(const struct picture *picture, unsigned int column, unsigned int row, const int *rgb)
{
    address width = picture->columns.side, pixels = width * picture->rows.side;
    address at = row * width + (picture->mirrored ? width - 1 - column : column);

    for (int channel = 0; channel < 3; channel++) {
        address place = picture->by_planes ? channel * pixels + at : at * 3 + channel;
        float normal = ((float)rgb[channel] / 255.0f - picture->mean[channel]) / picture->deviation[channel];
        switch (picture->element) {
        case UINT8:
            ((byte *)picture->out)[place] = (byte)rgb[channel];
            break;
        case FLOAT16:
            ((unsigned short *)picture->out)[place] = half_of(normal);
            break;
        case BFLOAT16:
            ((unsigned short *)picture->out)[place] =
                (unsigned short)((bits_of(normal) + half_to_even(bits_of(normal), 16)) >> 16);
            break;
        default:
            ((float *)picture->out)[place] = normal;
        }
    }
}

/* Changes a pixel, counts it for the next round, and puts it where it belongs. */
__device__ static void finish(const struct picture *picture, unsigned int column, unsigned int row, int *rgb)
{
    const struct change *changes = (const struct change *)picture->changes;
    unsigned int *count = (unsigned int *)picture->count;

    for (unsigned int number = 0; number < picture->change_count; number++)
        apply(picture, changes + number, column, row, rgb);
    if (picture->counting == GRAYS)
        atomicAdd(count + gray_of(rgb, (int)picture->in_floats), 1u);
    if (picture->counting == VALUES)
        for (int channel = 0; channel < 3; channel++)
            atomicAdd(count + 256 * channel + rgb[channel], 1u);
    put(picture, column, row, rgb);
}

__device__ static const number *taps_of(const struct pass *pass, unsigned int at)
{
    return (const number *)pass->taps + (address)(at - pass->begin) * pass->stride;
}

__device__ static int gives(const struct pass *pass, unsigned int at)
{
    return at >= pass->begin && at - pass->begin < pass->len;
}

/* The first sum at `at`, over pixels that stand at `across` in the other direction. */
__device__ static void first_sum(const struct picture *picture, const struct pass *pass, unsigned int at, int across,
                                 number *sums, int in_floats)
{
    const number *taps = taps_of(pass, at);
    begin(sums, in_floats);
    for (int tap = 0; tap < taps[1].whole; tap++) {
        int along = taps[0].whole + tap, rgb[3];
        number values[3];
        pixel(picture, picture->down_first ? across : along, picture->down_first ? along : across, rgb);
        for (int channel = 0; channel < 3; channel++) {
            if (in_floats)
                values[channel].real = (float)rgb[channel];
            else
                values[channel].whole = rgb[channel];
        }
        add(sums, taps[2 + tap], values, in_floats);
    }
    for (int channel = 0; channel < 3 && !in_floats; channel++)
        sums[channel].whole = ended(sums[channel], 0);
}

/* Pixels of the result: at `at` in the direction of the first sum, and from `from` to `to` in that of the second. Each first
 * sum is made once and goes into all of them that it belongs to. */
__device__ static void tile(const struct picture *picture, unsigned int at, unsigned int from, unsigned int to,
                            int in_floats)
{
    const struct pass *first = picture->down_first ? &picture->rows : &picture->columns;
    const struct pass *second = picture->down_first ? &picture->columns : &picture->rows;
    number sums[TILE][3];
    int lowest = 0x7fffffff, highest = 0;

    for (int place = 0; place < TILE; place++) {
        begin(sums[place], in_floats);
        if (gives(first, at) && from + place < to && gives(second, from + place)) {
            const number *taps = taps_of(second, from + place);
            int past = taps[0].whole + taps[1].whole;
            lowest = taps[0].whole < lowest ? taps[0].whole : lowest;
            highest = past > highest ? past : highest;
        }
    }
    for (int across = lowest; across < highest; across++) {
        number values[3];
        first_sum(picture, first, at, across, values, in_floats);
        for (int place = 0; place < TILE; place++) {
            if (from + place < to && gives(second, from + place)) {
                const number *taps = taps_of(second, from + place);
                int tap = across - taps[0].whole;
                if (tap >= 0 && tap < taps[1].whole)
                    add(sums[place], taps[2 + tap], values, in_floats);
            }
        }
    }
    for (int place = 0; place < TILE; place++) {
        if (from + place < to) {
            int made = gives(first, at) && gives(second, from + place), rgb[3];
            for (int channel = 0; channel < 3; channel++)
                rgb[channel] = made ? ended(sums[place][channel], in_floats) : (int)picture->fill;
            finish(picture, picture->down_first ? from + place : at, picture->down_first ? at : from + place, rgb);
        }
    }
}

/* Pixels of a round after the first: of a column, from one row to another. */
__device__ static void strip(const struct picture *picture, unsigned int column, unsigned int from, unsigned int to)
{
    for (unsigned int row = from; row < to; row++) {
        int rgb[3];
        if (picture->source == OWN)
            nearest_pixel(picture, (int)column, (int)row, rgb);
        else if (picture->source == SMOOTHED)
            smoothed(picture, (int)column, (int)row, rgb);
        else if (picture->source == BLURRED)
            blurred(picture, (int)column, (int)row, rgb);
        else if (picture->source == BOXED)
            boxed(picture, (int)column, (int)row, rgb);
        else
            moved(picture, column, row, rgb);
        finish(picture, column, row, rgb);
    }
}

/* Blocks: as many as the picture with the most tiles needs, times pictures. Within the bounds, operations take no registers from
 * pictures without any. */
#ifdef __cplusplus
extern "C"
#endif
__global__ void __launch_bounds__(128, 5) forebay_compose(const struct picture *pictures)
{
    const struct picture *picture = pictures + blockIdx.y;
    unsigned int along = picture->down_first ? picture->rows.side : picture->columns.side;
    unsigned int across = picture->down_first ? picture->columns.side : picture->rows.side;
    unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int at = thread % along, from = thread / along * TILE;

    if (from < across) {
        unsigned int to = from + TILE < across ? from + TILE : across;
        if (picture->source != SUMS)
            strip(picture, at, from, to);
        else if (picture->in_floats)
            tile(picture, at, from, to, 1);
        else
            tile(picture, at, from, to, 0);
    }
}
