/* The kernels of segments.cu for the CPU, their threads as loops, and compose.cu's colours, with which samples become pixels. */

#define TWIN composed
#include "../../../cuda/kernels/twin.c"

#define __align__(bytes) __attribute__((aligned(bytes)))

/* Picks bytes of two words: here, those of the first in their other order. */
static unsigned int __byte_perm(unsigned int word, unsigned int none, unsigned int picks)
{
    (void)none, (void)picks;
    return word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) | word << 24;
}

/* The paths of each step, 64 for a block at most. */
static _Thread_local unsigned char *traces;
static _Thread_local unsigned int *steps;
static _Thread_local unsigned char *trace;

#define TRACE_BEGINS(thread) unsigned char *begin = trace = traces + (address)segments[thread].first * 64
#define TRACE(paths) *trace++ = (unsigned char)(paths)
#define TRACE_ENDS(thread) steps[thread] = (unsigned int)(trace - begin)
#include "segments.cu"

struct gate {
    const struct segment *segments;
    const struct line *lines;
    const unsigned int *words;
    const byte *tables;
    short *coefficients;
    byte *planes;
    unsigned int *faults;
    unsigned char *traces; /* by block, with room for 64 steps of each */
    unsigned int *steps;   /* of each segment */
    unsigned int segment_count, line_count, longest_line;
};

/* Planes of a picture, as jpeg/src/segments.rs has them. */
struct planes {
    unsigned int at[3], pitches[3];
    unsigned int across, down;
    unsigned int chroma_width, chroma_height;
    unsigned int count;
};

void forebay_gate_twin(const struct gate *gate);
void forebay_gate_rgb(const byte *samples, const struct planes *planes, const unsigned int *region, byte *rgb);

/* All of a launch, block after block. */
#define EACH(across, down)                                                  \
    for (blockIdx.y = 0; blockIdx.y < (down); blockIdx.y++)                 \
        for (blockIdx.x = 0; blockIdx.x < ((across) + 127) / 128; blockIdx.x++) \
            for (threadIdx.x = 0; threadIdx.x < 128; threadIdx.x++)

void forebay_gate_twin(const struct gate *gate)
{
    blockDim.x = 128;
    traces = gate->traces;
    steps = gate->steps;
    EACH(gate->segment_count, 1)
        forebay_segments(gate->segments, gate->segment_count, gate->words, gate->tables, gate->coefficients, gate->faults);
    EACH(gate->longest_line * 8, gate->line_count)
        forebay_columns(gate->lines, gate->coefficients);
    EACH(gate->longest_line * 8, gate->line_count)
        forebay_rows(gate->lines, gate->coefficients, gate->planes);
}

/* The pixels of a region: left, top, width, height. */
void forebay_gate_rgb(const byte *samples, const struct planes *planes, const unsigned int *region, byte *rgb)
{
    struct picture picture = {0};
    int form, values[3];

    for (int plane = 0; plane < 3; plane++) {
        picture.planes[plane] = (address)samples + planes->at[plane];
        picture.pitches[plane] = planes->pitches[plane];
    }
    picture.step = 1;
    picture.colours = planes->count == 1 ? GRAY : YCC;
    picture.across = planes->across;
    picture.down = planes->down;
    picture.chroma_width = planes->chroma_width;
    picture.chroma_height = planes->chroma_height;
    form = form_of(&picture);
    for (unsigned int y = 0; y < region[3]; y++)
        for (unsigned int x = 0; x < region[2]; x++) {
            pixel(&picture, form, (int)(region[0] + x), (int)(region[1] + y), values);
            for (int channel = 0; channel < 3; channel++)
                *rgb++ = (byte)values[channel];
        }
}
