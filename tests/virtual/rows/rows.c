/* SPDX-License-Identifier: MIT
 *
 * See rows.h.
 */
#include "rows/rows.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#define MAX_ROWS 512
#define MAX_TEXT 256

struct row {
   char id[32], result[16], detail[MAX_TEXT];
   bool is_seen;
   const char *aside;
};

static struct row rows[MAX_ROWS];
static unsigned row_count;

static const struct {
   int number;
   const char *name;
} errnos[] = {{EINVAL, "EINVAL"},       {ENOENT, "ENOENT"},       {ETIME, "ETIME"},
              {EFAULT, "EFAULT"},       {ENOMEM, "ENOMEM"},       {EINTR, "EINTR"},
              {EACCES, "EACCES"},       {ENOTTY, "ENOTTY"},       {EBADF, "EBADF"},
              {EAGAIN, "EAGAIN"},       {ENODEV, "ENODEV"},       {ERANGE, "ERANGE"},
              {ETIMEDOUT, "ETIMEDOUT"}, {EOVERFLOW, "EOVERFLOW"}, {EOPNOTSUPP, "EOPNOTSUPP"}};

const char *errno_name(long long result)
{
   if (result >= 0)
      return "0";
   for (unsigned i = 0; i < AGX_COUNT(errnos); i++)
      if (errnos[i].number == -result)
         return errnos[i].name;
   return strerror((int)-result);
}

/* Measured times differ from run to run: "t~50ms" and the like are left out. */
static void copy_detail(char *to, const char *from)
{
   size_t length = 0;
   while (*from) {
      while (*from == ' ' || *from == '\n')
         from++;
      size_t word = strcspn(from, " \n");
      bool is_time = from[0] == 't' && strchr("~=<>", from[1]) && from[1];
      if (!is_time && word && length + word + 2 < MAX_TEXT) {
         if (length)
            to[length++] = ' ';
         memcpy(to + length, from, word);
         length += word;
      }
      from += word;
   }
   to[length] = 0;
}

void rows_read(const char *name)
{
   char path[512], line[512];
   const char *folder = getenv("AGX_TEST_SOURCE_DIR");
   assert_non_null(folder);
   snprintf(path, sizeof(path), "%s/virtual/rows/%s", folder, name);
   FILE *table = fopen(path, "r");
   assert_non_null(table);
   while (fgets(line, sizeof(line), table)) {
      struct row *row = &rows[row_count++];
      assert_true(row_count < MAX_ROWS);
      char *fields[4] = {line};
      for (unsigned i = 1; i < 4; i++) {
         char *tab = strchr(fields[i - 1], '\t');
         assert_non_null(tab);
         *tab = 0;
         fields[i] = tab + 1;
      }
      snprintf(row->id, sizeof(row->id), "%.31s", fields[0]);
      snprintf(row->result, sizeof(row->result), "%.15s", fields[2]);
      copy_detail(row->detail, fields[3]);
   }
   fclose(table);
}

static struct row *find_row(const char *id)
{
   for (unsigned i = 0; i < row_count; i++)
      if (strcmp(rows[i].id, id) == 0)
         return &rows[i];
   fail_msg("row %s was never recorded", id);
   return NULL;
}

/* What kernels before 6.16 answer; measured on 6.12. (Fences that are over name no driver since
 * some version between 6.12 and 7.2.) */
static const struct {
   const char *id, *result, *detail, *reason;
} before_6_16[] = {
   {"E16", "0", "", "the point of a syncobj's file was ignored"},
   {"E19", "0", "n=1 rev=0x1 status=1 num_fences=1 name=dma_fence_chain-unbound",
    "a fence that is over still named itself"},
   {"E28", "EINVAL", "", "points could not be exported as sync files"},
   {"E31", "EINVAL", "query=6", "sync files could not be imported as points"},
   {"F1", "EINVAL", "", "the flag for points was unknown"},
   {"F4", "EINVAL", "", "the flag for points was unknown"},
   {"F5", "EINVAL", "", "the flag for points was unknown"},
   {"F7", "0", "", "the point of a syncobj's file was ignored"},
   {"F9", "EINVAL", "query=6 last=6", "the flag for points was unknown"},
   {"F10", "EINVAL", "query=9 last=9", "the flag for points was unknown"},
};

