/* Reading the first picture of a WebP with libwebp: see webp.h. */
#include "webp.h"

#include "memory.h"

#include "src/webp/decode.h"
#include "src/webp/demux.h"

static int of_status(VP8StatusCode status)
{
    switch (status) {
    case VP8_STATUS_OK:
        return FOREBAY_WEBP_GOOD;
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
        return FOREBAY_WEBP_TRUNCATED;
    case VP8_STATUS_OUT_OF_MEMORY:
        return forebay_webp_memory_was_refused() ? FOREBAY_WEBP_TOO_MUCH_MEMORY : FOREBAY_WEBP_NO_MEMORY;
    default:
        return FOREBAY_WEBP_CORRUPT;
    }
}

/* What the first frame is. */
static int describe(const WebPDemuxer *demuxer, const uint8_t *bytes, struct forebay_webp_head *head)
{
    WebPIterator frame;
    if (!WebPDemuxGetFrame(demuxer, 1, &frame))
        return FOREBAY_WEBP_CORRUPT;
    head->canvas[0] = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH);
    head->canvas[1] = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT);
    head->frames = WebPDemuxGetI(demuxer, WEBP_FF_FRAME_COUNT);
    head->frame[0] = (uint32_t)frame.x_offset;
    head->frame[1] = (uint32_t)frame.y_offset;
    head->frame[2] = (uint32_t)frame.width;
    head->frame[3] = (uint32_t)frame.height;
    head->data[0] = (size_t)(frame.fragment.bytes - bytes);
    head->data[1] = frame.fragment.size;
    WebPBitstreamFeatures features;
    VP8StatusCode status = WebPGetFeatures(frame.fragment.bytes, frame.fragment.size, &features);
    WebPDemuxReleaseIterator(&frame);
    if (status != VP8_STATUS_OK)
        return of_status(status);
    if ((uint32_t)features.width != head->frame[2] || (uint32_t)features.height != head->frame[3])
        return FOREBAY_WEBP_CORRUPT;
    head->is_lossless = features.format == 2;
    head->frame_has_alpha = features.has_alpha != 0;
    return FOREBAY_WEBP_GOOD;
}

int forebay_webp_open(const uint8_t *bytes, size_t len, size_t memory, struct forebay_webp_head *head)
{
    forebay_webp_memory_begin(memory);
    WebPBitstreamFeatures features;
    VP8StatusCode status = WebPGetFeatures(bytes, len, &features);
    if (status != VP8_STATUS_OK)
        return of_status(status);
    head->has_alpha = features.has_alpha != 0;
    WebPData data = {bytes, len};
    WebPDemuxState state = WEBP_DEMUX_PARSE_ERROR;
    WebPDemuxer *demuxer = WebPDemuxPartial(&data, &state);
    int outcome = FOREBAY_WEBP_CORRUPT;
    if (demuxer != NULL && state == WEBP_DEMUX_DONE)
        outcome = describe(demuxer, bytes, head);
    else if (state == WEBP_DEMUX_PARSING_HEADER || state == WEBP_DEMUX_PARSED_HEADER)
        outcome = FOREBAY_WEBP_TRUNCATED;
    else if (forebay_webp_memory_was_refused())
        outcome = FOREBAY_WEBP_TOO_MUCH_MEMORY;
    WebPDemuxDelete(demuxer);
    return outcome;
}

int forebay_webp_read(const uint8_t *data, size_t len, const struct forebay_webp_part *part, uint32_t channels,
                      size_t memory, uint8_t *out, size_t stride, size_t out_len)
{
    forebay_webp_memory_begin(memory);
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return FOREBAY_WEBP_CORRUPT;
    config.options.use_cropping = 1;
    config.options.crop_left = (int)part->left;
    config.options.crop_top = (int)part->top;
    config.options.crop_width = (int)part->width;
    config.options.crop_height = (int)part->height;
    config.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = out;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = out_len;
    return of_status(WebPDecode(data, len, &config));
}
