/* A trainer of a group reads to the end of the stream, and prints a line for each batch: its epoch and its records.
 * Usage: groups SOCKET GROUP JOIN WAITS_AFTER, with "" for no group. It prints "attached" first. With the batch of the
 * number WAITS_AFTER in its hand, counted from 1, it waits for a line. */

#include <inttypes.h>
#include <string.h>

#include "expect.h"

static void print_records(forebay_batch *batch) {
  forebay_batch_facts facts;
  forebay_view records, mask;
  EXPECT(!forebay_batch_info(batch, &facts) && !forebay_batch_view(batch, "records", &records));
  EXPECT(!forebay_batch_view(batch, "mask", &mask));
  printf("%" PRIu64, facts.epoch);
  for (int64_t i = 0; i < records.shape[0]; i++)
    if (((const unsigned char *)mask.data)[i])
      printf(" %" PRId64, ((const int64_t *)records.data)[i]);
  printf("\n");
}

/* The numbers are those of the error's text. */
static void print_missed(forebay_session *session) {
  char words[128];
  forebay_missed_facts missed;
  EXPECT(!forebay_missed_info(session, &missed));
  snprintf(words, sizeof words, "missed %" PRIu64 " records of epoch %" PRIu64 ", in batches %" PRIu64 " to %" PRIu64,
           missed.records, missed.epoch, missed.from_batch, missed.to_batch);
  EXPECT(strstr(forebay_error(), words) && strstr(forebay_error(), "call forebay_next again"));
  for (size_t i = 0; i < sizeof missed.reserved / sizeof *missed.reserved; i++)
    EXPECT(missed.reserved[i] == 0);
  printf("missed %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", missed.epoch, missed.from_batch, missed.to_batch,
         missed.records);
}

int main(int count, char **words) {
  forebay_options options = {0};
  forebay_session *session;
  forebay_batch *batch;
  forebay_missed_facts missed;
  EXPECT(count == 5 && !setvbuf(stdout, NULL, _IOLBF, BUFSIZ));
  options.stream = "train";
  options.socket = words[1];
  options.group = *words[2] ? words[2] : NULL;
  options.join = strcmp(words[3], "epoch") ? FOREBAY_JOIN_NEXT : FOREBAY_JOIN_EPOCH;
  long waits_after = strtol(words[4], NULL, 10), batches = 0;
  EXPECT(!forebay_attach(&options, &session));
  EXPECT(forebay_missed_info(session, &missed) == FOREBAY_STATUS_INVALID);
  printf("attached\n");
  for (;;) {
    forebay_status status = forebay_next(session, -1, &batch);
    if (status == FOREBAY_STATUS_DONE)
      break;
    if (status == FOREBAY_STATUS_MISSED)
      print_missed(session);
    else if (status != FOREBAY_STATUS_EPOCH_END) {
      EXPECT(status == FOREBAY_STATUS_OK);
      print_records(batch);
      if (++batches == waits_after)
        EXPECT(getchar() == '\n');
      EXPECT(!forebay_release(batch));
    }
  }
  EXPECT(!forebay_close(session) && forebay_open_handles() == 0);
  return 0;
}