void rows_adapt(void)
{
   struct utsname system;
   unsigned major = 0, minor = 0;
   if (!door_is_real || uname(&system) != 0)
      return;
   assert_int_equal(sscanf(system.release, "%u.%u", &major, &minor), 2);
   print_message("kernel %s\n", system.release);
   for (unsigned i = 0; i < AGX_COUNT(before_6_16) && major * 1000 + minor < 6016; i++) {
      struct row *row = find_row(before_6_16[i].id);
      snprintf(row->result, sizeof(row->result), "%s", before_6_16[i].result);
      snprintf(row->detail, sizeof(row->detail), "%s", before_6_16[i].detail);
      print_message("row %s is another one: %s\n", row->id, before_6_16[i].reason);
   }
}

void rows_check(const char *id, long long result, const char *format, ...)
{
   char text[MAX_TEXT], detail[MAX_TEXT];
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(text, sizeof(text), format, arguments);
   va_end(arguments);
   copy_detail(detail, text);
   if (getenv("AGX_ROWS_RECORD")) {
      print_message("row %s\t\t%s\t%s\n", id, errno_name(result), detail);
      return;
   }
   struct row *row = find_row(id);
   if (row->is_seen)
      fail_msg("row %s: twice", id);
   row->is_seen = true;
   if (strcmp(errno_name(result), row->result) != 0 || strcmp(detail, row->detail) != 0)
      fail_msg("row %s: \"%s\" \"%s\", recorded \"%s\" \"%s\"", id, errno_name(result), detail,
               row->result, row->detail);
}

void rows_refuse(const char *id, long long result, const char *what, int line)
{
   struct row *row = find_row(id);
   row->is_seen = true;
   if (strcmp(errno_name(result), row->result) != 0)
      fail_msg("line %d: row %s: %s: %s, not %s", line, id, what, errno_name(result), row->result);
}

void rows_forget(void)
{
   for (unsigned i = 0; i < row_count; i++)
      rows[i].is_seen = false;
}

void rows_aside(const char *id, const char *reason)
{
   find_row(id)->aside = reason;
}

void rows_finish(void)
{
   unsigned seen = 0, aside = 0, missing = 0;
   for (unsigned i = 0; i < row_count; i++) {
      const struct row *row = &rows[i];
      seen += row->is_seen;
      aside += row->aside != NULL;
      if (row->is_seen == (row->aside != NULL)) {
         print_message("row %s: %s\n", row->id, row->aside ? "seen, yet aside" : "not seen");
         missing++;
      }
   }
   print_message("%u rows as recorded, %u aside\n", seen, aside);
   assert_int_equal(missing, 0);
}

struct door_file *file;
uint32_t first_signaled;

int rows_set_up(void **state)
{
   file = door_open();
   return 0;
}

int rows_set_up_buffers(void **state)
{
   file = door_open_buffers();
   return 0;
}

int rows_tear_down(void **state)
{
   door_close(file);
   door_shut();
   return 0;
}

uint32_t create(uint32_t flags)
{
   struct agx_uapi_syncobj_create args = {0, flags};
   assert_int_equal(REQUEST(SYNCOBJ_CREATE, args), 0);
   return args.handle;
}

int destroy(uint32_t handle)
{
   return REQUEST(SYNCOBJ_DESTROY, (struct agx_uapi_syncobj_destroy){handle, 0});
}

int wait_array(const uint32_t *handles, uint32_t count, uint32_t flags, int64_t until)
{
   struct agx_uapi_syncobj_wait args = {.handles = (uintptr_t)handles,
                                        .count_handles = count,
                                        .flags = flags,
                                        .timeout_nsec = until,
                                        .first_signaled = 0xdead};
   int result = REQUEST(SYNCOBJ_WAIT, args);
   first_signaled = args.first_signaled;
   return result;
}

int wait_points(const uint32_t *handles, const uint64_t *points, uint32_t count, uint32_t flags,
                int64_t until)
{
   struct agx_uapi_syncobj_timeline_wait args = {.handles = (uintptr_t)handles,
                                                 .points = (uintptr_t)points,
                                                 .count_handles = count,
                                                 .flags = flags,
                                                 .timeout_nsec = until,
                                                 .first_signaled = 0xdead};
   int result = REQUEST(SYNCOBJ_TIMELINE_WAIT, args);
   first_signaled = args.first_signaled;
   return result;
}

int wait_one(uint32_t handle, uint32_t flags, int64_t until)
{
   return wait_array(&handle, 1, flags, until);
}

