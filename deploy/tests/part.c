/* Reads a part of an epoch, and prints the number of each record whose batch it has released.
 *
 *     part STREAM BATCHES SOCKET
 *
 * With 0 BATCHES, it reads until the epoch is over, and ends. Otherwise it prints a last line `waits`, and stays attached. */

#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <forebay.h>

static void fail(const char *what) {
  fprintf(stderr, "part: %s: %s\n", what, forebay_error());
  exit(1);
}

int main(int count, char **words) {
  if (count != 4)
    return 2;
  long batches = strtol(words[2], NULL, 10);
  forebay_options options = {0};
  options.stream = words[1];
  options.socket = words[3];
  forebay_session *session;
  if (forebay_attach(&options, &session))
    fail("attach");
  for (long number = 0; batches == 0 || number < batches; number++) {
    forebay_batch *batch;
    forebay_batch_facts facts;
    forebay_view records;
    forebay_status status = forebay_next(session, -1, &batch);
    if (status == FOREBAY_STATUS_EPOCH_END && batches == 0)
      return forebay_close(session) ? 1 : 0;
    if (status != FOREBAY_STATUS_OK)
      fail("next");
    if (forebay_batch_info(batch, &facts) || forebay_batch_view(batch, "records", &records))
      fail("batch");
    for (size_t place = 0; place < facts.valid; place++)
      printf("%" PRId64 "\n", ((const int64_t *)records.data)[place]);
    if (forebay_release(batch))
      fail("release");
  }
  puts("waits");
  fflush(stdout);
  pause();
  return 1;
}
