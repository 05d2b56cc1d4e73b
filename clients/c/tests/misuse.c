/* Misuse that can be told is an error with a text: NULL, closed handles, wrong names, small buffers, forks.
 * Usage: misuse SOCKET, of a daemon with a stream `train` of 64 records of 2 classes in batches of 4. */

#define _POSIX_C_SOURCE 200809L

#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

/* Whether the last error of this thread has these words. */
static int says(const char *words) { return strstr(forebay_error(), words) != NULL; }

static void null_is_refused_everywhere(forebay_session *session, forebay_batch *batch) {
  forebay_options options = {0};
  forebay_session *none;
  forebay_view view;
  size_t length = 0;
  EXPECT(forebay_attach(NULL, &none) == FOREBAY_STATUS_INVALID && says("options is NULL") && !none);
  EXPECT(forebay_attach(&options, NULL) == FOREBAY_STATUS_INVALID && says("session is NULL"));
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_INVALID && says("options.stream is NULL"));
  options.stream = "";
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_INVALID && says("options.stream is empty"));
  const char *columns[] = {NULL};
  options.stream = "train", options.columns = columns, options.column_count = 1;
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_INVALID && says("an entry of options.columns is NULL"));
  options.columns = NULL;
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_INVALID && says("options.columns is NULL, and its count is 1"));
  EXPECT(forebay_next(NULL, 0, &batch) == FOREBAY_STATUS_INVALID && says("session is NULL") && !batch);
  EXPECT(forebay_next(session, 0, NULL) == FOREBAY_STATUS_INVALID && says("batch is NULL"));
  EXPECT(forebay_stream_info(session, NULL) == FOREBAY_STATUS_INVALID);
  EXPECT(forebay_class_name(session, 0, NULL, NULL) == FOREBAY_STATUS_INVALID && says("length is NULL"));
  EXPECT(forebay_state(NULL, NULL, &length) == FOREBAY_STATUS_INVALID);
  EXPECT(forebay_restore(session, NULL, 8) == FOREBAY_STATUS_INVALID && says("state is NULL"));
  EXPECT(forebay_restore(session, "garbage", 7) == FOREBAY_STATUS_INVALID && says("not a state"));
  EXPECT(forebay_batch_view(NULL, "images", &view) == FOREBAY_STATUS_INVALID && says("batch is NULL"));
  EXPECT(forebay_close(NULL) == FOREBAY_STATUS_OK && forebay_release(NULL) == FOREBAY_STATUS_OK);
  EXPECT(forebay_reject(NULL) == FOREBAY_STATUS_OK);
}

static void options_are_checked(const char *socket) {
  forebay_session *none;
  forebay_options options = {0};
  options.stream = "train";
  options.socket = "/nowhere/forebay.sock";
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_UNREACHABLE && says("/nowhere/forebay.sock") && !none);
  EXPECT(says("daemon_wait_ms") && says("socket of forebay_options") && !says("wait=") && !says("::"));
  options.socket = socket;
  options.stream = "\xff";
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_INVALID && says("not UTF-8"));
  options.stream = "another";
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_REFUSED && says("another"));
  options.stream = "train";
  options.settings = "{\"batch_size\": 5}";
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_REFUSED && says("batch_size"));
  options.settings = NULL;
  options.shard_id = 3;
  options.num_shards = 2;
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_INVALID && says("shard_id is 3"));
  options.shard_id = options.num_shards = 0;
  options.reserved[4] = 1;
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_INVALID && says("reserved"));
  EXPECT(!none);
}

