/* What is done with the values of a pixel: the arithmetic of pixels/src/operation/, operation by operation in its order. */

__device__ static int least_of(const int *rgb)
{
    int least = rgb[0] < rgb[1] ? rgb[0] : rgb[1];
    return least < rgb[2] ? least : rgb[2];
}

__device__ static int most_of(const int *rgb)
{
    int most = rgb[0] > rgb[1] ? rgb[0] : rgb[1];
    return most > rgb[2] ? most : rgb[2];
}

__device__ static int gray_of(const int *rgb, int like_torch)
{
    if (like_torch)
        return cut((float)rgb[0] * 0.2989f + (float)rgb[1] * 0.587f + (float)rgb[2] * 0.114f);
    return (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16;
}

/* Between a plain value and another, or beyond. */
__device__ static int blended(int plain, int value, float factor)
{
    return cut((float)plain + factor * ((float)value - (float)plain));
}

__device__ static int blended_like_torch(float plain, int value, float factor, float rest)
{
    return cut((float)value * factor + rest * plain);
}

/* One of three values for each channel, by the sixth of the colour circle: the highest, the lowest and the one between. */
__device__ static void by_sector(int sector, int most, int low, int falling, int rising, int *rgb)
{
    rgb[0] = sector == 0 || sector == 5 ? most : sector == 1 ? falling : sector == 4 ? rising : low;
    rgb[1] = sector == 1 || sector == 2 ? most : sector == 0 ? rising : sector == 3 ? falling : low;
    rgb[2] = sector == 3 || sector == 4 ? most : sector == 2 ? rising : sector == 5 ? falling : low;
}

/* Hue, saturation and value of 8 bits, as Pillow converts them. */
__device__ static void to_hsv(const int *rgb, int *hsv)
{
    int most = most_of(rgb), least = least_of(rgb);
    float range = (float)(most - least), lacks[3], hue;
    double turn;

    hsv[0] = hsv[1] = 0;
    hsv[2] = most;
    if (most == least)
        return;
    for (int channel = 0; channel < 3; channel++)
        lacks[channel] = (float)(most - rgb[channel]) / range;
    if (rgb[0] == most)
        hue = lacks[2] - lacks[1];
    else if (rgb[1] == most)
        hue = (float)(2.0 + (double)lacks[0] - (double)lacks[2]);
    else
        hue = (float)(4.0 + (double)lacks[1] - (double)lacks[0]);
    turn = (double)hue / 6.0 + 1.0;
    hsv[0] = cut_double((double)(float)(turn >= 1.0 ? turn - 1.0 : turn) * 255.0);
    hsv[1] = cut_double((double)(range / (float)most) * 255.0);
}

__device__ static int of_value(int value, double lack)
{
    return cut_double((double)value * (1.0 - lack) + 0.5);
}

/* Pillow's way back. */
__device__ static void of_hsv(const int *hsv, int *rgb)
{
    double sixths = (double)hsv[0] * 6.0 / 255.0, whole = floor(sixths);
    float part = (float)(sixths - whole), saturation = (float)((double)hsv[1] / 255.0);
    int value = hsv[2];

    if (hsv[1] == 0)
        rgb[0] = rgb[1] = rgb[2] = value;
    else
        by_sector((int)whole % 6, value, of_value(value, (double)saturation),
                  of_value(value, (double)(saturation * part)),
                  of_value(value, (double)saturation * (1.0 - (double)part)), rgb);
}

/* The hue as torchvision turns that of a tensor. 255.999 is what it scales by. */
__device__ static void turn_like_torch(int *rgb, float factor)
{
    int highest = most_of(rgb);
    float units[3], lacks[3], most = (float)highest * (1.0f / 255.0f);
    float range, saturation, sixths, hue, sector, part, scale = 255.999f;

    if (highest == least_of(rgb))
        return;
    range = most - (float)least_of(rgb) * (1.0f / 255.0f);
    saturation = range / most;
    for (int channel = 0; channel < 3; channel++) {
        units[channel] = (float)rgb[channel] * (1.0f / 255.0f);
        lacks[channel] = (most - units[channel]) / range;
    }
    if (rgb[0] == highest)
        sixths = lacks[2] - lacks[1];
    else if (rgb[1] == highest)
        sixths = 2.0f + lacks[0] - lacks[2];
    else
        sixths = 4.0f + lacks[1] - lacks[0];
    hue = sixths * (1.0f / 6.0f) + 1.0f + factor;
    sixths = (hue - floorf(hue)) * 6.0f;
    sector = floorf(sixths);
    part = sixths - sector;
    by_sector((int)sector % 6, cut(most * scale), cut((1.0f - saturation) * most * scale),
              cut((1.0f - saturation * part) * most * scale),
              cut((1.0f - saturation + saturation * part) * most * scale), rgb);
}

/* The mean of the grays that were counted. */
__device__ static double mean_of(const unsigned int *counts, double pixels)
{
    address sum = 0;
    for (unsigned int value = 0; value < 256; value++)
        sum += (address)counts[value] * value;
    return (double)sum / pixels;
}

/* A value once its channel's lowest is 0 and its highest is 255. */
__device__ static int stretched(const unsigned int *counts, int value, int like_torch)
{
    int low = 0, high = 255;
    while (low < 255 && counts[low] == 0)
        low++;
    while (high > low && counts[high] == 0)
        high--;
    if (low == high)
        return value;
    if (like_torch)
        return cut(((float)value - (float)low) / ((float)(high - low) * (1.0f / 255.0f)));
    double scale = 255.0 / (double)(high - low), offset = -(double)low * scale;
    return cut_double((double)value * scale + offset);
}

/* A value once its channel's are spread evenly. */
__device__ static int spread(const unsigned int *counts, int value, unsigned int pixels)
{
    int high = 255;
    while (high > 0 && counts[high] == 0)
        high--;
    unsigned int step = (pixels - counts[high]) / 255, before = step / 2;
    if (step == 0)
        return value;
    for (int lower = 0; lower < value; lower++)
        before += counts[lower];
    return before / step > 255 ? 255 : (int)(before / step);
}

__device__ __noinline__ static void apply(const struct picture *picture, const struct change *change, unsigned int column,
                             unsigned int row, int *rgb)
{
    const byte *table = (const byte *)picture->changes + change->table;
    const unsigned int *seen = (const unsigned int *)picture->seen;
    unsigned int pixels = picture->columns.side * picture->rows.side;
    int like_torch = (int)picture->in_floats, gray, hsv[3];
    double mean;

    switch (change->what) {
    case TABLE:
        for (int channel = 0; channel < 3; channel++)
            rgb[channel] = table[rgb[channel]];
        break;
    case SATURATION:
        gray = gray_of(rgb, like_torch);
        for (int channel = 0; channel < 3; channel++)
            rgb[channel] = like_torch ? blended_like_torch((float)gray, rgb[channel], change->factor, change->rest)
                                      : blended(gray, rgb[channel], change->factor);
        break;
    case GRAYED:
        rgb[0] = rgb[1] = rgb[2] = gray_of(rgb, like_torch);
        break;
    case HUE:
        if (like_torch) {
            turn_like_torch(rgb, change->factor);
        } else {
            to_hsv(rgb, hsv);
            hsv[0] = (hsv[0] + (int)change->value) & 255;
            of_hsv(hsv, rgb);
        }
        break;
    case GAINS:
        to_hsv(rgb, hsv);
        hsv[0] = (hsv[0] + (int)change->value) & 255;
        hsv[1] = table[hsv[1]];
        hsv[2] = table[256 + hsv[2]];
        of_hsv(hsv, rgb);
        break;
    case ERASED:
        if (row >= change->rows[0] && row < change->rows[1] && column >= change->columns[0] &&
            column < change->columns[1])
            for (int channel = 0; channel < 3; channel++)
                rgb[channel] = (int)(change->value >> (8 * channel) & 255);
        break;
    case CONTRAST:
        mean = mean_of(seen, (double)pixels);
        for (int channel = 0; channel < 3; channel++)
            rgb[channel] = like_torch
                               ? blended_like_torch((float)mean, rgb[channel], change->factor, change->rest)
                               : blended(cut_double(mean + 0.5), rgb[channel], change->factor);
        break;
    case AUTOCONTRAST:
        for (int channel = 0; channel < 3; channel++)
            rgb[channel] = stretched(seen + 256 * channel, rgb[channel], like_torch);
        break;
    default:
        for (int channel = 0; channel < 3; channel++)
            rgb[channel] = spread(seen + 256 * channel, rgb[channel], pixels);
    }
}
