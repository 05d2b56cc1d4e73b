// Takes a quarter of a second for each write that must be durable, as a slow disk does. It is preloaded into a process.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int slow(long call, int file) {
    const struct timespec quarter = {0, 250000000};
    nanosleep(&quarter, 0);
    return syscall(call, file);
}

int fsync(int file) { return slow(SYS_fsync, file); }

int fdatasync(int file) { return slow(SYS_fdatasync, file); }
