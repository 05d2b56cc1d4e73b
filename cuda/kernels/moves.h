/* Where a round after the first takes its pixels from: smoothed, turned, sheared, moved. The arithmetic of
 * pixels/src/operation/warp.rs and sharpness.rs, operation by operation in its order. */

/* The pixel of the round before that is nearest to a place. */
__device__ static void nearest_pixel(const struct picture *picture, int x, int y, int *rgb)
{
    x = clamped(x, (int)picture->columns.side - 1);
    y = clamped(y, (int)picture->rows.side - 1);
    for (int channel = 0; channel < 3; channel++)
        rgb[channel] = sample(picture, channel, x, y);
}

__device__ static int is_within(const struct picture *picture, long long x, long long y)
{
    return x >= 0 && x < (long long)picture->columns.side && y >= 0 && y < (long long)picture->rows.side;
}

/* A whole number of that value. One that is far outside of all pictures stays so, and what is no number is 0. */
__device__ static int whole_of(double value)
{
    double far = 1073741824.0;
    return value > far ? (int)far : value < -far ? -(int)far : value == value ? (int)value : 0;
}

__device__ static double on_line(const double *line, double x, double y)
{
    return line[0] * x + line[1] * y + line[2];
}

/* The place of a pixel's middle. */
__device__ static void place_of(const struct places *places, unsigned int column, unsigned int row, double *place)
{
    double x = (double)column + 0.5, y = (double)row + 0.5;
    double depth = places->depth[0] * x + places->depth[1] * y + 1.0;
    place[0] = on_line(places->column, x, y) / depth;
    place[1] = on_line(places->row, x, y) / depth;
}

/* Red, green and blue of a smoothed pixel, or of one that is as much sharper. Those at the border stay. */
__device__ static void smoothed(const struct picture *picture, int column, int row, int *rgb)
{
    const struct places *places = (const struct places *)picture->places;
    const float side = 1.0f / 13.0f, middle = 5.0f / 13.0f;

    nearest_pixel(picture, column, row, rgb);
    if (column == 0 || row == 0 || column + 1 == (int)picture->columns.side || row + 1 == (int)picture->rows.side)
        return;
    for (int channel = 0; channel < 3; channel++) {
        float sum = 0.5f;
        for (int line = 1; line >= -1; line--)
            sum += (float)sample(picture, channel, column - 1, row + line) * side +
                   (float)sample(picture, channel, column, row + line) * (line == 0 ? middle : side) +
                   (float)sample(picture, channel, column + 1, row + line) * side;
        float value = (float)rgb[channel];
        rgb[channel] = picture->in_floats ? cut(value + places->factor * (rintf(sum - 0.5f) - value))
                                          : blended(cut(sum), rgb[channel], places->factor);
    }
}

/* The line of a side that is shown at this place, which may be beyond either end: the picture is reflected there. */
__device__ static int reflected(int at, int len)
{
    int period = 2 * (len - 1), within;
    if (len == 1)
        return 0;
    within = at % period;
    within = within < 0 ? within + period : within;
    return within < len ? within : period - within;
}

/* The sum down a column around a row. */
__device__ static float blurred_down(const struct picture *picture, int channel, int column, int row,
                                     const float *weights, int reach)
{
    int len = (int)picture->rows.side;
    float sum = (float)sample(picture, channel, column, row) * weights[0];
    for (int at = 1; at <= reach; at++)
        sum += (float)(sample(picture, channel, column, reflected(row - at, len)) +
                       sample(picture, channel, column, reflected(row + at, len))) *
               weights[at];
    return sum;
}