static void groups_are_checked(const char *socket, forebay_session *session) {
  forebay_session *none;
  forebay_options options = {0};
  forebay_missed_facts missed;
  char name[66] = {0};
  options.stream = "train";
  options.socket = socket;
  options.group = "\xff";
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_INVALID && says("options.group is not UTF-8") && !none);
  EXPECT(says("encode it in UTF-8"));
  options.group = "";
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_INVALID && says("or NULL for none") && !none);
  memset(name, 'g', 65);
  options.group = name;
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_INVALID && says("longer than 64 bytes") && !none);
  EXPECT(says("give a shorter name"));
  /* The longest name is only refused because this stream has no groups. */
  name[64] = 0;
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_REFUSED && says("groups = \"each\"") && !none);
  options.group = NULL;
  options.join = 2;
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_INVALID && says("options.join is 2") && !none);
  EXPECT(says("give FOREBAY_JOIN_NEXT or FOREBAY_JOIN_EPOCH"));
  options.join = UINT64_C(1) << 32;
  EXPECT(forebay_attach(&options, &none) == FOREBAY_STATUS_INVALID && !none);
  EXPECT(forebay_missed_info(NULL, &missed) == FOREBAY_STATUS_INVALID && says("session is NULL"));
  EXPECT(forebay_missed_info(session, &missed) == FOREBAY_STATUS_INVALID && says("told of no missed batches"));
}

static void columns_are_found_by_their_names_alone(forebay_batch *batch) {
  forebay_view view;
  forebay_batch_facts facts;
  char name[64];
  size_t length = sizeof name;
  EXPECT(forebay_batch_info(batch, NULL) == FOREBAY_STATUS_INVALID);
  EXPECT(!forebay_batch_info(batch, &facts) && facts.shown == 4 && facts.valid == 4 && facts.columns == 4);
  EXPECT(forebay_batch_view(batch, NULL, &view) == FOREBAY_STATUS_INVALID && says("column is NULL"));
  EXPECT(forebay_batch_view(batch, "labels", NULL) == FOREBAY_STATUS_INVALID && says("view is NULL"));
  EXPECT(forebay_batch_view(batch, "boxes", &view) == FOREBAY_STATUS_INVALID && says("images, labels, records, mask"));
  EXPECT(forebay_batch_offsets(batch, "labels", 1, &view) == FOREBAY_STATUS_INVALID && says("0 ragged levels"));
  EXPECT(forebay_batch_offsets(batch, "boxes", 0, &view) == FOREBAY_STATUS_INVALID);
  EXPECT(forebay_batch_validity(batch, "labels", &view) == FOREBAY_STATUS_INVALID && says("no validity"));
  EXPECT(!forebay_batch_column_name(batch, 3, name, &length) && !strcmp(name, "mask") && length == 5);
  EXPECT(forebay_batch_column_name(batch, 4, name, &length) == FOREBAY_STATUS_INVALID && says("4 columns"));
  EXPECT(forebay_batch_column_name(batch, SIZE_MAX, name, &length) == FOREBAY_STATUS_INVALID);
}

static void a_small_buffer_stays_as_it_is(forebay_session *session, forebay_batch *batch) {
  char name[4] = "abc", state[1] = {'x'}, class_name[16];
  size_t length = 3, needed = 0;
  EXPECT(forebay_batch_column_name(batch, 0, name, &length) == FOREBAY_STATUS_SPACE && says("3 bytes, and 7"));
  EXPECT(length == 7 && !strcmp(name, "abc"));
  EXPECT(!forebay_state(session, NULL, &needed) && needed > 1);
  length = sizeof state;
  EXPECT(forebay_state(session, state, &length) == FOREBAY_STATUS_SPACE && length > 1 && state[0] == 'x');
  length = sizeof class_name;
  EXPECT(!forebay_class_name(session, 1, class_name, &length) && !strcmp(class_name, "class-1") && length == 8);
  EXPECT(forebay_class_name(session, UINT64_MAX, name, &length) == FOREBAY_STATUS_INVALID && says("2 classes"));
}

static void times_are_checked(forebay_session *session) {
  forebay_batch *batch;
  EXPECT(forebay_next(session, -2, &batch) == FOREBAY_STATUS_INVALID && says("-2") && !batch);
  EXPECT(forebay_next(session, INT64_MIN, &batch) == FOREBAY_STATUS_INVALID && !batch);
}

