/* SPDX-License-Identifier: MIT
 *
 * The seam over a virtual node in this process: one private node per kmd, or a file of a node that
 * the caller has.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agx/sim/check/statistics.h"
#include "base/util.h"
#include "winsys/kmd.h"
#include "winsys/virtual/virtual.h"

struct kmd_virtual {
   struct agx_kmd base;
   struct agx_virtual_node *node;
   struct agx_virtual_file *file;
   struct common *common;
   bool owns_node;
   void (*on_counters)(void *user, const struct agx_kmd_counters *counters);
   void *counters_user;
   char name[32];
};

/* A node that several kmds of a process are files of. A forked child has one of its own. */
struct common {
   struct common *next;
   struct agx_virtual_node *node;
   const struct agx_chip *chip;
   pid_t pid;
   uint32_t users;
};

static pthread_mutex_t commons_lock = PTHREAD_MUTEX_INITIALIZER;
static struct common *commons;

static struct kmd_virtual *cast(struct agx_kmd *kmd)
{
   return (struct kmd_virtual *)kmd;
}

static int virtual_ioctl(struct agx_kmd *kmd, unsigned long request, void *argument)
{
   int error;
   do
      error = agx_virtual_ioctl(cast(kmd)->file, request, argument);
   while (error == -EINTR || error == -EAGAIN);
   return error;
}

static void *virtual_mmap(struct agx_kmd *kmd, uint64_t offset, size_t length, int *out_errno)
{
   return agx_virtual_mmap(cast(kmd)->file, NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED,
                           offset, out_errno);
}

static void virtual_munmap(struct agx_kmd *kmd, void *memory, size_t length)
{
   munmap(memory, length);
   agx_virtual_unmapped(cast(kmd)->node, memory, length);
}

static int virtual_fd_ioctl(struct agx_kmd *kmd, int fd, unsigned long request, void *argument)
{
   return agx_virtual_fd_ioctl(cast(kmd)->node, fd, request, argument);
}

static int64_t virtual_dmabuf_bytes(struct agx_kmd *kmd, int fd)
{
   uint64_t bytes = agx_virtual_buffer_bytes(fd);
   return bytes ? (int64_t)bytes : -EINVAL;
}

static int virtual_make_dmabuf(struct agx_kmd *kmd, int memory_file, uint64_t offset,
                               uint64_t bytes)
{
   return agx_virtual_udmabuf(memory_file, offset, bytes, true);
}

static bool virtual_find_memory(struct agx_kmd *kmd, uint64_t offset, uint64_t from,
                                uint64_t *out_begin, uint64_t *out_end)
{
   return agx_virtual_find_memory(cast(kmd)->file, offset, from, out_begin, out_end);
}

static size_t virtual_last_error(struct agx_kmd *kmd, char *text, size_t capacity)
{
   return agx_virtual_last_error(cast(kmd)->node, text, capacity);
}

static bool virtual_take_fault(struct agx_kmd *kmd, uint64_t first_va, uint64_t last_va,
                               struct agx_kmd_fault *out_fault)
{
   struct agx_virtual_failure it;
   if (!agx_virtual_take_failure(cast(kmd)->file, first_va, last_va, &it))
      return false;
   *out_fault = (struct agx_kmd_fault){
      .serial = it.serial,
      .submission = it.submission,
      .stream_va = it.stream_va,
      .queue = it.queue,
      .command = it.command,
      .dispatch = it.dispatch,
      .error = it.error,
   };
   memcpy(out_fault->text, it.text, sizeof(out_fault->text));
   if (!it.has_fault)
      return true;
   out_fault->kind = it.fault.is_hard ? AGX_KMD_FAULT_ADDRESS : AGX_KMD_FAULT_BOUNDS;
   out_fault->is_write = strstr(it.fault.access, "store") || strstr(it.fault.access, "atomic");
   out_fault->va = it.fault.va;
   out_fault->bytes = it.fault.bytes;
   out_fault->pc = it.fault.pc;
   out_fault->thread = it.fault.thread;
   memcpy(out_fault->access, it.fault.access, sizeof(out_fault->access));
   memcpy(out_fault->workgroup, it.fault.workgroup, sizeof(out_fault->workgroup));
   /* A shader that did what it must not, such as running off its code, accessed nothing. */
   if (strcmp(out_fault->access, "shader") == 0)
      out_fault->kind = AGX_KMD_FAULT_OTHER;
   return true;
}

