/* Writing JPEG pictures with libjpeg-turbo: see write.h. */
#include "write.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

struct writer {
    struct jpeg_compress_struct info; /* first, so that a pointer to it is a pointer to the whole */
    struct jpeg_error_mgr errors;
    jmp_buf escape;
    unsigned char *bytes;
    unsigned long len;
};

static const struct {
    J_COLOR_SPACE in, stored;
    int channels;
} COLORS[] = {
    [FOREBAY_JPEG_GRAY] = {JCS_GRAYSCALE, JCS_GRAYSCALE, 1}, [FOREBAY_JPEG_YCBCR] = {JCS_RGB, JCS_YCbCr, 3},
    [FOREBAY_JPEG_RGB] = {JCS_RGB, JCS_RGB, 3},              [FOREBAY_JPEG_CMYK] = {JCS_CMYK, JCS_CMYK, 4},
    [FOREBAY_JPEG_YCCK] = {JCS_CMYK, JCS_YCCK, 4},
};

static void on_error(j_common_ptr info)
{
    longjmp(((struct writer *)info)->escape, 1);
}

static void on_message(j_common_ptr info, int level)
{
    (void)info;
    (void)level;
}

static int encode(struct writer *writer, const uint8_t *pixels, uint32_t width, uint32_t height,
                  const struct forebay_jpeg_form *form)
{
    if (setjmp(writer->escape) != 0)
        return 0;
    j_compress_ptr info = &writer->info;
    jpeg_create_compress(info);
    jpeg_mem_dest(info, &writer->bytes, &writer->len);
    info->image_width = width;
    info->image_height = height;
    info->input_components = COLORS[form->colors].channels;
    info->in_color_space = COLORS[form->colors].in;
    jpeg_set_defaults(info);
    jpeg_set_colorspace(info, COLORS[form->colors].stored);
    jpeg_set_quality(info, (int)form->quality, TRUE);
    info->dct_method = JDCT_ISLOW;
    for (int i = 0; i < info->num_components; i++) {
        int full = i == 0 || i == 3; /* the black of YCCK is sampled like its luminance */
        info->comp_info[i].h_samp_factor = full ? (int)form->sampling[0] : 1;
        info->comp_info[i].v_samp_factor = full ? (int)form->sampling[1] : 1;
    }
    info->arith_code = form->arithmetic != 0;
    info->restart_in_rows = (int)form->restart_rows;
    if (form->progressive != 0)
        jpeg_simple_progression(info);
    jpeg_start_compress(info, TRUE);
    size_t stride = (size_t)width * (size_t)info->input_components;
    while (info->next_scanline < height) {
        JSAMPROW row = (JSAMPROW)(uintptr_t)(pixels + (size_t)info->next_scanline * stride);
        jpeg_write_scanlines(info, &row, 1);
    }
    jpeg_finish_compress(info);
    return 1;
}

uint8_t *forebay_jpeg_write(const uint8_t *pixels, uint32_t width, uint32_t height,
                            const struct forebay_jpeg_form *form, size_t *len)
{
    struct writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return NULL;
    writer->info.err = jpeg_std_error(&writer->errors);
    writer->errors.error_exit = on_error;
    writer->errors.emit_message = on_message;
    int good = encode(writer, pixels, width, height, form);
    jpeg_destroy_compress(&writer->info);
    uint8_t *bytes = writer->bytes;
    *len = writer->len;
    free(writer);
    if (!good) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

void forebay_jpeg_drop(uint8_t *bytes)
{
    free(bytes);
}
