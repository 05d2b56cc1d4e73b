/* One thread at a time is in a call on a session, any thread releases batches, and closing a session ends a wait.
 * Usage: threads SOCKET, of a daemon with a stream `train` of one batch per epoch. */

#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

/* What the waiting thread ended with. */
struct wait {
  forebay_session *session;
  forebay_status status;
  char error[128];
};

static void *wait_for_a_batch(void *argument) {
  struct wait *wait = argument;
  forebay_batch *batch;
  do {
    /* The other thread may be in a call of its own. */
    wait->status = forebay_next(wait->session, -1, &batch);
  } while (wait->status == FOREBAY_STATUS_BUSY);
  EXPECT(!batch);
  snprintf(wait->error, sizeof wait->error, "%s", forebay_error());
  return NULL;
}

static void *release(void *batch) {
  EXPECT(!forebay_release(batch));
  return NULL;
}

/* Another trainer, which holds the epoch's batch until the pipe closes. */
static void hold(const char *socket, int ready, int end) {
  forebay_session *session = attach(socket);
  forebay_batch *batch = next_batch(session);
  char nothing;
  EXPECT(write(ready, "", 1) == 1 && read(end, &nothing, 1) == 0);
  EXPECT(!forebay_release(batch) && !forebay_close(session));
  exit(0);
}

int main(int count, char **words) {
  int ready[2], end[2], status = -1;
  char nothing;
  EXPECT(count == 2 && !pipe(ready) && !pipe(end));
  pid_t holder = fork();
  if (holder == 0) {
    close(end[1]);
    hold(words[1], ready[1], end[0]);
  }
  EXPECT(read(ready[0], &nothing, 1) == 1);

  /* The epoch cannot end before the other trainer's batch is released, so this one waits. */
  struct wait wait = {attach(words[1]), FOREBAY_STATUS_OK, ""};
  /* A time-out is no error: the text of the last one stays where it is. */
  forebay_batch *none;
  EXPECT(forebay_next(NULL, 0, &none) == FOREBAY_STATUS_INVALID);
  const char *why = forebay_error();
  EXPECT(forebay_next(wait.session, 0, &none) == FOREBAY_STATUS_TIMEOUT && !none);
  EXPECT(forebay_error() == why && strstr(why, "session is NULL"));
  pthread_t thread;
  EXPECT(!pthread_create(&thread, NULL, wait_for_a_batch, &wait));
  size_t length = 0;
  while (forebay_state(wait.session, NULL, &length) != FOREBAY_STATUS_BUSY) {
  }
  EXPECT(strstr(forebay_error(), "another thread"));
  forebay_stream_facts facts;
  EXPECT(!forebay_stream_info(wait.session, &facts) && facts.batch_size == 4);
  EXPECT(!forebay_close(wait.session));
  EXPECT(!pthread_join(thread, NULL));
  EXPECT(wait.status == FOREBAY_STATUS_CLOSED && strstr(wait.error, "closed during the call"));

  close(end[1]);
  EXPECT(waitpid(holder, &status, 0) == holder && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  forebay_session *session = attach(words[1]);
  forebay_batch *batch;
  forebay_status next;
  /* It may have joined the epoch that the other trainer has read. */
  while ((next = forebay_next(session, -1, &batch)) == FOREBAY_STATUS_EPOCH_END) {
  }
  EXPECT(next == FOREBAY_STATUS_OK);
  EXPECT(!pthread_create(&thread, NULL, release, batch) && !pthread_join(thread, NULL));
  EXPECT(forebay_next(session, -1, &batch) == FOREBAY_STATUS_EPOCH_END && !batch);
  EXPECT(!forebay_close(session) && forebay_open_handles() == 0);
  return 0;
}