static void convert_counters(void *user, const struct agx_virtual_counters *it)
{
   const struct kmd_virtual *kmd = user;
   const struct agxs_dispatch_stats *stats = it->stats;
   const struct agxs_model model = agxs_model(&stats->counts, stats->chip, 1);
   const struct agx_kmd_counters counters = {
      .submission = it->submission,
      .stream_va = it->stream_va,
      .command = it->command,
      .dispatch = stats->index,
      .workgroups = stats->counts.workgroups,
      .threads = stats->counts.threads,
      .instructions = stats->counts.issue,
      .cycles = (uint64_t)model.total,
      .stall_cycles = stats->counts.stall,
      .waits = stats->waits_met,
      .bytes = stats->requested_B,
      .lines = stats->line_accesses,
   };
   kmd->on_counters(kmd->counters_user, &counters);
}

static int virtual_watch_counters(struct agx_kmd *kmd,
                                  void (*fn)(void *user, const struct agx_kmd_counters *counters),
                                  void *user)
{
   struct kmd_virtual *it = cast(kmd);
   if (fn) { /* no call comes yet */
      it->on_counters = fn;
      it->counters_user = user;
   }
   return agx_virtual_watch_counters(it->file, fn ? convert_counters : NULL, it);
}

static int virtual_declare_bounds(struct agx_kmd *kmd, uint64_t stream_va,
                                  const struct agx_kmd_range *ranges, uint32_t count)
{
   struct agxs_range *converted = count ? calloc(count, sizeof(*converted)) : NULL;
   if (count && !converted)
      return -ENOMEM;
   for (uint32_t i = 0; i < count; i++)
      converted[i] = (struct agxs_range){
         .va = ranges[i].va,
         .bytes = ranges[i].bytes,
         .dispatch = ranges[i].dispatch,
         .access =
            (ranges[i].is_readable ? AGXS_READ : 0u) | (ranges[i].is_writable ? AGXS_WRITE : 0u),
      };
   int error = agx_virtual_declare_bounds(cast(kmd)->node, stream_va, converted, count);
   free(converted);
   return error;
}

/* ---- nodes in common ------------------------------------------------------ */

static void before_fork(void)
{
   pthread_mutex_lock(&commons_lock);
}

static void after_fork(void)
{
   pthread_mutex_unlock(&commons_lock);
}

static void watch_forks(void)
{
   pthread_atfork(before_fork, after_fork, after_fork);
}

static struct common *find_common(const struct agx_chip *chip)
{
   struct common *it = commons;
   while (it && (it->chip != chip || it->pid != getpid()))
      it = it->next;
   if (it)
      it->users++;
   return it;
}

/* The one that others had, or made meanwhile, else the new one. No lock is held over more than the
 * list: nodes have locks of their own around a fork. */
static agx_status take_common(const struct agx_chip *chip, struct common **out)
{
   static pthread_once_t once = PTHREAD_ONCE_INIT;
   pthread_once(&once, watch_forks);
   pthread_mutex_lock(&commons_lock);
   *out = find_common(chip);
   pthread_mutex_unlock(&commons_lock);
   if (*out)
      return AGX_OK;
   struct common *made = calloc(1, sizeof(*made));
   if (!made)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "virtual device: no memory");
   agx_status status = agx_virtual_node_create(chip, -1, &made->node);
   if (status != AGX_OK) {
      free(made);
      return status;
   }
   pthread_mutex_lock(&commons_lock);
   *out = find_common(chip);
   if (!*out) {
      made->chip = chip;
      made->pid = getpid();
      made->users = 1;
      made->next = commons;
      commons = *out = made;
   }
   pthread_mutex_unlock(&commons_lock);
   if (*out != made) {
      agx_virtual_node_destroy(made->node);
      free(made);
   }
   return AGX_OK;
}