/* The ring has two slots for this trainer, and it holds both. */
static void a_trainer_that_holds_every_slot_is_told(forebay_session *session) {
  forebay_batch *first = next_batch(session), *second = next_batch(session), *third;
  EXPECT(forebay_next(session, 0, &third) == FOREBAY_STATUS_SLOTS_HELD && says("release one") && !third);
  EXPECT(!forebay_release(second) && !forebay_release(first));
}

static void a_handle_is_open_once(forebay_session *session, forebay_batch *batch, int *elsewhere) {
  forebay_view view;
  forebay_batch *next;
  EXPECT(!forebay_release(batch));
  EXPECT(forebay_release(batch) == FOREBAY_STATUS_CLOSED && says("no open batch"));
  EXPECT(forebay_reject(batch) == FOREBAY_STATUS_CLOSED);
  EXPECT(forebay_batch_view(batch, "images", &view) == FOREBAY_STATUS_CLOSED);
  /* Neither a batch nor an address of the caller is a session. */
  EXPECT(forebay_next((forebay_session *)batch, 0, &next) == FOREBAY_STATUS_CLOSED && says("no open session"));
  EXPECT(forebay_close((forebay_session *)elsewhere) == FOREBAY_STATUS_CLOSED);
  EXPECT(!forebay_close(session));
  EXPECT(forebay_close(session) == FOREBAY_STATUS_CLOSED);
  EXPECT(forebay_next(session, 0, &next) == FOREBAY_STATUS_CLOSED && !next);
}

/* A forked child may use nothing of its parent, and can attach anew. */
static void a_forked_child_attaches_anew(const char *socket) {
  forebay_session *session = attach(socket);
  forebay_batch *batch = next_batch(session);
  pid_t child = fork();
  if (child == 0) {
    forebay_batch *other;
    EXPECT(forebay_next(session, 0, &other) == FOREBAY_STATUS_CLOSED && says("attach anew"));
    EXPECT(forebay_release(batch) == FOREBAY_STATUS_CLOSED);
    EXPECT(forebay_open_handles() == 0);
    forebay_session *own = attach(socket);
    EXPECT(forebay_open_handles() == 1 && !forebay_close(own));
    exit(0);
  }
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT(!forebay_release(batch) && !forebay_close(session));
}

/* Views stay readable when the session is gone. */
static void a_batch_outlives_its_session(const char *socket) {
  forebay_session *session = attach(socket);
  forebay_batch *batch = next_batch(session);
  forebay_view view;
  EXPECT(!forebay_close(session));
  EXPECT(!forebay_batch_view(batch, "images", &view) && view.bytes == 4 * 8 * 8 * 3);
  unsigned sum = 0;
  for (size_t i = 0; i < view.bytes; i++)
    sum += ((const unsigned char *)view.data)[i];
  EXPECT(sum > 0);
  EXPECT(!forebay_release(batch));
}

int main(int count, char **words) {
  int elsewhere = 0;
  EXPECT(count == 2 && forebay_open_handles() == 0 && !*forebay_error());
  EXPECT(strcmp(forebay_version(), "0.1.0") >= 0 && strstr(forebay_status_text(12345), "no status"));
  forebay_session *session = attach(words[1]);
  forebay_batch *batch = next_batch(session);
  EXPECT(forebay_open_handles() == 2);
  null_is_refused_everywhere(session, batch);
  options_are_checked(words[1]);
  groups_are_checked(words[1], session);
  columns_are_found_by_their_names_alone(batch);
  a_small_buffer_stays_as_it_is(session, batch);
  times_are_checked(session);
  a_handle_is_open_once(session, batch, &elsewhere);
  session = attach(words[1]);
  a_trainer_that_holds_every_slot_is_told(session);
  EXPECT(!forebay_close(session));
  a_forked_child_attaches_anew(words[1]);
  a_batch_outlives_its_session(words[1]);
  EXPECT(forebay_open_handles() == 0);
  return 0;
}
