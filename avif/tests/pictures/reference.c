/* Prints what libavif makes of files, for the table of pictures.rs: size, whether there is alpha, and the CRC-32 of red, green, blue (and
 * alpha). libavif must be built with dav1d and without libyuv: cc reference.c -lavif -ldav1d -lz && ./a.out FILE... */
#include <avif/avif.h>
#include <stdio.h>
#include <zlib.h>

int main(int count, char **names)
{
    for (int number = 1; number < count; number++) {
        avifDecoder *decoder = avifDecoderCreate();
        avifImage *image = avifImageCreateEmpty();
        decoder->strictFlags = AVIF_STRICT_DISABLED;
        decoder->requestedSource = AVIF_DECODER_SOURCE_PRIMARY_ITEM;
        avifResult result = avifDecoderReadFile(decoder, image, names[number]);
        avifRGBImage rgb;
        if (result == AVIF_RESULT_OK) {
            avifRGBImageSetDefaults(&rgb, image);
            rgb.depth = 8;
            rgb.format = image->alphaPlane != NULL ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
            avifRGBImageAllocatePixels(&rgb);
            result = avifImageYUVToRGB(image, &rgb);
        }
        if (result != AVIF_RESULT_OK) {
            printf("%s: %s\n", names[number], avifResultToString(result));
            continue;
        }
        uLong sum = crc32(0, NULL, 0);
        for (uint32_t row = 0; row < rgb.height; row++)
            sum = crc32(sum, rgb.pixels + (size_t)row * rgb.rowBytes, rgb.width * avifRGBImagePixelSize(&rgb));
        printf("    (\"%s\", (%u, %u), %s, 0x%08lx),\n", names[number], rgb.width, rgb.height,
               image->alphaPlane != NULL ? "true" : "false", sum);
        avifRGBImageFreePixels(&rgb);
        avifImageDestroy(image);
        avifDecoderDestroy(decoder);
    }
    return 0;
}