static void leave_common(struct common *common)
{
   pthread_mutex_lock(&commons_lock);
   const bool is_last = --common->users == 0;
   struct common **link = &commons;
   while (*link != common)
      link = &(*link)->next;
   if (is_last)
      *link = common->next;
   pthread_mutex_unlock(&commons_lock);
   if (!is_last)
      return;
   agx_virtual_node_destroy(common->node);
   free(common);
}

static void virtual_close(struct agx_kmd *kmd)
{
   struct kmd_virtual *it = cast(kmd);
   agx_virtual_close(it->file);
   if (it->common)
      leave_common(it->common);
   if (it->owns_node)
      agx_virtual_node_destroy(it->node);
   free(it);
}

static const struct agx_kmd_ops ops = {
   .ioctl = virtual_ioctl,
   .mmap = virtual_mmap,
   .munmap = virtual_munmap,
   .fd_ioctl = virtual_fd_ioctl,
   .dmabuf_bytes = virtual_dmabuf_bytes,
   .make_dmabuf = virtual_make_dmabuf,
   .close = virtual_close,
};

static const struct agx_kmd_inspection inspection = {
   .last_error = virtual_last_error,
   .find_memory = virtual_find_memory,
   .take_fault = virtual_take_fault,
   .watch_counters = virtual_watch_counters,
   .declare_bounds = virtual_declare_bounds,
};

agx_status agx_kmd_virtual_open_on(struct agx_virtual_node *node, struct agx_kmd **out_kmd)
{
   *out_kmd = NULL;
   struct kmd_virtual *it = calloc(1, sizeof(*it));
   if (!it)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "virtual device: no memory");
   it->node = node;
   agx_status status = agx_virtual_open(node, &it->file);
   if (status != AGX_OK) {
      free(it);
      return status;
   }
   snprintf(it->name, sizeof(it->name), "virtual:%s", agx_virtual_node_chip(node)->name);
   it->base = (struct agx_kmd){&ops, &inspection, it->name, -1};
   *out_kmd = &it->base;
   return AGX_OK;
}

agx_status agx_kmd_virtual_open(const char *name, struct agx_kmd **out_kmd)
{
   *out_kmd = NULL;
   struct agx_virtual_node *node;
   const struct agx_chip *chip = agx_chip_find(name ? name : "g13g");
   if (!chip)
      return AGX_FAIL(AGX_NOT_FOUND, "virtual device: no chip is named \"%.64s\"", name);
   AGX_TRY(agx_virtual_node_create(chip, -1, &node));
   agx_status status = agx_kmd_virtual_open_on(node, out_kmd);
   if (status != AGX_OK)
      agx_virtual_node_destroy(node);
   else
      cast(*out_kmd)->owns_node = true;
   return status;
}

agx_status agx_kmd_virtual_open_common(const char *name, struct agx_kmd **out_kmd)
{
   const struct agx_chip *chip = agx_chip_find(name ? name : "g13g");
   struct common *common;
   *out_kmd = NULL;
   if (!chip)
      return AGX_FAIL(AGX_NOT_FOUND, "virtual device: no chip is named \"%.64s\"", name);
   AGX_TRY(take_common(chip, &common));
   agx_status status = agx_kmd_virtual_open_on(common->node, out_kmd);
   if (status != AGX_OK)
      leave_common(common);
   else
      cast(*out_kmd)->common = common;
   return status;
}

struct agx_virtual_file *agx_kmd_virtual_file(struct agx_kmd *kmd)
{
   return cast(kmd)->file;
}

struct agx_virtual_node *agx_kmd_virtual_node(struct agx_kmd *kmd)
{
   return cast(kmd)->node;
}
