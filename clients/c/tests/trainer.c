/* A trainer of the torture test, which describes the journal (clients/python/tests/torture/trainer.py), in C. It takes a
 * batch while it holds the one before, forks, and has its calls interrupted by signals.
 * Usage: trainer SOCKET STREAM JOURNAL STOP SEED */

#define _XOPEN_SOURCE 700

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"

enum { PAYLOAD = 8 * 8 * 3, LINE = 4096 };

static const char *socket_path, *stream, *stop;
static int journal;
static uint64_t state;
static forebay_session *session;
/* The batch before, and when the trainer began to wait for the next one: 0 while it does not wait. */
static forebay_batch *held;
static double hungry;
static volatile sig_atomic_t told_to_stop;

/* Writes a line of the journal with one write, so that a kill leaves whole lines. */
static void note(const char *format, ...) {
  char line[LINE];
  va_list values;
  va_start(values, format);
  int length = vsnprintf(line, sizeof line - 1, format, values);
  va_end(values);
  EXPECT(length >= 0 && length < LINE - 1);
  line[length++] = '\n';
  EXPECT(write(journal, line, (size_t)length) == length);
}

/* A random number below 1. */
static double chance(void) {
  uint64_t mixed = state += UINT64_C(0x9e3779b97f4a7c15);
  mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((mixed ^ (mixed >> 31)) >> 11) / 9007199254740992.0;
}

/* Seconds on the clock of the journals. */
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The timer may end it early. */
static void doze(double seconds) {
  struct timespec time = {0, (long)(seconds * 1e9)};
  nanosleep(&time, NULL);
}

static void terminate(int number) {
  (void)number;
  told_to_stop = 1;
}

/* A call of the system that this interrupts ends with EINTR. */
static void interrupt(int number) { (void)number; }

