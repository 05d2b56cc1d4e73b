/* Decoding the one picture of some AV1 data with dav1d: see avif.h. */
#include "avif.h"

#include <errno.h>
#include <string.h>

#include "memory.h"

#include "dav1d/dav1d.h"

/* The data are the caller's, who has them until the call returns. */
static void keep(const uint8_t *data, void *cookie)
{
    (void)data;
    (void)cookie;
}

static int of_error(int error)
{
    switch (error) {
    case DAV1D_ERR(ENOMEM):
        return forebay_avif_memory_was_refused() ? FOREBAY_AVIF_TOO_MUCH_MEMORY : FOREBAY_AVIF_NO_MEMORY;
    case DAV1D_ERR(ERANGE):
        return FOREBAY_AVIF_TOO_LARGE;
    case DAV1D_ERR(EAGAIN):
        return FOREBAY_AVIF_NO_PICTURE;
    default:
        return FOREBAY_AVIF_CORRUPT;
    }
}

/* The first picture that is shown. Data behind it must be valid too. */
static int first(Dav1dContext *context, Dav1dData *data, Dav1dPicture *found)
{
    for (;;) {
        if (data->sz > 0) {
            int error = dav1d_send_data(context, data);
            if (error < 0 && error != DAV1D_ERR(EAGAIN))
                return error;
        }
        Dav1dPicture picture;
        memset(&picture, 0, sizeof(picture));
        int error = dav1d_get_picture(context, &picture);
        if (error == 0) {
            if (found->data[0] == NULL)
                *found = picture;
            else
                dav1d_picture_unref(&picture);
        } else if (error != DAV1D_ERR(EAGAIN)) {
            return error;
        } else if (data->sz == 0) {
            return found->data[0] == NULL ? error : 0;
        }
    }
}

static void describe(const Dav1dPicture *from, struct forebay_avif_picture *picture)
{
    for (int plane = 0; plane < 3; plane++)
        picture->planes[plane] = from->data[plane];
    picture->strides[0] = (size_t)from->stride[0];
    picture->strides[1] = (size_t)from->stride[1];
    picture->width = (uint32_t)from->p.w;
    picture->height = (uint32_t)from->p.h;
    picture->depth = (uint32_t)from->p.bpc;
    picture->layout = (uint32_t)from->p.layout;
    picture->primaries = from->seq_hdr->pri;
    picture->transfer = from->seq_hdr->trc;
    picture->matrix = from->seq_hdr->mtrx;
    picture->is_full_range = (uint32_t)from->seq_hdr->color_range;
}

int forebay_avif_decode(const uint8_t *data, size_t len, uint32_t operating_point, uint32_t pixels, size_t memory,
                        struct forebay_avif_picture *picture)
{
    forebay_avif_memory_begin(memory);
    Dav1dSettings settings;
    dav1d_default_settings(&settings);
    /* All work is done in the caller's thread, whose memory is counted. */
    settings.n_threads = 1;
    settings.max_frame_delay = 1;
    settings.all_layers = 0;
    settings.operating_point = (int)operating_point;
    settings.frame_size_limit = pixels;
    Dav1dPicture *owner = forebay_avif_malloc(sizeof(*owner));
    if (owner == NULL)
        return of_error(DAV1D_ERR(ENOMEM));
    memset(owner, 0, sizeof(*owner));
    Dav1dContext *context = NULL;
    int error = dav1d_open(&context, &settings);
    if (error == 0) {
        Dav1dData wrapped;
        memset(&wrapped, 0, sizeof(wrapped));
        error = dav1d_data_wrap(&wrapped, data, len, keep, NULL);
        if (error == 0)
            error = first(context, &wrapped, owner);
        if (wrapped.sz > 0)
            dav1d_data_unref(&wrapped);
        dav1d_close(&context);
    }
    picture->memory = forebay_avif_memory_most();
    if (error != 0) {
        forebay_avif_close(owner);
        return of_error(error);
    }
    describe(owner, picture);
    picture->owner = owner;
    return FOREBAY_AVIF_GOOD;
}

void forebay_avif_close(void *owner)
{
    if (((Dav1dPicture *)owner)->data[0] != NULL)
        dav1d_picture_unref(owner);
    forebay_avif_free(owner);
}
