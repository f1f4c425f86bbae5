/* SPDX-License-Identifier: MIT
 *
 * Writes to eventfds and to the pipes that stand for sync files when their fences complete, and
 * serves the requests on sync files; syncobj.c and mm/prime.c make the entries. The list is short,
 * so agxv_watch_scan() walks it after each change of a fence.
 */
#include "winsys/virtual/sync/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/virtual/store/node.h"
#include "winsys/virtual/store/user.h"
#include "winsys/virtual/sync/fence.h"
#include "winsys/virtual/sync/syncobj.h"

enum {
   WATCH_EVENTFD,
   WATCH_PIPE
};

#define MIN_SWEEP 8
#define HIGH_FD   200 /* ours stay out of the low numbers that programs count on */

static struct agxv_watch *add_watch(struct agx_virtual_node *node)
{
   if (node->shared->peers > 1 && !node->calls->start_workers(node))
      return NULL;
   if (node->watch_count == node->watch_capacity) {
      size_t capacity = node->watch_capacity ? node->watch_capacity * 2 : 16;
      void *grown = realloc(node->watches, capacity * sizeof(*node->watches));
      if (!grown)
         return NULL;
      node->watches = grown;
      node->watch_capacity = capacity;
   }
   struct agxv_watch *watch = &node->watches[node->watch_count++];
   *watch = (struct agxv_watch){.fd = -1};
   return watch;
}

static void free_record(struct agx_virtual_node *node, uint32_t ref)
{
   for (uint32_t *link = &node->shared->fd_records; *link;
        link = &AGXV_AT(node, agxv_record, *link)->next) {
      if (*link != ref)
         continue;
      struct agxv_record *record = AGXV_AT(node, agxv_record, ref);
      *link = record->next;
      if (record->kind == AGXV_RECORD_SYNCOBJ)
         agxv_syncobj_put(node, record->target);
      else
         agxv_fence_put(node, record->target);
      agxv_free(node, ref, sizeof(*record));
      return;
   }
}

/* Whether another living process keeps the record. */
static bool is_kept(const struct agx_virtual_node *node, const struct agxv_record *record)
{
   for (unsigned i = 0; i < AGXV_MAX_KEEPERS; i++) {
      int32_t pid = record->keepers[i];
      if (pid && pid != node->pid && agxv_process_lives(node, pid))
         return true;
   }
   return false;
}

static void stop_keeping(const struct agx_virtual_node *node, struct agxv_record *record)
{
   for (unsigned i = 0; i < AGXV_MAX_KEEPERS; i++)
      if (record->keepers[i] == node->pid)
         record->keepers[i] = 0;
}

static void let_record_go(struct agx_virtual_node *node, uint32_t ref)
{
   struct agxv_record *record = AGXV_AT(node, agxv_record, ref);
   if (is_kept(node, record))
      stop_keeping(node, record);
   else
      free_record(node, ref);
}

/* Makes this process a keeper; false when it is one already, or there are too many. */
static bool become_keeper(const struct agx_virtual_node *node, struct agxv_record *record)
{
   int32_t *slot = NULL;
   for (unsigned i = 0; i < AGXV_MAX_KEEPERS; i++) {
      int32_t *it = &record->keepers[i];
      if (*it == node->pid)
         return false;
      if (!slot && (*it == 0 || !agxv_process_lives(node, *it)))
         slot = it;
   }
   if (slot)
      *slot = node->pid;
   return slot;
}

static void drop_watch(struct agx_virtual_node *node, size_t index)
{
   struct agxv_watch watch = node->watches[index];
   node->watches[index] = node->watches[--node->watch_count];
   close(watch.fd);
   agxv_fence_put(node, watch.fence);
   if (watch.kind == WATCH_EVENTFD)
      agxv_syncobj_unwatch(node, watch.syncobj);
   if (watch.record)
      let_record_go(node, watch.record);
}

