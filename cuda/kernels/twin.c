/* The kernels for the CPU: the same source, its threads as loops. Tests on a GPU hold the kernel against it, and the
 * fake driver runs it: either gives the function a name of its own, TWIN. */

#include <math.h>

#define __global__ static
#define __device__
#define __noinline__
#define __launch_bounds__(threads, blocks)

struct dimensions {
    unsigned int x, y;
};

static _Thread_local struct dimensions blockIdx, blockDim, threadIdx;

/* Here a picture's threads run one after the other. */
static void atomicAdd(unsigned int *at, unsigned int more)
{
    *at += more;
}

#include "compose.cu"

void TWIN(const struct picture *pictures, unsigned int blocks_x, unsigned int blocks_y, unsigned int threads);

void TWIN(const struct picture *pictures, unsigned int blocks_x, unsigned int blocks_y, unsigned int threads)
{
    blockDim.x = threads;
    for (blockIdx.y = 0; blockIdx.y < blocks_y; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < blocks_x; blockIdx.x++)
            for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++)
                forebay_compose(pictures);
}