/* A pixel of a Gaussian blur, whose weights stand behind the places: from the middle outwards, along the rows and then down. */
__device__ static void blurred(const struct picture *picture, int column, int row, int *rgb)
{
    const struct places *places = (const struct places *)picture->places;
    const float *along = (const float *)(places + 1), *down = along + places->reach[0] + 1;
    int reach = (int)places->reach[0], len = (int)picture->columns.side;

    for (int channel = 0; channel < 3; channel++) {
        int below = (int)places->reach[1];
        float sum = blurred_down(picture, channel, column, row, down, below) * along[0];
        for (int at = 1; at <= reach; at++)
            sum += (blurred_down(picture, channel, reflected(column - at, len), row, down, below) +
                    blurred_down(picture, channel, reflected(column + at, len), row, down, below)) *
                   along[at];
        rgb[channel] = cut(rintf(sum));
    }
}

/* A pixel of one of Pillow's box blurs: along the row, or down the column if it reaches there. Beyond the ends of a line are its
 * outermost values. */
__device__ static void boxed(const struct picture *picture, int column, int row, int *rgb)
{
    const struct places *places = (const struct places *)picture->places;
    int along = (int)places->reach[0], down = (int)places->reach[1], reach = down ? down : along;
    unsigned int sums[3] = {0, 0, 0}, ends[3] = {0, 0, 0};

    for (int at = -reach; at <= reach; at++) {
        nearest_pixel(picture, down ? column : column + at, down ? row + at : row, rgb);
        for (int channel = 0; channel < 3; channel++) {
            if (at == -reach || at == reach)
                ends[channel] += (unsigned int)rgb[channel];
            else
                sums[channel] += (unsigned int)rgb[channel];
        }
    }
    for (int channel = 0; channel < 3; channel++)
        rgb[channel] = (int)((sums[channel] * places->whole + ends[channel] * places->end + (1u << 23)) >> 24 & 255);
}

/* Where a pixel is after Pillow's steps, which add up as many roundings. */
__device__ static double stepped(const double *line, unsigned int column, unsigned int row)
{
    double at = line[2] + line[0] * 0.5 + line[1] * 0.5;
    for (unsigned int step = 0; step < row; step++)
        at += line[1];
    for (unsigned int step = 0; step < column; step++)
        at += line[0];
    return at;
}

/* With 16 bits after the point, halves up. */
__device__ static long long fixed(double value)
{
    return (long long)floor(value * 65536.0 + 0.5);
}

__device__ static long long stepped_whole(const double *line, unsigned int column, unsigned int row)
{
    double start = line[2] + line[0] * 0.5 + line[1] * 0.5;
    return (fixed(start) + fixed(line[1]) * (long long)row + fixed(line[0]) * (long long)column) >> 16;
}

/* Pillow's cubic filter with a = -1, between the second and the third value. */
__device__ static double cubic(const double *values, double at)
{
    double slope = -values[0] + values[2];
    double bend = 2.0 * (values[0] - values[1]) + values[2] - values[3];
    double rest = -values[0] + values[1] - values[2] + values[3];
    return values[1] + at * (slope + at * (bend + at * rest));
}

/* What Pillow sees at a place. */
__device__ static void filtered(const struct picture *picture, unsigned int filter, double x, double y, int *rgb)
{
    double left = floor(x), top = floor(y), right = x - left, below = y - top;
    int first = (int)left, line = (int)top, pixels[4][4][3] = {0};
    int reach = filter == BICUBIC ? 1 : 0, side = filter == BICUBIC ? 4 : 2;

    if (filter == NEAREST) {
        nearest_pixel(picture, (int)(x + 0.5), (int)(y + 0.5), rgb);
        return;
    }
    for (int row = 0; row < side; row++)
        for (int column = 0; column < side; column++)
            nearest_pixel(picture, first - reach + column, line - reach + row, pixels[row][column]);
    for (int channel = 0; channel < 3; channel++) {
        double lines[4] = {0}, values[4] = {0};
        for (int row = 0; row < side; row++) {
            for (int column = 0; column < side; column++)
                values[column] = (double)pixels[row][column][channel];
            lines[row] = filter == BICUBIC ? cubic(values, right) : values[0] + (values[1] - values[0]) * right;
        }
        rgb[channel] =
            cut_double(filter == BICUBIC ? cubic(lines, below) : lines[0] + (lines[1] - lines[0]) * below);
    }
}

