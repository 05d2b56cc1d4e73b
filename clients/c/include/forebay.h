#ifndef FOREBAY_H
#define FOREBAY_H

/* Made by cbindgen from clients/c/src: change that instead. */

#include <stddef.h>
#include <stdint.h>

// What a call ended with. Errors are negative.
enum forebay_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The call has done what it says.
  FOREBAY_STATUS_OK = 0,
  // The epoch is complete. The next call of `forebay_next` begins the epoch after it.
  FOREBAY_STATUS_EPOCH_END = 1,
  // The stream has no further epoch.
  FOREBAY_STATUS_DONE = 2,
  // No batch came in time. Nothing is lost: call `forebay_next` again.
  FOREBAY_STATUS_TIMEOUT = 3,
  // An argument is NULL, or has no meaning.
  FOREBAY_STATUS_INVALID = -1,
  // The handle was closed or released before, or is of another process, such as the parent of a forked child.
  FOREBAY_STATUS_CLOSED = -2,
  // Another thread is in a call on this session.
  FOREBAY_STATUS_BUSY = -3,
  // The buffer is too small. `*length` says how many bytes are needed.
  FOREBAY_STATUS_SPACE = -4,
  // No daemon could be reached, or it did not answer in time.
  FOREBAY_STATUS_UNREACHABLE = -5,
  // The daemon refuses this trainer or its settings.
  FOREBAY_STATUS_REFUSED = -6,
  // The caller holds as many batches as it may: release one.
  FOREBAY_STATUS_SLOTS_HELD = -7,
  // The epoch has waited too long for a batch that another trainer holds.
  FOREBAY_STATUS_EPOCH_HELD = -8,
  // The dataset's storage has given nothing for too long. The next call waits on.
  FOREBAY_STATUS_STALLED = -9,
  // The daemon has evicted this trainer: attach again.
  FOREBAY_STATUS_EVICTED = -10,
  // The stream has failed, such as by a bad record with `on_error = "fail"`. Every further call says so.
  FOREBAY_STATUS_FAILED = -11,
  // The daemon went away and did not come back. Batches that the caller holds stay valid.
  FOREBAY_STATUS_OUTAGE = -12,
  // The daemon does not keep to the protocol, or the kernel has refused something.
  FOREBAY_STATUS_BROKEN = -13,
  // A fault of this library.
  FOREBAY_STATUS_INTERNAL = -14,
  // Other groups have consumed batches that this trainer's group does not get, because the daemon ended.
  // `forebay_missed_info` says which. This is told once: call `forebay_next` again.
  FOREBAY_STATUS_MISSED = -15,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum forebay_status forebay_status;
#else
typedef int32_t forebay_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Type of a value.
enum forebay_type
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Unsigned, 1 byte.
  FOREBAY_TYPE_U8 = 1,
  // IEEE 754, 2 bytes.
  FOREBAY_TYPE_F16 = 2,
  // IEEE 754, 4 bytes.
  FOREBAY_TYPE_F32 = 3,
  // The upper half of an F32.
  FOREBAY_TYPE_BF16 = 4,
  // 1 byte, 0 or 1.
  FOREBAY_TYPE_BOOL = 5,
  // Signed, 1 byte.
  FOREBAY_TYPE_I8 = 6,
  // Signed, 2 bytes.
  FOREBAY_TYPE_I16 = 7,
  // Signed, 4 bytes.
  FOREBAY_TYPE_I32 = 8,
  // Signed, 8 bytes.
  FOREBAY_TYPE_I64 = 9,
  // Unsigned, 2 bytes.
  FOREBAY_TYPE_U16 = 10,
  // Unsigned, 4 bytes.
  FOREBAY_TYPE_U32 = 11,
  // Unsigned, 8 bytes.
  FOREBAY_TYPE_U64 = 12,
  // IEEE 754, 8 bytes.
  FOREBAY_TYPE_F64 = 13,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum forebay_type forebay_type;
#else
typedef uint32_t forebay_type;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// With which batch a group begins that comes while the stream runs.
enum forebay_join
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint64_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // With the next one that no group has been offered.
  FOREBAY_JOIN_NEXT = 0,
  // With the first one of the next epoch, if another group is in the middle of the current one.
  FOREBAY_JOIN_EPOCH = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum forebay_join forebay_join;
#else
typedef uint64_t forebay_join;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A batch that the caller holds. Any thread may use it and release it.
typedef struct forebay_batch forebay_batch;

// An attachment to a stream. One thread at a time may use it.
typedef struct forebay_session forebay_session;

