/* The first launch makes of all pictures that were decoded together what a trainer reads: colours at full resolution as libjpeg
 * makes them, EXIF orientation, cut, resize, mirror, changes of values, normalisation, type and layout. Each further launch is a
 * round of those pictures whose operations need other pixels or statistics of what the round before has made. What a pixel is
 * made of was worked out by the host (pixels/src/composition.rs). Plain C, which compilers for GPUs and for CPUs take alike
 * (decision 0008): no headers but its own, no shared memory, no thread that waits for another. */

#define BITS 22 /* of a weight, after the point */
#define ROUND (1 << (BITS - 1))
#define TILE 4 /* pixels of the second sum that a thread makes */

#include "picture.h"

#include "changes.h"
#include "moves.h"

/* How a stored pixel becomes red, green and blue: it has one value for all, or three beside each other, or JFIF's colours. Of
 * these, it repeats those that pixels share, or mixes the nearest two across, the nearest two down, or four. */
enum { ONE_VALUE, THREE_VALUES, REPEATED, MIXED_ACROSS, MIXED_DOWN, MIXED };

/* libjpeg mixes for these three samplings, but across planes of two columns. */
__device__ static int form_of(const struct picture *picture)
{
    if (picture->colours != YCC)
        return picture->colours == RGB ? THREE_VALUES : ONE_VALUE;
    if (picture->across == 2)
        return picture->chroma_width <= 2 ? REPEATED : picture->down == 2 ? MIXED : MIXED_ACROSS;
    return picture->down == 2 ? MIXED_DOWN : REPEATED;
}

/* Three parts of the nearer sample and one of the other, along each side that is halved. */
__device__ static void differences(const struct picture *picture, int form, int x, int y, int *cb_cr)
{
    unsigned int pitch = picture->pitches[1], near = (unsigned int)(y >> (picture->down >> 1)) * pitch;
    int other_row = clamped((y >> 1) + ((y & 1) << 1) - 1, (int)picture->chroma_height - 1);
    unsigned int far = (unsigned int)other_row * pitch;
    /* In quarters of a sample. The sample to the left and the next one have four parts. */
    int last = (int)picture->chroma_width - 1, place = clamped(2 * x - 1, 4 * last);
    int left = place >> 2 < last ? place >> 2 : last - 1, parts = place - 4 * left;

    for (int plane = 0; plane < 2; plane++) {
        const byte *line, *other;
        int first, second;
        switch (form) {
        case REPEATED:
            cb_cr[plane] = samples(picture, 1 + plane, near + (unsigned int)(x >> (picture->across >> 1)))[0];
            break;
        case MIXED_DOWN:
            first = samples(picture, 1 + plane, near + (unsigned int)x)[0];
            second = samples(picture, 1 + plane, far + (unsigned int)x)[0];
            cb_cr[plane] = (3 * first + second + 1 + (y & 1)) >> 2;
            break;
        case MIXED_ACROSS:
            line = samples(picture, 1 + plane, near + (unsigned int)left);
            cb_cr[plane] = (line[0] * (4 - parts) + (1 + (x & 1)) + line[1] * parts) >> 2;
            break;
        default:
            line = samples(picture, 1 + plane, near + (unsigned int)left);
            other = samples(picture, 1 + plane, far + (unsigned int)left);
            first = 3 * line[0] + other[0];
            second = 3 * line[1] + other[1];
            cb_cr[plane] = (first * (4 - parts) + (8 - (x & 1)) + second * parts) >> 4;
        }
    }
}

