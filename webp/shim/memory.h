/* The memory that libwebp takes, counted by thread and held to a limit. */
#ifndef FOREBAY_WEBP_MEMORY_H
#define FOREBAY_WEBP_MEMORY_H

#include <stddef.h>

/* Begins a call that may take so many bytes in this thread. */
void forebay_webp_memory_begin(size_t limit);

/* Whether libwebp wanted more since then. */
int forebay_webp_memory_was_refused(void);

/* What libwebp calls instead of the functions of the C library. */
void *forebay_webp_malloc(size_t size);
void *forebay_webp_calloc(size_t count, size_t size);
void forebay_webp_free(void *memory);

#endif