// What to attach to. Set all bytes to 0 first (`forebay_options options = {0};`): 0 and NULL are the defaults.
typedef struct forebay_options {
  // Name of the stream, in UTF-8. Required.
  const char *stream;
  // Path of the daemon's socket. NULL is the user's, or else the service's.
  const char *socket;
  // JSON with settings that the stream must agree with, such as `{"batch_size": 256}`. NULL is any stream.
  const char *settings;
  // Names of the columns that the caller reads, in addition to those of every batch. NULL means all of the stream's.
  const char *const *columns;
  // How many names `columns` has.
  size_t column_count;
  // Batches that the caller may hold at once. 0 is the `credits` of the stream, which are 2 by default.
  uint32_t credits;
  // The shard that this trainer reads, from 0.
  uint32_t shard_id;
  // Shards of the stream. 0 is none: the trainers of the stream share its batches.
  uint32_t num_shards;
  // Longest wait for the daemon's answer, in milliseconds. 0 is one hour.
  uint32_t attach_timeout_ms;
  // Longest wait for a daemon that went away, in milliseconds. 0 is 60 seconds.
  uint32_t reconnect_timeout_ms;
  // Name of the group that the caller joins, in UTF-8, in a stream with `groups = "each"`: the trainers of a group share
  // its batches. NULL is none: the caller is a group by itself.
  const char *group;
  // A `forebay_join`: with which batch the group begins, if this session is its first trainer. 0 is
  // `FOREBAY_JOIN_NEXT`.
  uint64_t join;
  // How long a daemon is waited for that does not run yet, in milliseconds. 0 is an error at once.
  uint64_t daemon_wait_ms;
  // For options of later versions. Must be 0.
  uint64_t reserved[5];
} forebay_options;

// What the daemon says of a stream.
typedef struct forebay_stream_facts {
  // Records of the dataset.
  uint64_t records;
  // Places of a batch.
  uint64_t batch_size;
  // Batches of an epoch: exact with shards, an upper bound if several trainers share the stream.
  uint64_t batches_per_epoch;
  // Epochs of the run; 0 is without end.
  uint64_t epochs;
  // The epoch that the stream was in when the session began.
  uint64_t epoch;
  // Classes, whose names `forebay_class_name` gives; 0 if labels are numbers or absent.
  uint64_t classes;
  // Batches that the caller may hold at once, as the daemon grants.
  uint32_t credits;
  // For facts of later versions. This version writes 0.
  uint64_t reserved[8];
} forebay_stream_facts;

// Batches that other groups have consumed, and that the session's group does not get, because the daemon ended.
typedef struct forebay_missed_facts {
  // The epoch that they belong to, from 0.
  uint64_t epoch;
  // Number of the first batch.
  uint64_t from_batch;
  // Number of the last batch.
  uint64_t to_batch;
  // Records of these batches that the group has not had.
  uint64_t records;
  // For facts of later versions. This version writes 0.
  uint64_t reserved[4];
} forebay_missed_facts;

// What a batch is.
typedef struct forebay_batch_facts {
  // The epoch that it belongs to, from 0.
  uint64_t epoch;
  // Its number, unique until the daemon starts again.
  uint64_t number;
  // Places of its views.
  uint64_t shown;
  // Places with records of this epoch: those where the column `mask` is 1.
  uint64_t valid;
  // Columns, whose names `forebay_batch_column_name` gives.
  uint64_t columns;
  // For facts of later versions. This version writes 0.
  uint64_t reserved[4];
} forebay_batch_facts;

// Read-only memory of the ring, shared with the daemon: valid until the batch is released. A write to it ends the process
// with SIGSEGV.
//
// The values are contiguous, in C's order of dimensions, and little-endian.
typedef struct forebay_view {
  // The first value, at a multiple of 64 bytes.
  const void *data;
  // Bytes of all values.
  size_t bytes;
  // Type of a value.
  forebay_type value_type;
  // Dimensions: how many entries of `shape` count.
  uint32_t dims;
  // Values along each dimension; 0 behind the last one.
  int64_t shape[8];
  // For facts of later versions. This version writes 0.
  uint64_t reserved[4];
} forebay_view;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of this library, such as "0.1.0".
const char *forebay_version(void);

// What went wrong in the last failed call of this thread: what, where, and what to do. Empty if none has failed.
//
// The text is valid until the next call of this thread that fails: a status above 0 is no failure, and leaves it.
const char *forebay_error(void);

// A short text for the number of a status. It is valid for ever.
const char *forebay_status_text(int32_t status);

// Sessions and batches of this process that are neither closed nor released, for tests of leaks.
size_t forebay_open_handles(void);

// Attaches to a stream of a running daemon. It must put pixels in host memory.
//
// `*session` is NULL after a failure. Close the session with `forebay_close`. A forked child must attach again.
//
// Requires:
// The pointers of `options` are NULL or of texts, and `session` is NULL or of room for a pointer.
forebay_status forebay_attach(const struct forebay_options *options, struct forebay_session **session);

// What the daemon says of the session's stream.
//
// Requires:
// `info` is NULL or of room for a `forebay_stream_facts`.
forebay_status forebay_stream_info(const struct forebay_session *session, struct forebay_stream_facts *info);

// The name of the class with this label, in UTF-8 and with a zero byte at its end.
//
// `*length` is the size of the buffer. After the call it is the number of bytes that the name has, with its zero byte. With
// a NULL buffer, the call only tells that.
//
// Requires:
// `length` is NULL or of the buffer's size, and `buffer` is NULL or has that many bytes.
forebay_status forebay_class_name(const struct forebay_session *session,
                                  uint64_t label,
                                  char *buffer,
                                  size_t *length);