/* Red, green, blue of a stored pixel; JFIF's colours in libjpeg's fixed point. */
__device__ static void pixel(const struct picture *picture, int form, int x, int y, int *rgb)
{
    int first, cb_cr[2];

    if (form == THREE_VALUES) {
        rgb[0] = sample(picture, 0, x, y);
        rgb[1] = sample(picture, 1, x, y);
        rgb[2] = sample(picture, 2, x, y);
        return;
    }
    first = samples(picture, 0, (unsigned int)y * picture->pitches[0] + (unsigned int)x)[0];
    rgb[0] = rgb[1] = rgb[2] = first;
    if (form != ONE_VALUE) {
        differences(picture, form, x, y, cb_cr);
        /* Both are 128 where there is no colour. */
        rgb[0] = clamped(first + ((91881 * cb_cr[1] + (32768 - 128 * 91881)) >> 16), 255);
        rgb[1] = clamped(first + ((-22554 * cb_cr[0] - 46802 * cb_cr[1] + (32768 + 128 * (22554 + 46802))) >> 16), 255);
        rgb[2] = clamped(first + ((116130 * cb_cr[0] + (32768 - 128 * 116130)) >> 16), 255);
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
    address place = picture->by_planes ? at : at * 3, next = picture->by_planes ? pixels : 1;

    if (picture->element == UINT8) {
        for (int channel = 0; channel < 3; channel++)
            ((byte *)picture->out)[place + channel * next] = (byte)rgb[channel];
        return;
    }
    for (int channel = 0; channel < 3; channel++, place += next) {
        float normal = ((float)rgb[channel] / 255.0f - picture->mean[channel]) / picture->deviation[channel];
        switch (picture->element) {
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

    if (picture->change_count) {
        /* Values whose address is taken are in memory, and these alone are. */
        int changed[3] = {rgb[0], rgb[1], rgb[2]};
        for (unsigned int number = 0; number < picture->change_count; number++)
            apply(picture, changes + number, column, row, changed);
        for (int channel = 0; channel < 3; channel++)
            rgb[channel] = changed[channel];
    }
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

/* From a stored pixel to the next: the steps of either direction, for a step across the first sum and for one along it. */
struct walk {
    int across_x, across_y, along_x, along_y;
};

__device__ static struct walk walk_of(const struct picture *picture)
{
    int along = picture->down_first ? 2 : 1, across = 3 - along;
    struct walk walk = {picture->x[across], picture->y[across], picture->x[along], picture->y[along]};
    return walk;
}

/* The first sum over pixels of which the first is stored at x and y. */
__device__ static void first_sum(const struct picture *picture, const number *taps, int x, int y,
                                 const struct walk *walk, number *sums, int form, int in_floats)
{
    const number *weights = taps + 2;

    begin(sums, in_floats);
    for (int count = taps[1].whole; count > 0; count--, weights++, x += walk->along_x, y += walk->along_y) {
        int rgb[3];
        number values[3];
        pixel(picture, form, x, y, rgb);
        for (int channel = 0; channel < 3; channel++) {
            if (in_floats)
                values[channel].real = (float)rgb[channel];
            else
                values[channel].whole = rgb[channel];
        }
        add(sums, *weights, values, in_floats);
    }
    for (int channel = 0; channel < 3 && !in_floats; channel++)
        sums[channel].whole = ended(sums[channel], 0);
}

/* Pixels of the result, red in their lowest bits: at `at` in the direction of the first sum, and from `from` to `to` in that of
 * the second. Each first sum is made once and goes into all of them that it belongs to. */
__device__ static void both_sums(const struct picture *picture, unsigned int at, unsigned int from, unsigned int to,
                                 unsigned int *made, int form, int in_floats)
{
    const struct pass *first = picture->down_first ? &picture->rows : &picture->columns;
    const struct pass *second = picture->down_first ? &picture->columns : &picture->rows;
    const struct walk walk = walk_of(picture);
    unsigned int begins = second->begin, past = begins + second->len < to ? begins + second->len : to;
    const number *taps = taps_of(first, at);
    /* Where the weights of each pixel's sum would begin if they were there for every pixel across. */
    address weights[TILE] = {0};
    number sums[TILE][3];
    int firsts[TILE], counts[TILE], lowest = 0x7fffffff, highest = 0;

    for (int place = 0; place < TILE; place++) {
        begin(sums[place], in_floats);
        firsts[place] = counts[place] = 0;
        if (gives(first, at) && from + place >= begins && from + place < past) {
            const number *own = taps_of(second, from + place);
            firsts[place] = own[0].whole;
            counts[place] = own[1].whole;
            weights[place] = (address)(own + 2) - sizeof(number) * (address)firsts[place];
            lowest = firsts[place] < lowest ? firsts[place] : lowest;
            highest = firsts[place] + counts[place] > highest ? firsts[place] + counts[place] : highest;
        }
    }
    if (lowest < highest) {
        int along = taps[0].whole, x = picture->x[0] + walk.along_x * along + walk.across_x * lowest;
        int y = picture->y[0] + walk.along_y * along + walk.across_y * lowest;
        for (int across = lowest; across < highest; across++, x += walk.across_x, y += walk.across_y) {
            number values[3];
            first_sum(picture, taps, x, y, &walk, values, form, in_floats);
            for (int place = 0; place < TILE; place++)
                if ((unsigned int)(across - firsts[place]) < (unsigned int)counts[place])
                    add(sums[place], *(const number *)(weights[place] + sizeof(number) * (address)across), values,
                        in_floats);
        }
    }
    for (int place = 0; place < TILE; place++) {
        made[place] = picture->fill * 0x10101;
        if (counts[place])
            made[place] = (unsigned int)(ended(sums[place][0], in_floats) | ended(sums[place][1], in_floats) << 8 |
                                         ended(sums[place][2], in_floats) << 16);
    }
}

/* The compiler makes code of its own for each form and arithmetic, in which nothing has to be asked for a pixel. */
__device__ static void tile(const struct picture *picture, unsigned int at, unsigned int from, unsigned int to)
{
    unsigned int made[TILE];

#define WITH(form)                                         \
    case 2 * form:                                         \
        both_sums(picture, at, from, to, made, form, 0);   \
        break;                                             \
    case 2 * form + 1:                                     \
        both_sums(picture, at, from, to, made, form, 1);   \
        break;
    switch (2 * form_of(picture) + (int)picture->in_floats) {
        WITH(ONE_VALUE)
        WITH(THREE_VALUES)
        WITH(REPEATED)
        WITH(MIXED_ACROSS)
        WITH(MIXED_DOWN)
        WITH(MIXED)
    }
#undef WITH
    for (int place = 0; from + place < to; place++) {
        int rgb[3] = {(int)(made[place] & 255), (int)(made[place] >> 8 & 255), (int)(made[place] >> 16)};
        finish(picture, picture->down_first ? from + place : at, picture->down_first ? at : from + place, rgb);
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
__global__ void __launch_bounds__(128, 5) forebay_compose(const struct picture *__restrict__ pictures)
{
    const struct picture *__restrict__ picture = pictures + blockIdx.y;
    unsigned int along = picture->down_first ? picture->rows.side : picture->columns.side;
    unsigned int across = picture->down_first ? picture->columns.side : picture->rows.side;
    unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int at = thread % along, from = thread / along * TILE;

    if (from < across) {
        unsigned int to = from + TILE < across ? from + TILE : across;
        if (picture->source != SUMS)
            strip(picture, at, from, to);
        else
            tile(picture, at, from, to);
    }
}