int wait_at(uint32_t handle, uint64_t value, uint32_t flags, int64_t until)
{
   return wait_points(&handle, &value, 1, flags, until);
}

int array_call(unsigned long request, const uint32_t *handles, uint32_t count, uint32_t pad)
{
   struct agx_uapi_syncobj_array args = {(uintptr_t)handles, count, pad};
   return door_ioctl(file, request, &args);
}

int timeline_call(unsigned long request, const uint32_t *handles, const uint64_t *points,
                  uint32_t count, uint32_t flags)
{
   struct agx_uapi_syncobj_timeline_array args = {(uintptr_t)handles, (uintptr_t)points, count,
                                                  flags};
   return door_ioctl(file, request, &args);
}

int signal_one(uint32_t handle)
{
   return array_call(AGX_IOCTL_SYNCOBJ_SIGNAL, &handle, 1, 0);
}

int signal_at(uint32_t handle, uint64_t value)
{
   return timeline_call(AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &handle, &value, 1, 0);
}

int reset(uint32_t handle)
{
   return array_call(AGX_IOCTL_SYNCOBJ_RESET, &handle, 1, 0);
}

static uint64_t query(uint32_t handle, uint32_t flags)
{
   uint64_t value = 0xbad;
   assert_int_equal(timeline_call(AGX_IOCTL_SYNCOBJ_QUERY, &handle, &value, 1, flags), 0);
   return value;
}

unsigned long long value_of(uint32_t handle)
{
   return query(handle, 0);
}

unsigned long long last_of(uint32_t handle)
{
   return query(handle, AGX_UAPI_SYNCOBJ_QUERY_LAST_SUBMITTED);
}

int transfer(uint32_t src, uint64_t src_point, uint32_t dst, uint64_t dst_point, uint32_t flags)
{
   return REQUEST(SYNCOBJ_TRANSFER,
                  (struct agx_uapi_syncobj_transfer){src, dst, src_point, dst_point, flags, 0});
}

int to_fd(uint32_t handle, uint32_t flags, uint64_t point, int *out_fd)
{
   struct agx_uapi_syncobj_handle args = {handle, flags, -1, 0, point};
   int result = REQUEST(SYNCOBJ_HANDLE_TO_FD, args);
   *out_fd = args.fd;
   return result;
}

int from_fd(int fd, uint32_t flags, uint64_t point, uint32_t *handle)
{
   struct agx_uapi_syncobj_handle args = {*handle, flags, fd, 0, point};
   int result = REQUEST(SYNCOBJ_FD_TO_HANDLE, args);
   *handle = args.handle;
   return result;
}

int arm_eventfd(uint32_t handle, uint64_t point, int fd, uint32_t flags, uint32_t pad)
{
   return REQUEST(SYNCOBJ_EVENTFD,
                  (struct agx_uapi_syncobj_eventfd){handle, flags, point, fd, pad});
}

int64_t in_ms(int64_t ms)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return now.tv_sec * 1000000000ll + now.tv_nsec + ms * 1000000;
}

static struct {
   pthread_t thread;
   enum later what;
   uint32_t handle;
   uint64_t value;
   uint32_t ms;
   _Atomic bool is_over;
} later;

static void *act_later(void *argument)
{
   nanosleep(&(struct timespec){.tv_nsec = later.ms * 1000000l}, NULL);
   switch (later.what) {
   case LATER_SIGNAL:
      signal_one(later.handle);
      break;
   case LATER_POINT:
      signal_at(later.handle, later.value);
      break;
   case LATER_DESTROY:
      destroy(later.handle);
      break;
   case LATER_RESET:
      reset(later.handle);
      break;
   case LATER_FIRE:
      door_fire((unsigned)later.value);
      break;
   }
   later.is_over = true;
   return NULL;
}

void rows_later(enum later what, uint32_t handle, uint64_t value)
{
   rows_later_by(what, handle, value, 20);
}

void rows_later_by(enum later what, uint32_t handle, uint64_t value, uint32_t ms)
{
   later.ms = ms;
   later.is_over = false;
   later.what = what;
   later.handle = handle;
   later.value = value;
   assert_int_equal(pthread_create(&later.thread, NULL, act_later, NULL), 0);
}

bool rows_is_over(void)
{
   return later.is_over;
}

void rows_join(void)
{
   pthread_join(later.thread, NULL);
}
