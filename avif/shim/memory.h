/* The memory that dav1d takes, counted by thread and held to a limit. */
#ifndef FOREBAY_AVIF_MEMORY_H
#define FOREBAY_AVIF_MEMORY_H

#include <stddef.h>

/* Begins a call that may take so many bytes in this thread. */
void forebay_avif_memory_begin(size_t limit);

/* Whether dav1d wanted more since then. */
int forebay_avif_memory_was_refused(void);

/* The most bytes that were taken at once since then. */
size_t forebay_avif_memory_most(void);

/* What dav1d calls instead of the functions of the C library. */
void *forebay_avif_malloc(size_t size);
void *forebay_avif_realloc(void *memory, size_t size);
int forebay_avif_posix_memalign(void **memory, size_t alignment, size_t size);
void forebay_avif_free(void *memory);

#endif