static void interrupt_soon(double seconds) {
  struct itimerval timer = {{0, 0}, {0, (suseconds_t)(seconds * 1e6)}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

static uint32_t crc32(const unsigned char *bytes, size_t length) {
  uint32_t sum = UINT32_MAX;
  for (size_t i = 0; i < length; i++) {
    sum ^= bytes[i];
    for (int bit = 0; bit < 8; bit++)
      sum = (sum >> 1) ^ (sum & 1 ? UINT32_C(0xedb88320) : 0);
  }
  return ~sum;
}

static uint64_t little_endian(const unsigned char *bytes, int length) {
  uint64_t number = 0;
  while (length--)
    number = number << 8 | bytes[length];
  return number;
}

/* Whether the pixels are the payload of a record: its number, random bytes, and their checksum. */
static int is_of(const unsigned char *pixels, int64_t record) {
  return little_endian(pixels, 8) == (uint64_t)record &&
         little_endian(pixels + PAYLOAD - 4, 4) == crc32(pixels, PAYLOAD - 4);
}

/* Writes a line with a batch's epoch and records: all that it shows, or those that are delivered with it. */
static void note_records(const char *what, forebay_batch *batch, int all) {
  char line[LINE];
  forebay_batch_facts facts;
  forebay_view records, mask;
  EXPECT(!forebay_batch_info(batch, &facts) && !forebay_batch_view(batch, "records", &records));
  EXPECT(!forebay_batch_view(batch, "mask", &mask));
  int length = snprintf(line, sizeof line, "%s %" PRIu64, what, facts.epoch);
  for (int64_t i = 0; i < records.shape[0]; i++)
    if (all || ((const unsigned char *)mask.data)[i])
      length += snprintf(line + length, sizeof line - (size_t)length, " %" PRId64, ((const int64_t *)records.data)[i]);
  note("%s", line);
}

/* Writes a line with the incarnation of the daemon that made a batch's ring, whose header is where its mapping begins, and
 * with the batch's number. */
static void note_origin(forebay_batch *batch) {
  forebay_batch_facts facts;
  forebay_view images;
  char line[LINE];
  EXPECT(!forebay_batch_info(batch, &facts) && !forebay_batch_view(batch, "images", &images));
  FILE *maps = fopen("/proc/self/maps", "r");
  EXPECT(maps);
  while (fgets(line, sizeof line, maps)) {
    char *rest;
    uintptr_t begin = strtoull(line, &rest, 16), end = strtoull(rest + 1, NULL, 16);
    if (begin <= (uintptr_t)images.data && (uintptr_t)images.data < end)
      note("of %" PRIu64 " %" PRIu64, little_endian((const unsigned char *)begin + 16, 8), facts.number);
  }
  EXPECT(!fclose(maps));
}

/* Compares the pixels with the records. A batch keeps both as long as it is held. */
static void look(forebay_batch *batch) {
  forebay_view images, records;
  EXPECT(!forebay_batch_view(batch, "images", &images) && !forebay_batch_view(batch, "records", &records));
  EXPECT(images.bytes == (size_t)images.shape[0] * PAYLOAD && images.shape[0] == records.shape[0]);
  for (int64_t i = 0; i < images.shape[0]; i++)
    if (!is_of((const unsigned char *)images.data + i * PAYLOAD, ((const int64_t *)records.data)[i])) {
      note_records("wrong", batch, 1);
      return;
    }
}

/* Notes a wait that was long enough to be of interest. */
static void eat(void) {
  if (hungry > 0 && now() - hungry > 0.2)
    note("waited %.3f %.3f", hungry, now());
  hungry = 0;
}

static void attach_soon(void) {
  forebay_options options = {0};
  options.stream = stream;
  options.socket = socket_path;
  while (!told_to_stop) {
    forebay_status status = forebay_attach(&options, &session);
    if (status == FOREBAY_STATUS_OK) {
      note("attached %.3f", now());
      return;
    }
    EXPECT(status == FOREBAY_STATUS_UNREACHABLE || status == FOREBAY_STATUS_REFUSED || status == FOREBAY_STATUS_BROKEN);
    doze(0.02);
  }
}

/* Makes a child, which keeps the connection open and closes nothing. It may live longer than this process. */
static void make_a_child(void) {
  while (waitpid(-1, NULL, WNOHANG) > 0)
    ;
  pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    doze(0.3 * chance());
    _exit(0);
  }
  note("forked");
}

/* The batch before was consumed by the call of `forebay_next`. */
static void drop_the_one_before(void) {
  if (held) {
    look(held);
    EXPECT(!forebay_release(held));
  }
  held = NULL;
}

static void use(forebay_batch *batch) {
  drop_the_one_before();
  note_origin(batch);
  if (chance() < 0.05) {
    note_records("rejected", batch, 0);
    EXPECT(!forebay_reject(batch));
    return;
  }
  held = batch;
  note_records("got", batch, 0);
  look(batch);
  if (chance() < 0.02)
    make_a_child();
  doze(0.01 * chance());
  look(batch);
}

/* Takes one batch. 1 at the end of an epoch. */
static int step(void) {
  static const int64_t patience[] = {0, 50, -1};
  forebay_batch *batch;
  if (hungry <= 0)
    hungry = now();
  interrupt_soon(chance() < 0.5 ? 0 : 0.00001 + 0.02 * chance());
  forebay_status status = forebay_next(session, patience[(int)(3 * chance())], &batch);
  interrupt_soon(0);
  switch (status) {
  case FOREBAY_STATUS_OK:
    eat();
    use(batch);
    return 0;
  case FOREBAY_STATUS_EPOCH_END:
    eat();
    drop_the_one_before();
    return 1;
  case FOREBAY_STATUS_TIMEOUT:
    note("late");
    doze(0.001);
    return 0;
  case FOREBAY_STATUS_OUTAGE:
    note("outage %s", forebay_error());
    drop_the_one_before();
    EXPECT(!forebay_close(session));
    session = NULL;
    attach_soon();
    return 0;
  default:
    fprintf(stderr, "next: %s: %s\n", forebay_status_text(status), forebay_error());
    exit(1);
  }
}

int main(int count, char **words) {
  struct stat there;
  struct sigaction stopping = {0}, interrupting = {0};
  EXPECT(count == 6);
  socket_path = words[1];
  stream = words[2];
  journal = open(words[3], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  stop = words[4];
  state = strtoull(words[5], NULL, 10);
  stopping.sa_handler = terminate;
  interrupting.sa_handler = interrupt;
  EXPECT(journal >= 0 && !sigaction(SIGTERM, &stopping, NULL) && !sigaction(SIGALRM, &interrupting, NULL));
  note("began");
  hungry = now();
  attach_soon();
  while (!told_to_stop && !(step() && stat(stop, &there) == 0))
    ;
  eat();
  /* The journal has it as consumed. */
  if (held)
    EXPECT(!forebay_release(held));
  if (session)
    EXPECT(!forebay_close(session) && forebay_open_handles() == 0);
  note("left");
  return 0;
}
