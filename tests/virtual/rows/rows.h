/* SPDX-License-Identifier: MIT
 *
 * Rows that were recorded on a real kernel 7.2 (syncobj.tsv, gem.tsv, file.tsv: id, what, result,
 * details), to be had again from the virtual node: ROW compares one with what the node
 * does, and at the end every row must have had its turn or stand aside with a reason.
 */
#pragma once

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "support.h"
#include "winsys/asahi_uapi.h"

#include "rows/door.h"

#define FOREVER     INT64_MAX
#define BAD_POINTER 8 /* an address that nothing is mapped at */

/* The call comes before the details, which may show what it did. */
#define ROW(id, call, ...)                                                                         \
   do {                                                                                            \
      long long result_ = (long long)(call);                                                       \
      rows_check(id, result_, " " __VA_ARGS__);                                                    \
   } while (0)

/* What the row shows beside times must be what was recorded. result: >= 0, or negative errno. With
 * AGX_ROWS_RECORD in the environment it is printed, as a line of a table. */
void rows_check(const char *id, long long result, const char *format, ...)
   __attribute__((format(printf, 3, 4)));
/* One of several ways to be refused as the row says. */
void rows_refuse(const char *id, long long result, const char *what, int line);
/* Before another run of all rows. */
void rows_forget(void);
void rows_aside(const char *id, const char *reason);
void rows_read(const char *name);
/* On a kernel: what it is known to answer otherwise than the recorded one. */
void rows_adapt(void);
/* Fails with the ids of rows that no test has asked for. */
void rows_finish(void);

/* "0", "EINVAL". */
const char *errno_name(long long result);

/* ---- requests in short, on the file that is open ---- */

extern struct door_file *file;

int rows_set_up(void **state);
int rows_set_up_buffers(void **state);
int rows_tear_down(void **state);

#define REQUEST(request, ...) door_ioctl(file, AGX_IOCTL_##request, &(__VA_ARGS__))

#define WFS       AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT
#define ALL       AGX_UAPI_SYNCOBJ_WAIT_ALL
#define AVAILABLE AGX_UAPI_SYNCOBJ_WAIT_AVAILABLE
#define DEADLINE  AGX_UAPI_SYNCOBJ_WAIT_DEADLINE

uint32_t create(uint32_t flags);
int destroy(uint32_t handle);

extern uint32_t first_signaled; /* of the last wait; 0xdead when it was left alone */
int wait_array(const uint32_t *handles, uint32_t count, uint32_t flags, int64_t until);
int wait_points(const uint32_t *handles, const uint64_t *points, uint32_t count, uint32_t flags,
                int64_t until);
int wait_one(uint32_t handle, uint32_t flags, int64_t until);
int wait_at(uint32_t handle, uint64_t value, uint32_t flags, int64_t until);

int signal_one(uint32_t handle);
int signal_at(uint32_t handle, uint64_t value);
int reset(uint32_t handle);
int array_call(unsigned long request, const uint32_t *handles, uint32_t count, uint32_t pad);
int timeline_call(unsigned long request, const uint32_t *handles, const uint64_t *points,
                  uint32_t count, uint32_t flags);
unsigned long long value_of(uint32_t handle);
unsigned long long last_of(uint32_t handle);
int transfer(uint32_t src, uint64_t src_point, uint32_t dst, uint64_t dst_point, uint32_t flags);
int to_fd(uint32_t handle, uint32_t flags, uint64_t point, int *out_fd);
int from_fd(int fd, uint32_t flags, uint64_t point, uint32_t *handle);
int arm_eventfd(uint32_t handle, uint64_t point, int fd, uint32_t flags, uint32_t pad);

int64_t in_ms(int64_t ms);
/* Does something in another thread a little later; join with rows_join. */
enum later {
   LATER_SIGNAL,
   LATER_POINT,
   LATER_DESTROY,
   LATER_RESET,
   LATER_FIRE
};
void rows_later(enum later what, uint32_t handle, uint64_t value);
/* The same after so many milliseconds, fewer than 1000. */
void rows_later_by(enum later what, uint32_t handle, uint64_t value, uint32_t ms);
/* Whether the other thread has done it. */
bool rows_is_over(void);
void rows_join(void);

/* The tests that hold the rows, by their letters. */
void rows_of_node(void **state);
void rows_of_binaries(void **state);
void rows_of_waits(void **state);
void rows_of_timelines(void **state);
void rows_of_timeline_arguments(void **state);
void rows_of_transfers(void **state);
void rows_of_descriptors(void **state);
void rows_of_sync_files(void **state);
void rows_of_eventfds(void **state);
void rows_of_pending_fences(void **state);
void rows_of_pending_points(void **state);
void rows_of_file_flags(void **state);
void rows_of_point_files(void **state);
void rows_of_forgotten_points(void **state);
void rows_of_merged_files(void **state);
void rows_of_late_eventfds(void **state);
void rows_of_many(void **state);
void rows_of_buffers(void **state);
void rows_of_mappings(void **state);
void rows_of_dma_bufs(void **state);
void rows_of_buffers_and_forks(void **state);