/* write(2) that raises no SIGPIPE in the program when the client closed its end. */
static void write_quietly(int fd, const void *data, size_t size)
{
   sigset_t pipe_only, before, pending;
   sigemptyset(&pipe_only);
   sigaddset(&pipe_only, SIGPIPE);
   sigpending(&pending);
   pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
   bool broken = write(fd, data, size) < 0 && errno == EPIPE;
   if (broken && !sigismember(&pending, SIGPIPE))
      sigtimedwait(&pipe_only, NULL, &(struct timespec){0});
   pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Never blocks: a full eventfd stays full, as in the kernel. */
static void fire(struct agxv_watch *watch)
{
   const uint64_t one = 1;
   struct pollfd ready = {.fd = watch->fd, .events = POLLOUT};
   if (poll(&ready, 1, 0) == 1 && ready.revents == POLLOUT)
      write_quietly(watch->fd, &one, watch->kind == WATCH_PIPE ? 1 : sizeof(one));
   watch->done = true;
}

/* Finds out which fence an eventfd waits for, once there is one; true when it is to be
 * written now. */
static bool eventfd_ready(struct agx_virtual_node *node, struct agxv_watch *watch)
{
   bool done = false;
   if (!watch->fence) {
      const struct agxv_syncobj *syncobj = AGXV_AT(node, agxv_syncobj, watch->syncobj);
      watch->fence = agxv_fence_at_value(node, syncobj->fence, watch->point, &done);
      if (!watch->fence)
         return done;
   }
   return watch->flags & AGX_UAPI_SYNCOBJ_WAIT_AVAILABLE || agxv_fence_done(node, watch->fence);
}

void agxv_watch_scan(struct agx_virtual_node *node)
{
   for (size_t i = 0; i < node->watch_count; i++) {
      struct agxv_watch *watch = &node->watches[i];
      if (watch->done)
         continue;
      if (watch->kind == WATCH_EVENTFD) {
         /* Another process may have destroyed the syncobj. */
         bool is_gone = AGXV_AT(node, agxv_syncobj, watch->syncobj)->refs == 0;
         if (!is_gone && !eventfd_ready(node, watch))
            continue;
         if (!is_gone)
            fire(watch);
         drop_watch(node, i--);
      } else if (agxv_fence_done(node, AGXV_AT(node, agxv_record, watch->record)->target)) {
         fire(watch);
      }
   }
}

static bool is_eventfd(int fd)
{
   char path[64], target[64];
   snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
   ssize_t length = readlink(path, target, sizeof(target) - 1);
   target[length > 0 ? length : 0] = 0;
   return strcmp(target, "anon_inode:[eventfd]") == 0;
}

int agxv_watch_eventfd(struct agx_virtual_node *node, int fd, uint32_t syncobj, uint64_t point,
                       uint32_t flags)
{
   if (fcntl(fd, F_GETFD) < 0)
      return -EBADF;
   if (!is_eventfd(fd))
      return -EINVAL;
   int own = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
   if (own < 0)
      return -ENOMEM;
   struct agxv_watch *watch = add_watch(node);
   if (!watch) {
      close(own);
      return -ENOMEM;
   }
   watch->kind = WATCH_EVENTFD;
   watch->fd = own;
   watch->syncobj = syncobj;
   AGXV_AT(node, agxv_syncobj, syncobj)->watchers++;
   watch->point = point;
   watch->flags = flags;
   agxv_watch_scan(node);
   return 0;
}

void agxv_watch_forget_syncobj(struct agx_virtual_node *node, uint32_t syncobj)
{
   for (size_t i = 0; i < node->watch_count; i++)
      if (node->watches[i].kind == WATCH_EVENTFD && node->watches[i].syncobj == syncobj)
         drop_watch(node, i--);
}

static int add_record(struct agx_virtual_node *node, int fd, enum agxv_record_kind kind,
                      uint32_t target)
{
   struct stat info;
   if (fstat(fd, &info))
      return -errno;
   uint32_t ref = agxv_alloc(node, sizeof(struct agxv_record));
   if (!ref)
      return -ENOMEM;
   struct agxv_record *record = AGXV_AT(node, agxv_record, ref);
   *record = (struct agxv_record){
      node->shared->fd_records, kind, target, info.st_dev, info.st_ino, {node->pid}};
   node->shared->fd_records = ref;
   return 0;
}

static void put_target(struct agx_virtual_node *node, enum agxv_record_kind kind, uint32_t target)
{
   if (kind == AGXV_RECORD_SYNCOBJ)
      agxv_syncobj_put(node, target);
   else
      agxv_fence_put(node, target);
}

int agxv_record_create(struct agx_virtual_node *node, enum agxv_record_kind kind, uint32_t target)
{
   int ends[2];
   agxv_record_sweep(node);
   if (pipe2(ends, O_CLOEXEC) < 0) {
      int error = -errno;
      put_target(node, kind, target);
      return error;
   }
   int high = fcntl(ends[1], F_DUPFD_CLOEXEC, HIGH_FD);
   if (high >= 0) {
      close(ends[1]);
      ends[1] = high;
   }
   struct agxv_watch *watch = add_watch(node);
   int error = watch ? add_record(node, ends[0], kind, target) : -ENOMEM;
   if (error) {
      if (watch)
         node->watch_count--;
      close(ends[0]);
      close(ends[1]);
      put_target(node, kind, target);
      return error;
   }
   watch->kind = WATCH_PIPE;
   watch->fd = ends[1];
   watch->record = node->shared->fd_records;
   if (kind == AGXV_RECORD_SYNCOBJ) {
      fire(watch); /* a syncobj's descriptor polls ready always */
   } else {
      agxv_watch_scan(node);
   }
   return ends[0];
}

int agxv_record_hand_out(int fd, uint64_t to, const void *arguments, size_t size)
{
   int error = agxv_copy_out(to, arguments, size);
   if (error)
      close(fd);
   return error;
}

/* What fd, or the file with that inode, stands for, or NULL. */
static struct agxv_record *record_of_inode(struct agx_virtual_node *node, uint64_t device,
                                           uint64_t inode)
{
   for (uint32_t ref = node->shared->fd_records; ref;) {
      struct agxv_record *record = AGXV_AT(node, agxv_record, ref);
      if (record->device == device && record->inode == inode)
         return record;
      ref = record->next;
   }
   return NULL;
}

/* An end of the pipe to write to, from its other end; -1 where the host has none. */
static int open_write_end(int fd)
{
   char path[64];
   snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
   int end = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
   int high = end >= 0 ? fcntl(end, F_DUPFD_CLOEXEC, HIGH_FD) : -1;
   if (high < 0)
      return end;
   close(end);
   return high;
}

static void keep_too(struct agx_virtual_node *node, struct agxv_record *record, int fd)
{
   if (!become_keeper(node, record))
      return;
   int end = open_write_end(fd);
   struct agxv_watch *watch = end >= 0 ? add_watch(node) : NULL;
   if (!watch) {
      if (end >= 0)
         close(end);
      stop_keeping(node, record);
      return;
   }
   watch->kind = WATCH_PIPE;
   watch->fd = end;
   watch->record = agxv_ref(node, record);
   watch->done = record->kind == AGXV_RECORD_SYNCOBJ; /* it was written to when it was made */
   agxv_watch_scan(node);
}

struct agxv_record *agxv_record_find(struct agx_virtual_node *node, int fd)
{
   struct stat info;
   if (fstat(fd, &info))
      return NULL;
   struct agxv_record *record = record_of_inode(node, info.st_dev, info.st_ino);
   if (record)
      keep_too(node, record, fd);
   return record;
}

const char *agx_virtual_inode_name(struct agx_virtual_node *node, uint64_t device, uint64_t inode)
{
   static const char *const names[] = {
      [AGXV_RECORD_SYNCOBJ] = "anon_inode:syncobj_file",
      [AGXV_RECORD_SYNC_FILE] = "anon_inode:sync_file",
   };
   agxv_lock(node);
   const struct agxv_record *record = record_of_inode(node, device, inode);
   const char *name = record ? names[record->kind] : NULL;
   agxv_unlock(node);
   return name;
}

/* Whether the last copy of what stands for a record was closed. */
static bool is_deserted(const struct agxv_watch *watch)
{
   struct pollfd end = {.fd = watch->fd};
   return watch->kind == WATCH_PIPE && poll(&end, 1, 0) == 1 && end.revents & POLLERR;
}

/* Costs a system call for each descriptor, so it waits until their number doubled. */
void agxv_record_sweep(struct agx_virtual_node *node)
{
   if (node->watch_count < node->sweep_at)
      return;
   for (size_t i = 0; i < node->watch_count; i++)
      if (is_deserted(&node->watches[i]))
         drop_watch(node, i--);
   node->sweep_at = AGX_MAX(node->watch_count * 2, MIN_SWEEP);
}

void agxv_watch_fini(struct agx_virtual_node *node)
{
   while (node->watch_count)
      drop_watch(node, 0);
   free(node->watches);
   node->watches = NULL;
   node->watch_capacity = 0;
}

void agxv_watch_disown(struct agx_virtual_node *node)
{
   for (size_t i = 0; i < node->watch_count; i++)
      close(node->watches[i].fd);
   node->watch_count = 0;
}

/* Requests on the descriptors of sync files, which node/dispatch.c passes on. Layouts and codes are
 * those of <linux/sync_file.h>. */

#define MAX_PARTS 256u /* fences that one info lists */

/* 0 pending, 1 done, or the error. */
static int32_t status_of(const struct agxv_fence *fence)
{
   if (!fence->done)
      return 0;
   return fence->error ? fence->error : 1;
}

static struct sync_fence_info describe(const struct agxv_fence *fence)
{
   struct sync_fence_info one = {.status = status_of(fence), .timestamp_ns = fence->done_ns};
   snprintf(one.obj_name, sizeof(one.obj_name), "%s", fence->is_point ? "point" : "submission");
   snprintf(one.driver_name, sizeof(one.driver_name), "asahi");
   return one;
}

/* One entry for each fence that it is made of. */
static int file_info(struct agx_virtual_node *node, uint32_t fence, uint64_t argument)
{
   struct sync_file_info info;
   uint32_t parts[MAX_PARTS];
   if (agxv_copy_in(&info, argument, sizeof(info)))
      return -EFAULT;
   if (info.flags || info.pad)
      return -EINVAL;
   uint32_t count = agxv_fence_parts(node, fence, parts, MAX_PARTS);
   info.status = status_of(AGXV_AT(node, agxv_fence, fence));
   if (info.num_fences && info.num_fences < count)
      return -EINVAL;
   for (uint32_t i = 0; info.num_fences && i < count; i++) {
      struct sync_fence_info one = describe(AGXV_AT(node, agxv_fence, parts[i]));
      if (agxv_copy_out(info.sync_fence_info + i * sizeof(one), &one, sizeof(one)))
         return -EFAULT;
   }
   snprintf(info.name, sizeof(info.name), "asahi-virtual");
   info.num_fences = count;
   return agxv_copy_out(argument, &info, sizeof(info));
}

static int merge(struct agx_virtual_node *node, uint32_t fence, uint64_t argument)
{
   struct sync_merge_data data;
   if (agxv_copy_in(&data, argument, sizeof(data)))
      return -EFAULT;
   if (data.flags || data.pad)
      return -EINVAL;
   const struct agxv_record *other = agxv_record_find(node, data.fd2);
   if (!other || other->kind != AGXV_RECORD_SYNC_FILE)
      return -ENOENT;
   uint32_t both = agxv_fence_merge(node, fence, other->target);
   if (!both)
      return -ENOMEM;
   data.fence = agxv_record_create(node, AGXV_RECORD_SYNC_FILE, both);
   return data.fence < 0 ? data.fence
                         : agxv_record_hand_out(data.fence, argument, &data, sizeof(data));
}

int agxv_sync_file_ioctl(struct agx_virtual_node *node, uint32_t fence, unsigned long request,
                         uint64_t argument)
{
   if (request == SYNC_IOC_FILE_INFO)
      return file_info(node, fence, argument);
   return request == SYNC_IOC_MERGE ? merge(node, fence, argument) : -ENOTTY;
}
