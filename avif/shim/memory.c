/* The memory that dav1d takes, counted by thread and held to a limit: see memory.h. dav1d runs in the caller's thread alone, so that
 * what it takes and gives back is counted in one place. */
#include "memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Before each piece of memory: its size, and where the C library's piece begins. As long as the strictest alignment of its memory. */
struct before {
    size_t size;
    void *whole;
};
#define BEFORE 16
_Static_assert(sizeof(struct before) <= BEFORE, "it fits");

static _Thread_local size_t limit, taken, most;
static _Thread_local int was_refused;

void forebay_avif_memory_begin(size_t bytes)
{
    /* What is still taken is of pictures that are in use. */
    limit = bytes > SIZE_MAX - taken ? SIZE_MAX : taken + bytes;
    most = taken;
    was_refused = 0;
}

int forebay_avif_memory_was_refused(void)
{
    return was_refused;
}

size_t forebay_avif_memory_most(void)
{
    return most;
}

static struct before *before(void *memory)
{
    return (struct before *)(void *)((char *)memory - BEFORE);
}

int forebay_avif_posix_memalign(void **memory, size_t alignment, size_t size)
{
    size_t first = alignment < BEFORE ? BEFORE : alignment;
    if (taken > limit || size > limit - taken || size > SIZE_MAX - first) {
        was_refused = 1;
        return ENOMEM;
    }
    void *whole;
    if (posix_memalign(&whole, first, size + first) != 0)
        return ENOMEM;
    *memory = (char *)whole + first;
    before(*memory)->size = size;
    before(*memory)->whole = whole;
    taken += size;
    if (taken > most)
        most = taken;
    return 0;
}

void *forebay_avif_malloc(size_t size)
{
    void *memory;
    return forebay_avif_posix_memalign(&memory, BEFORE, size) == 0 ? memory : NULL;
}

void *forebay_avif_realloc(void *memory, size_t size)
{
    void *larger = forebay_avif_malloc(size);
    if (larger == NULL || memory == NULL)
        return larger;
    size_t old = before(memory)->size;
    memcpy(larger, memory, old < size ? old : size);
    forebay_avif_free(memory);
    return larger;
}

void forebay_avif_free(void *memory)
{
    if (memory == NULL)
        return;
    taken -= before(memory)->size;
    free(before(memory)->whole);
}
