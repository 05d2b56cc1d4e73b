/* Preloaded: what happens to a process that takes memory of a size that only one picture of a test needs. A row of that picture has
   3 bytes a pixel. */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static int is_row(size_t size, size_t width)
{
    return size >= 3 * width && size < 3 * width + 200;
}

static void look(size_t size)
{
    if (is_row(size, 7919))
        *(volatile int *)0 = 1;
    if (is_row(size, 8219))
        for (;;)
            pause();
    if (is_row(size, 8519)) {
        const char *file = getenv("POISON_FILE");
        if (file && access(file, F_OK) == 0)
            kill(getpid(), SIGKILL);
    }
    if (is_row(size, 8819)) {
        struct rlimit most;
        getrlimit(RLIMIT_DATA, &most);
        /* Only the memory of a child is limited. */
        if (most.rlim_cur == RLIM_INFINITY)
            kill(getpid(), SIGKILL);
        for (size_t part = 1 << 25; part > 0; part /= 2)
            while (__libc_malloc(part))
                ;
    }
}

void *malloc(size_t size)
{
    look(size);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    look(count * size);
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    look(size);
    return __libc_realloc(old, size);
}
