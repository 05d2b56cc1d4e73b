/* Expectations of the test programs: one that does not hold ends the program and names its line. */

#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>
#include <stdlib.h>

#include <forebay.h>

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: not so: %s; the last error: %s\n", __FILE__, __LINE__, #condition, forebay_error());     \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* A session on the stream `train` of the daemon with this socket. */
static inline forebay_session *attach(const char *socket) {
  forebay_options options = {0};
  forebay_session *session;
  options.stream = "train";
  options.socket = socket;
  EXPECT(forebay_attach(&options, &session) == FOREBAY_STATUS_OK && session);
  return session;
}

/* The next batch, which must come. */
static inline forebay_batch *next_batch(forebay_session *session) {
  forebay_batch *batch;
  EXPECT(forebay_next(session, -1, &batch) == FOREBAY_STATUS_OK && batch);
  return batch;
}

#endif
