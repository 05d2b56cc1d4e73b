/* Decodes entropy-coded segments of JPEGs, a thread each, and transforms their blocks: what a decode from seek points would
 * launch before compose.cu (decision 92). jpeg/src/segments.rs makes what it reads. Plain C for GPUs and CPUs alike, as compose.cu
 * is, whose types it has. No launch of the product has it. */

#ifndef TWIN /* which has included it */
#include "picture.h"
#endif

#define LOOK 10 /* bits of a code that are looked up at once */
#define LONGEST 16
/* Bytes of the tables of DC or AC of a component: looks, places and factors of coefficients, codes that are longer than a look. */
#define ORDER (2 << LOOK)
#define LONG_CODES (ORDER + 4 * 80)
#define TABLE_BYTES (LONG_CODES + 320)

/* An encoder's products of coefficient and factor are smaller. With larger ones, the CPU's transform wraps and saturates. */
#define LARGEST 8192

enum { DC = 1, LONG = 2, BLOCK_END = 4 };
#ifndef TRACE
#define TRACE(paths)
#define TRACE_BEGINS(segment)
#define TRACE_ENDS(segment)
#endif

struct segment {
    unsigned int word, words; /* where its data begin, and how many words these are; the last one is zero */
    unsigned int bit;         /* of the first word */
    unsigned int tables;      /* bytes before those of the picture */
    unsigned int slots;       /* for each block of an MCU, from the lowest: 1 bit, 2 of its tables, 2 of its component */
    unsigned int blocks, first; /* how many, and where its first one goes */
    unsigned int picture;
    int dc[3];
    unsigned int least, most; /* bits of the data that it takes */
    unsigned int known;       /* whether `end_dc` are */
    int end_dc[3];
};

/* Blocks beside each other. */
struct line {
    unsigned int first, per_mcu; /* their first one among all, and blocks from MCU to MCU */
    unsigned int shift;          /* of an MCU, 1 << shift are in the line */
    unsigned int blocks;
    unsigned int at, pitch; /* of their samples */
};

typedef char the_host_has_these_sizes[sizeof(struct segment) == 68 && sizeof(struct line) == 24 ? 1 : -1];

/* The length, value and run of a code that is longer than a look, as a look has them; 0 if there is none. */
__device__ static unsigned int long_code(const byte *codes, unsigned int next, unsigned int is_ac)
{
    const unsigned int *limits = (const unsigned int *)codes;
    unsigned int length = LOOK + 1, symbol;

    while (length <= LONGEST && next >> 16 >= limits[length - LOOK - 1])
        length++;
    if (length > LONGEST)
        return 0;
    symbol = codes[64 + (((next >> (32 - length)) + limits[8 + length - LOOK - 1]) & 255)];
    if (is_ac && !(symbol & 15) && symbol != 0xf0)
        return length << 8 | 0x8000;
    return length << 8 | symbol;
}

/* The first bit of the data becomes the highest. */
__device__ static unsigned int swapped(unsigned int word)
{
    return __byte_perm(word, 0, 0x0123);
}

/* A thread takes a symbol in each step, of whatever block it is at, so that threads of a warp need not wait for each other's
 * blocks. Symbols without a value store a zero where one is. Whatever the data are, a thread reads its own words and its
 * picture's tables, and writes its own blocks. */
__device__ static unsigned int decoded(const struct segment *segment, const unsigned int *__restrict__ words,
                                       const byte *__restrict__ tables, short *coefficients)
{
    const unsigned int *own = words + segment->word;
    unsigned int last = segment->words - 1, at = 1, place = segment->bit, wild = 0;
    unsigned int high = swapped(own[0]), low = swapped(own[1]);
    unsigned int slots = segment->slots, turn = slots, left = segment->blocks, k = 0;
    int dc0 = segment->dc[0], dc1 = segment->dc[1], dc2 = segment->dc[2];
    short *block = coefficients + (address)segment->first * 64;
    const byte *first_table = tables + segment->tables, *table = first_table + (turn >> 1 & 3) * (2 * TABLE_BYTES);

    do {
        unsigned int next = (unsigned int)(((unsigned long long)high << 32 | low) << place >> 32);
        unsigned int found = *(const unsigned short *)(table + 2 * (next >> (32 - LOOK)));
        unsigned int length, size, bits, goes, paths = 0;
        int value;

        if (!found) {
            found = long_code(table + LONG_CODES, next, k);
            if (!found)
                return 1;
            paths |= LONG;
        }
        length = found >> 8 & 31;
        size = found & 15;
        bits = next << length;
        value = (int)((unsigned long long)bits << size >> 32);
        if (!(bits >> 31))
            value += 1 - (1 << size);
        place += length + size;
        k += found >> 4 & 15;
        /* There are factors beyond a block's end, in whose place a wrong run puts its value. */
        goes = ((const unsigned int *)(table + ORDER))[k];
        if (k++ == 0) {
            unsigned int component = turn >> 3 & 3;
            value += component == 0 ? dc0 : component == 1 ? dc1 : dc2;
            dc0 = component == 0 ? value : dc0;
            dc1 = component == 1 ? value : dc1;
            dc2 = component > 1 ? value : dc2;
            table += TABLE_BYTES;
            paths |= DC;
        }
        value *= (int)(goes >> 16);
        wild |= (unsigned int)(value + LARGEST);
        *(short *)((byte *)block + (goes & 0xffff)) = (short)value;
        if (place >= 32) {
            place -= 32;
            high = low;
            at++;
            low = swapped(own[at < last ? at : last]);
        }
        if ((found & 0x8000) || k >= 64) {
            paths |= BLOCK_END;
            wild |= k > 64 ? 2 * LARGEST : 0;
            k = 0;
            block += 64;
            turn = turn >> 5 ? turn >> 5 : slots;
            table = first_table + (turn >> 1 & 3) * (2 * TABLE_BYTES);
            left--;
        }
        TRACE(paths);
    } while (left);
    at = (at - 1) * 32 + place;
    return wild >= 2 * LARGEST || at < segment->least || at > segment->most ||
           (segment->known && (dc0 != segment->end_dc[0] || dc1 != segment->end_dc[1] || dc2 != segment->end_dc[2]));
}

