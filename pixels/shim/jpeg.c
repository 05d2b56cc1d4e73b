/* Reading JPEG pictures with libjpeg-turbo, errors caught on this side of the border: see jpeg.h. */
#define _POSIX_C_SOURCE 200809L

#include "jpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <jpeglib.h>

#include <jerror.h>

/* The clock is read once in so many calls of the progress monitor, which comes per few rows. */
#define TICKS_PER_LOOK 8
/* Rows that are asked for in one call; libjpeg gives as many as it has ready. */
#define ROWS_PER_CALL 16

struct forebay_jpeg {
    struct jpeg_decompress_struct info; /* first, so that a pointer to it is a pointer to the whole */
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf escape; /* where libjpeg's errors go; set by each function that calls libjpeg */
    int outcome;
    uint64_t deadline_ns; /* 0: none */
    uint32_t ticks;
    uint32_t scans;
    void *(*take_small)(j_common_ptr info, int pool, size_t size); /* libjpeg's own */
    char message[JMSG_LENGTH_MAX];
};

static struct forebay_jpeg *whole(j_common_ptr info)
{
    return (struct forebay_jpeg *)info;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static _Noreturn void fail(struct forebay_jpeg *jpeg, int outcome)
{
    jpeg->outcome = outcome;
    longjmp(jpeg->escape, 1);
}

static void on_error(j_common_ptr info)
{
    struct forebay_jpeg *jpeg = whole(info);
    info->err->format_message(info, jpeg->message);
    fail(jpeg, info->err->msg_code == JERR_OUT_OF_MEMORY ? FOREBAY_JPEG_NO_MEMORY : FOREBAY_JPEG_CORRUPT);
}

/* Warnings are forgiven, as Pillow does: libjpeg has a way to go on after each. */
static void on_message(j_common_ptr info, int level)
{
    (void)info;
    (void)level;
}

static void print_nothing(j_common_ptr info)
{
    (void)info;
}

static void on_progress(j_common_ptr info)
{
    struct forebay_jpeg *jpeg = whole(info);
    if (jpeg->info.input_scan_number > 0 && (uint32_t)jpeg->info.input_scan_number > jpeg->scans)
        fail(jpeg, FOREBAY_JPEG_TOO_MANY_SCANS);
    if (jpeg->deadline_ns != 0 && ++jpeg->ticks % TICKS_PER_LOOK == 0 && now_ns() > jpeg->deadline_ns)
        fail(jpeg, FOREBAY_JPEG_TOO_SLOW);
}

static void source_nothing(j_decompress_ptr info)
{
    (void)info;
}

/* All data was there from the start: whoever wants more has read to the end. */
static boolean source_fill(j_decompress_ptr info)
{
    fail(whole((j_common_ptr)info), FOREBAY_JPEG_TRUNCATED);
}

static void source_skip(j_decompress_ptr info, long count)
{
    if (count <= 0)
        return;
    if ((size_t)count > info->src->bytes_in_buffer)
        fail(whole((j_common_ptr)info), FOREBAY_JPEG_TRUNCATED);
    info->src->next_input_byte += count;
    info->src->bytes_in_buffer -= (size_t)count;
}

/* Whatever libjpeg takes after it was made is the picture's and goes with it: tables, too, which it would keep for the next
 * one. */
static void *take_small(j_common_ptr info, int pool, size_t size)
{
    (void)pool;
    return whole(info)->take_small(info, JPOOL_IMAGE, size);
}

/* Tables of the last picture, whose memory has gone with it: one that has none must not find them. */
static void forget_tables(j_decompress_ptr info)
{
    for (int i = 0; i < NUM_QUANT_TBLS; i++)
        info->quant_tbl_ptrs[i] = NULL;
    for (int i = 0; i < NUM_HUFF_TBLS; i++)
        info->dc_huff_tbl_ptrs[i] = info->ac_huff_tbl_ptrs[i] = NULL;
}

static int create(struct forebay_jpeg *jpeg)
{
    if (setjmp(jpeg->escape) != 0)
        return 0;
    jpeg_create_decompress(&jpeg->info);
    jpeg->info.src = &jpeg->source;
    jpeg->info.progress = &jpeg->progress;
    jpeg->take_small = jpeg->info.mem->alloc_small;
    jpeg->info.mem->alloc_small = take_small;
    return 1;
}

struct forebay_jpeg *forebay_jpeg_new(void)
{
    struct forebay_jpeg *jpeg = calloc(1, sizeof *jpeg);
    if (jpeg == NULL)
        return NULL;
    jpeg->info.err = jpeg_std_error(&jpeg->errors);
    jpeg->errors.error_exit = on_error;
    jpeg->errors.emit_message = on_message;
    jpeg->errors.output_message = print_nothing;
    jpeg->source.init_source = source_nothing;
    jpeg->source.fill_input_buffer = source_fill;
    jpeg->source.skip_input_data = source_skip;
    jpeg->source.resync_to_restart = jpeg_resync_to_restart;
    jpeg->source.term_source = source_nothing;
    jpeg->progress.progress_monitor = on_progress;
    if (create(jpeg))
        return jpeg;
    forebay_jpeg_free(jpeg);
    return NULL;
}

void forebay_jpeg_free(struct forebay_jpeg *jpeg)
{
    jpeg_destroy_decompress(&jpeg->info);
    free(jpeg);
}

int forebay_jpeg_open(struct forebay_jpeg *jpeg, const uint8_t *data, size_t len, uint64_t time_ns, uint32_t scans,
                      struct forebay_jpeg_header *header)
{
    jpeg->outcome = FOREBAY_JPEG_GOOD;
    jpeg->message[0] = '\0';
    if (setjmp(jpeg->escape) != 0)
        return jpeg->outcome;
    jpeg->scans = scans;
    jpeg->ticks = 0;
    jpeg->deadline_ns = time_ns == 0 ? 0 : now_ns() + time_ns;
    jpeg->source.next_input_byte = data;
    jpeg->source.bytes_in_buffer = len;
    jpeg_read_header(&jpeg->info, TRUE);