// Waits for the next batch. All batches that were handed out before count as consumed from now on.
//
// `*batch` is NULL unless the status is `FOREBAY_STATUS_OK`. A batch keeps a slot of the ring until `forebay_release` or
// `forebay_reject`. After `FOREBAY_STATUS_EPOCH_END`, the next call begins the next epoch.
//
// `FOREBAY_STATUS_MISSED` is for the trainers of a group with a name: the daemon ended, and the group does not get some
// batches. It is told once, and the next call continues.
//
// `timeout_ms` is the longest wait in milliseconds. 0 does not wait, -1 waits for ever. The call ends within 100 ms if another
// thread closes the session.
//
// Requires:
// `batch` is NULL or of room for a pointer.
forebay_status forebay_next(struct forebay_session *session,
                            int64_t timeout_ms,
                            struct forebay_batch **batch);

// What the session's group has missed, as the last call of `forebay_next` that ended with `FOREBAY_STATUS_MISSED` was told.
//
// The status is `FOREBAY_STATUS_INVALID` if there was no such call.
//
// Requires:
// `info` is NULL or of room for a `forebay_missed_facts`.
forebay_status forebay_missed_info(const struct forebay_session *session,
                                   struct forebay_missed_facts *info);

// The state of the run, to keep with a checkpoint: some hundred bytes. Every batch that this session has handed out counts
// as consumed.
//
// `*length` is the size of the buffer, and after the call the size of the state. With `FOREBAY_STATUS_SPACE`, call again
// with a larger buffer; a state may then be a little longer, because other trainers go on.
//
// Requires:
// `length` is NULL or of the buffer's size, and `buffer` is NULL or has that many bytes.
forebay_status forebay_state(struct forebay_session *session,
                             void *buffer,
                             size_t *length);

// Takes the run back to a state. Batches that are held stay readable, and do not count as consumed.
//
// Requires:
// `state` is NULL or has `length` bytes.
forebay_status forebay_restore(struct forebay_session *session, const void *state, size_t length);

// Ends the session. What was handed out and neither consumed nor released is delivered again.
//
// Views of batches that are still held stay valid until these are released; the daemon does not refill their slots before
// this process ends. NULL does nothing. If another thread waits in a call on the session, that call ends.
forebay_status forebay_close(struct forebay_session *session);

// What a batch is.
//
// Requires:
// `info` is NULL or of room for a `forebay_batch_facts`.
forebay_status forebay_batch_info(const struct forebay_batch *batch, struct forebay_batch_facts *info);

// The name of a column, counted from 0, with a zero byte at its end. The first four are `images`, `labels`, `records` and
// `mask`.
//
// `*length` is the size of the buffer. After the call it is the number of bytes that the name has, with its zero byte. With
// a NULL buffer, the call only tells that. 64 bytes are enough for every name.
//
// Requires:
// `length` is NULL or of the buffer's size, and `buffer` is NULL or has that many bytes.
forebay_status forebay_batch_column_name(const struct forebay_batch *batch,
                                         size_t column,
                                         char *buffer,
                                         size_t *length);

// A view on a column, by its name.
//
// The first dimension is the places of the batch. A ragged column has the rows of all its lists instead, one list after the
// other: `forebay_batch_offsets` says where each begins.
//
// Requires:
// `column` is NULL or of a text, and `view` is NULL or of room for a `forebay_view`.
forebay_status forebay_batch_view(const struct forebay_batch *batch,
                                  const char *column,
                                  struct forebay_view *view);

// Offsets of a level of a ragged column, counted from 1: list `i` is the rows from offset `i` up to, but not including,
// offset `i + 1`. With several levels, it is the lists of the level after this one. The offsets of level 1 are those of the
// places.
//
// Requires:
// `column` is NULL or of a text, and `view` is NULL or of room for a `forebay_view`.
forebay_status forebay_batch_offsets(const struct forebay_batch *batch,
                                     const char *column,
                                     size_t level,
                                     struct forebay_view *view);

// For each place, whether it has a value of a column: 0 where the value is missing. The first four columns have none.
//
// Requires:
// `column` is NULL or of a text, and `view` is NULL or of room for a `forebay_view`.
forebay_status forebay_batch_validity(const struct forebay_batch *batch, const char *column, struct forebay_view *view);

// The batch was consumed: its records count as delivered, its views become invalid, and its slot can be filled again.
//
// Call it when nothing reads the views any more, also no copy to a GPU. NULL does nothing. A batch that outlives its session
// must be released too.
forebay_status forebay_release(struct forebay_batch *batch);

// The batch was not consumed: its records are delivered again, here or to another trainer. Its views become invalid. NULL
// does nothing.
//
// The status is `FOREBAY_STATUS_INVALID` if the batch counts as consumed already, because `forebay_next` was called since.
// It is released all the same.
forebay_status forebay_reject(struct forebay_batch *batch);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FOREBAY_H */