/* What torch sees at a place: pixels outside are 0, and with a fill what is missing of a pixel is the fill. */
__device__ static void weighted(const struct picture *picture, const struct places *places, double x, double y, int *rgb)
{
    double left = floor(x), top = floor(y), right = x - left, below = y - top;
    double sums[3] = {0.0, 0.0, 0.0}, share = 0.0;

    for (int row = 0; row < 2; row++)
        for (int column = 0; column < 2; column++) {
            int at_x = whole_of(left) + column, at_y = whole_of(top) + row;
            if (is_within(picture, at_x, at_y)) {
                double weight = (row ? below : 1.0 - below) * (column ? right : 1.0 - right);
                share += weight;
                for (int channel = 0; channel < 3; channel++)
                    sums[channel] += (double)sample(picture, channel, at_x, at_y) * weight;
            }
        }
    for (int channel = 0; channel < 3; channel++) {
        double fill = places->fill[channel];
        rgb[channel] = cut_double(rint(places->filled ? (sums[channel] - fill) * share + fill : sums[channel]));
    }
}

/* Where torch finds the nearest pixel. */
__device__ static void torch_place(const struct places *places, int projected, unsigned int column, unsigned int row,
                                   float *place)
{
    for (int side = 0; side < 2; side++) {
        const float *line = side ? places->near_row : places->near_column;
        if (projected) {
            float x = (float)column + 0.5f, y = (float)row + 0.5f, sides = places->half[side] * 2.0f;
            float depth = x * places->near_depth[0] + y * places->near_depth[1] + 1.0f;
            float from_middle = (x * line[0] + y * line[1] + line[2]) / depth - 1.0f;
            place[side] = ((from_middle + 1.0f) * sides - 1.0f) / 2.0f;
        } else {
            float x = (float)column - (places->to_half[0] - 0.5f), y = (float)row - (places->to_half[1] - 0.5f);
            place[side] = (x * line[0] + y * line[1] + line[2] + 1.0f) * places->half[side] - 0.5f;
        }
    }
}

/* A pixel that comes from somewhere else, or from outside. */
__device__ static void moved(const struct picture *picture, unsigned int column, unsigned int row, int *rgb)
{
    const struct places *places = (const struct places *)picture->places;
    double place[2];
    float near[2];
    long long x = -1, y = -1;

    for (int channel = 0; channel < 3; channel++)
        rgb[channel] = (int)(places->fill_bytes >> (8 * channel) & 255);
    switch (picture->source) {
    case WHOLE_STEPS:
        x = stepped_whole(places->column, column, row);
        y = stepped_whole(places->row, column, row);
        break;
    case STEPS:
        place[0] = stepped(places->column, column, row);
        place[1] = stepped(places->row, column, row);
        if (place[0] >= 0.0 && place[1] >= 0.0) {
            x = whole_of(place[0]);
            y = whole_of(place[1]);
        }
        break;
    case PLACES:
        place_of(places, column, row, place);
        if (place[0] >= 0.0 && place[0] < (double)picture->columns.side && place[1] >= 0.0 &&
            place[1] < (double)picture->rows.side)
            filtered(picture, places->filter, place[0] - 0.5, place[1] - 0.5, rgb);
        return;
    case TORCH_PLACES:
        place_of(places, column, row, place);
        weighted(picture, places, place[0] - 0.5, place[1] - 0.5, rgb);
        return;
    default:
        torch_place(places, picture->source == TORCH_NEAREST_PROJECTED, column, row, near);
        x = whole_of((double)rintf(near[0]));
        y = whole_of((double)rintf(near[1]));
    }
    if (is_within(picture, x, y))
        nearest_pixel(picture, (int)x, (int)y, rgb);
}