    switch (jpeg->info.num_components) {
    case 1:
        /* The data units of a lossless picture are samples. Its colours are not converted, so that grey stays grey. */
        if (jpeg->info.min_DCT_scaled_size == 1) {
            jpeg->info.out_color_space = JCS_GRAYSCALE;
            header->channels = 1;
            break;
        }
        /* fall through */
    case 3:
        jpeg->info.out_color_space = JCS_RGB;
        header->channels = 3;
        break;
    case 4:
        jpeg->info.out_color_space = JCS_CMYK;
        header->channels = 4;
        break;
    default:
        return FOREBAY_JPEG_UNSUPPORTED;
    }
    jpeg->info.dct_method = JDCT_ISLOW;
    jpeg->info.do_fancy_upsampling = TRUE;
    header->width = jpeg->info.image_width;
    header->height = jpeg->info.image_height;
    return FOREBAY_JPEG_GOOD;
}

int forebay_jpeg_begin(struct forebay_jpeg *jpeg, uint32_t denominator, uint32_t *left, uint32_t *width)
{
    jpeg->outcome = FOREBAY_JPEG_GOOD;
    if (setjmp(jpeg->escape) != 0)
        return jpeg->outcome;
    jpeg->info.scale_num = 1;
    jpeg->info.scale_denom = denominator;
    jpeg_start_decompress(&jpeg->info);
    if (*width >= jpeg->info.output_width)
        return FOREBAY_JPEG_GOOD;
    /* The upsampler takes the edge of what is decoded for the picture's edge, so that it must lie a chroma sample away. */
    uint32_t margin = (uint32_t)jpeg->info.max_h_samp_factor;
    uint32_t end = *left + *width;
    JDIMENSION first = *left > margin ? *left - margin : 0;
    JDIMENSION count = (jpeg->info.output_width - end > margin ? end + margin : jpeg->info.output_width) - first;
    jpeg_crop_scanline(&jpeg->info, &first, &count);
    *left = first;
    *width = count;
    return FOREBAY_JPEG_GOOD;
}

int forebay_jpeg_read(struct forebay_jpeg *jpeg, uint8_t *out, uint32_t top, uint32_t rows)
{
    jpeg->outcome = FOREBAY_JPEG_GOOD;
    if (setjmp(jpeg->escape) != 0)
        return jpeg->outcome;
    /* Skipping is exact only if it is done once and from the first row. */
    if (top > 0)
        jpeg_skip_scanlines(&jpeg->info, top);
    size_t stride = (size_t)jpeg->info.output_width * (size_t)jpeg->info.output_components;
    uint32_t done = 0;
    while (done < rows) {
        JSAMPROW row[ROWS_PER_CALL];
        JDIMENSION count = rows - done < ROWS_PER_CALL ? rows - done : ROWS_PER_CALL;
        for (JDIMENSION i = 0; i < count; i++)
            row[i] = out + (size_t)(done + i) * stride;
        done += jpeg_read_scanlines(&jpeg->info, row, count);
    }
    return FOREBAY_JPEG_GOOD;
}

void forebay_jpeg_close(struct forebay_jpeg *jpeg)
{
    jpeg_abort_decompress(&jpeg->info); /* frees the picture's memory and cannot fail */
    forget_tables(&jpeg->info);
    jpeg->source.next_input_byte = NULL;
    jpeg->source.bytes_in_buffer = 0;
}

const char *forebay_jpeg_message(const struct forebay_jpeg *jpeg)
{
    return jpeg->message;
}