/* A picture with a fault is the CPU's. */
#ifdef __cplusplus
extern "C"
#endif
__global__ void __launch_bounds__(128, 8) forebay_segments(const struct segment *__restrict__ segments, unsigned int count,
                                                           const unsigned int *__restrict__ words,
                                                           const byte *__restrict__ tables, short *coefficients,
                                                           unsigned int *faults)
{
    unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < count) {
        TRACE_BEGINS(thread);
        if (decoded(segments + thread, words, tables, coefficients))
            faults[segments[thread].picture] = 1;
        TRACE_ENDS(thread);
    }
}

__device__ static unsigned int product(int value, int factor)
{
    return (unsigned int)value * (unsigned int)factor;
}

/* Of 16 bits, times 2 to the 13th. Sums wrap if what they are made of fills 16 bits. */
__device__ static unsigned int raised(int sum, int wraps)
{
    return wraps ? (unsigned int)((int)((unsigned int)sum << 16) >> 3) : (unsigned int)sum << 13;
}

/* libjpeg's accurate transform of eight values (jpeg/src/idct/transform.rs), with the sums of the CPU's vectors. */
__device__ static void transformed(int *v, int shift, int wraps)
{
    unsigned int round = 1u << (shift - 1);
    unsigned int t0 = raised(v[0] + v[4], wraps) + round, t1 = raised(v[0] - v[4], wraps) + round;
    unsigned int t3 = product(v[2], 4433 + 6270) + product(v[6], 4433);
    unsigned int t2 = product(v[2], 4433) + product(v[6], 4433 - 15137);
    unsigned int e0 = t0 + t3, e1 = t1 + t2, e2 = t1 - t2, e3 = t0 - t3;
    int s73 = wraps ? (short)(v[7] + v[3]) : v[7] + v[3], s51 = wraps ? (short)(v[5] + v[1]) : v[5] + v[1];
    unsigned int z3 = product(s73, 9633 - 16069) + product(s51, 9633);
    unsigned int z4 = product(s73, 9633) + product(s51, 9633 - 3196);
    unsigned int o0 = product(v[7], -7373) + product(v[1], 12299 - 7373) + z4;
    unsigned int o1 = product(v[3], 25172 - 20995) + product(v[5], -20995) + z3;
    unsigned int o2 = product(v[3], -20995) + product(v[5], 16819 - 20995) + z4;
    unsigned int o3 = product(v[7], 2446 - 7373) + product(v[1], -7373) + z3;

    v[0] = (int)(e0 + o0) >> shift;
    v[1] = (int)(e1 + o1) >> shift;
    v[2] = (int)(e2 + o2) >> shift;
    v[3] = (int)(e3 + o3) >> shift;
    v[4] = (int)(e3 - o3) >> shift;
    v[5] = (int)(e2 - o2) >> shift;
    v[6] = (int)(e1 - o1) >> shift;
    v[7] = (int)(e0 - o0) >> shift;
}

__device__ static address coefficient(const struct line *line, unsigned int block)
{
    unsigned int in_mcu = block & ((1u << line->shift) - 1);
    return (address)(line->first + (block >> line->shift) * line->per_mcu + in_mcu) * 64;
}

/* A thread transforms a column of a block, and leaves it there. */
#ifdef __cplusplus
extern "C"
#endif
__global__ void __launch_bounds__(128, 8) forebay_columns(const struct line *__restrict__ lines, short *coefficients)
{
    const struct line *line = lines + blockIdx.y;
    unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >> 3 < line->blocks) {
        short *column = coefficients + coefficient(line, thread >> 3) + (thread & 7);
        int values[8];
        for (int row = 0; row < 8; row++)
            values[row] = column[8 * row];
        transformed(values, 11, 0);
        for (int row = 0; row < 8; row++)
            column[8 * row] = (short)(values[row] < -32768 ? -32768 : values[row] > 32767 ? 32767 : values[row]);
    }
}

struct __align__(16) halves {
    unsigned int two[4];
};

/* A thread makes the eight samples of a row. */
#ifdef __cplusplus
extern "C"
#endif
__global__ void __launch_bounds__(128, 8) forebay_rows(const struct line *__restrict__ lines, const short *coefficients,
                                                       byte *planes)
{
    const struct line *line = lines + blockIdx.y;
    unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >> 3 < line->blocks) {
        unsigned int block = thread >> 3, row = thread & 7;
        struct halves halves = *(const struct halves *)(coefficients + coefficient(line, block) + 8 * row);
        unsigned long long samples = 0;
        int values[8];
        for (int pair = 0; pair < 4; pair++) {
            values[2 * pair] = (short)halves.two[pair];
            values[2 * pair + 1] = (int)halves.two[pair] >> 16;
        }
        transformed(values, 18, 1);
        for (int column = 7; column >= 0; column--)
            samples = samples << 8 | (unsigned int)clamped(values[column] + 128, 255);
        *(unsigned long long *)(planes + line->at + (address)row * line->pitch + 8 * block) = samples;
    }
}
