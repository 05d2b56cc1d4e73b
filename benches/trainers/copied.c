/* Counts the bytes of pictures that a trainer in C gets outside the ring: those that were copied on the host.
 *
 *     cc -std=c99 -o copied benches/trainers/copied.c $(pkg-config --cflags --libs forebay)
 *     ./copied STREAM SOCKET BATCHES
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <forebay.h>

static void fail(const char *what) {
  fprintf(stderr, "copied: %s: %s\n", what, forebay_error());
  exit(1);
}

/* Whether all of it is in one mapping of a ring's memory file, as the kernel names it. */
static int is_in_a_ring(const void *data, unsigned long long length) {
  unsigned long long address = (unsigned long long)(size_t)data, start, end;
  char line[512];
  int is_in = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  if (!maps) {
    perror("copied: /proc/self/maps");
    exit(1);
  }
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%llx-%llx", &start, &end) == 2 && start <= address && address + length <= end)
      is_in = strstr(line, "/memfd:forebay") != NULL;
  fclose(maps);
  return is_in;
}

int main(int count, char **words) {
  if (count != 4) {
    fprintf(stderr, "usage: copied STREAM SOCKET BATCHES\n");
    return 2;
  }
  forebay_options options = {0};
  options.stream = words[1];
  options.socket = words[2];
  forebay_session *session;
  if (forebay_attach(&options, &session))
    fail("attach");
  unsigned long long copied = 0;
  for (long left = strtol(words[3], NULL, 10); left > 0;) {
    forebay_batch *batch;
    forebay_status status = forebay_next(session, -1, &batch);
    if (status < 0 || status == FOREBAY_STATUS_DONE)
      fail("next");
    if (status != FOREBAY_STATUS_OK)
      continue;
    forebay_view images;
    if (forebay_batch_view(batch, "images", &images))
      fail("view");
    if (!is_in_a_ring(images.data, images.bytes))
      copied += images.bytes;
    if (forebay_release(batch))
      fail("release");
    left--;
  }
  printf("%llu\n", copied);
  if (forebay_close(session))
    fail("close");
  return 0;
}
