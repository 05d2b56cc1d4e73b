/* Prints every column of one epoch, one line each: number of the batch, column, part, type, shape, and the bytes in hex.
 * Then it goes back to the state after the first batch, and prints the records of the rest once more.
 * Usage: dump SOCKET, of a daemon with a stream `train`. */

#include <string.h>

#include "expect.h"

static void print(unsigned batch, const char *column, const char *part, const forebay_view *view) {
  printf("%u %s %s %u ", batch, column, part, (unsigned)view->value_type);
  for (unsigned axis = 0; axis < view->dims; axis++)
    printf("%s%lld", axis ? "x" : "", (long long)view->shape[axis]);
  printf(" =");
  for (size_t i = 0; i < view->bytes; i++)
    printf("%02x", ((const unsigned char *)view->data)[i]);
  printf("\n");
}

static void print_columns(unsigned number, forebay_batch *batch) {
  forebay_batch_facts facts;
  EXPECT(!forebay_batch_info(batch, &facts));
  for (size_t column = 0; column < facts.columns; column++) {
    char name[64], level_name[16];
    size_t length = sizeof name, level = 1;
    forebay_view view;
    EXPECT(!forebay_batch_column_name(batch, column, name, &length));
    EXPECT(!forebay_batch_view(batch, name, &view));
    print(number, name, "values", &view);
    if (forebay_batch_validity(batch, name, &view) == FOREBAY_STATUS_OK)
      print(number, name, "validity", &view);
    for (; forebay_batch_offsets(batch, name, level, &view) == FOREBAY_STATUS_OK; level++) {
      snprintf(level_name, sizeof level_name, "offsets%u", (unsigned)level);
      print(number, name, level_name, &view);
    }
  }
}

/* Reads to the end of the epoch. */
static void print_rest(forebay_session *session, unsigned number, const char *only) {
  forebay_batch *batch;
  forebay_status status;
  for (; (status = forebay_next(session, -1, &batch)) == FOREBAY_STATUS_OK; number++) {
    forebay_view view;
    if (only) {
      EXPECT(!forebay_batch_view(batch, only, &view));
      print(number, only, "again", &view);
    } else {
      print_columns(number, batch);
    }
    EXPECT(!forebay_release(batch));
  }
  EXPECT(status == FOREBAY_STATUS_EPOCH_END || status == FOREBAY_STATUS_DONE);
}

int main(int count, char **words) {
  EXPECT(count == 2);
  forebay_session *session = attach(words[1]);
  forebay_batch *first = next_batch(session);
  print_columns(0, first);
  EXPECT(!forebay_release(first));
  char state[4096];
  size_t length = sizeof state;
  EXPECT(!forebay_state(session, state, &length) && length <= sizeof state);
  print_rest(session, 1, NULL);
  EXPECT(!forebay_restore(session, state, length));
  print_rest(session, 1, "records");
  EXPECT(!forebay_close(session) && forebay_open_handles() == 0);
  return 0;
}
