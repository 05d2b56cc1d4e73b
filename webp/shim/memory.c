/* The memory that libwebp takes, counted by thread and held to a limit: see memory.h. A file of some kilobytes can ask for tables
 * of hundreds of megabytes. */
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>

/* Before each piece of memory: its size. As long as the strictest alignment of the C library's memory. */
#define BEFORE 16

static _Thread_local size_t left;
static _Thread_local int was_refused;

void forebay_webp_memory_begin(size_t limit)
{
    left = limit;
    was_refused = 0;
}

int forebay_webp_memory_was_refused(void)
{
    return was_refused;
}

static void *counted(size_t size, int is_cleared)
{
    if (size > left || size > SIZE_MAX - BEFORE) {
        was_refused = 1;
        return NULL;
    }
    size_t *memory = is_cleared ? calloc(1, size + BEFORE) : malloc(size + BEFORE);
    if (memory == NULL)
        return NULL;
    left -= size;
    *memory = size;
    return (char *)memory + BEFORE;
}

void *forebay_webp_malloc(size_t size)
{
    return counted(size, 0);
}

void *forebay_webp_calloc(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    return counted(count * size, 1);
}

void forebay_webp_free(void *memory)
{
    if (memory == NULL)
        return;
    size_t *whole = (size_t *)(void *)((char *)memory - BEFORE);
    left += *whole;
    free(whole);
}
