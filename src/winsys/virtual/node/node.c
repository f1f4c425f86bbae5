/* SPDX-License-Identifier: MIT
 *
 * A process' view of one virtual device. This file makes and destroys it over a segment, sets its
 * options, which options.c reads from the environment, and puts it right in a forked child: the
 * child has its parent's files, but none of its workers. The doors call it.
 */
#include "winsys/virtual/gpu/faultlog.h"
#include "winsys/virtual/store/node.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sanitizers.h"
#include "base/util.h"
#include "winsys/virtual/mm/backing.h"
#include "winsys/virtual/mm/gem.h"
#include "winsys/virtual/node/node_impl.h"
#include "winsys/virtual/gpu/job.h"
#include "winsys/virtual/store/object.h"
#include "winsys/virtual/sync/watch.h"

#define FORK_WAIT_NS 1000000000ll

/* All nodes of this process, which a forked child must put right. */
static pthread_mutex_t nodes_lock = PTHREAD_MUTEX_INITIALIZER;
static struct agx_virtual_node *nodes;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
   pthread_mutex_lock(&nodes_lock);
   for (struct agx_virtual_node *node = nodes; node; node = node->next) {
      agxv_lock(node);
      pthread_mutex_lock(&node->local);
      atomic_store(&node->shared->fork_step, AGXV_FORK_BEGUN);
   }
}

/* The parent keeps the lock until the child has taken its share of files and mappings: else
 * they might be gone by then. Where no child comes, because it is held up or the fork failed,
 * it goes on after a second. */
static void await_child(struct agx_virtual_node *node)
{
   _Atomic uint32_t *step = &node->shared->fork_step, no_sleepers = 0;
   int64_t until_ns = agxv_now_ns() + FORK_WAIT_NS;
   uint32_t seen = AGXV_FORK_BEGUN;
   while (seen != AGXV_FORK_DONE && agxv_now_ns() < until_ns) {
      agxv_sleep(step, &no_sleepers, seen, until_ns);
      seen = atomic_load(step);
   }
   atomic_store(step, AGXV_FORK_DONE);
}

static void after_fork_parent(void)
{
   for (struct agx_virtual_node *node = nodes; node; node = node->next) {
      await_child(node);
      pthread_mutex_unlock(&node->local);
      agxv_unlock(node);
   }
   pthread_mutex_unlock(&nodes_lock);
}

static void take_share(struct agx_virtual_node *node)
{
   agxv_watch_disown(node);
   agxv_hold_again(node);
   for (struct agx_virtual_file *file = node->files; file; file = file->next)
      agxv_file_hold(file);
   node->shared->peers++;
}

/* The child never unlocks what its parent locked, which the race checker must know. */
#if AGX_THREAD_SANITIZED
#include <sanitizer/tsan_interface.h>
static void forget_lock(pthread_mutex_t *lock)
{
   __tsan_mutex_pre_unlock(lock, 0);
   __tsan_mutex_post_unlock(lock, 0);
}
#else
static void forget_lock(pthread_mutex_t *lock) {}
#endif

/* The child has files and mappings too, but no workers, and descriptors stay the parent's
 * to write to. The shared lock is the parent's, and held for us. */
static void after_fork_child(void)
{
   for (struct agx_virtual_node *node = nodes; node; node = node->next) {
      _Atomic uint32_t *step = &node->shared->fork_step;
      uint32_t expected = AGXV_FORK_BEGUN;
      node->pid = getpid();
      node->worker_count = 0;
      node->executing = 0;
      forget_lock(&node->local);
      pthread_mutex_init(&node->local, NULL);
      forget_lock(&node->shared->lock);
      bool is_held = atomic_compare_exchange_strong(step, &expected, AGXV_FORK_CHILD);
      if (!is_held)
         agxv_lock(node);
      take_share(node);
      if (!is_held)
         agxv_unlock(node);
      atomic_store(step, AGXV_FORK_DONE);
      syscall(SYS_futex, step, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
   }
   forget_lock(&nodes_lock);
   pthread_mutex_init(&nodes_lock, NULL);
}

/* Nodes that live to the end of their process, such as the preloaded one. */
static void at_exit(void)
{
   pthread_mutex_lock(&nodes_lock);
   for (struct agx_virtual_node *node = nodes; node; node = node->next)
      agxv_show_statistics(node);
   pthread_mutex_unlock(&nodes_lock);
}

static void watch_process(void)
{
   pthread_atfork(before_fork, after_fork_parent, after_fork_child);
   atexit(at_exit);
}

/* Later processes take the memory size that the first one chose. */
static uint64_t memory_bytes_of(int segment_fd, uint64_t otherwise)
{
   struct stat info;
   if (segment_fd < 0 || fstat(segment_fd, &info) || info.st_size <= (off_t)AGXV_MEMORY_OFFSET)
      return otherwise;
   return (uint64_t)info.st_size - AGXV_MEMORY_OFFSET;
}

static const struct agxv_node_calls calls = {
   .sync_backings = agxv_backing_sync,
   .reap = agxv_reap,
   .start_workers = agxv_workers_start,
};

/* Why the segment can't be had, and what helps. */
static agx_status tell_segment(const struct agx_virtual_node *node, int error)
{
   const uint64_t mebibytes = (AGXV_MEMORY_OFFSET + node->options.memory_bytes) >> 20;
   struct rlimit space = {RLIM_INFINITY, RLIM_INFINITY}, file = space;
   const char *name = node->chip.name;
   getrlimit(RLIMIT_AS, &space);
   getrlimit(RLIMIT_FSIZE, &file);
   if (error == -EPROTO)
      return AGX_FAIL(AGX_FAILED_PRECONDITION,
                      "virtual node %s: the device in AGX_VIRTUAL_SEGMENT is of another chip, "
                      "memory size or version; name a new file",
                      name);
   if (error == -ENOMEM && space.rlim_cur != RLIM_INFINITY)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED,
                      "virtual node %s: its segment takes %" PRIu64 " MiB of addresses, and the "
                      "process may have %" PRIu64 " (RLIMIT_AS, ulimit -v); raise that, or set "
                      "AGX_VIRTUAL_MEMORY lower",
                      name, mebibytes, (uint64_t)space.rlim_cur >> 20);
   if (error == -EFBIG && file.rlim_cur != RLIM_INFINITY)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED,
                      "virtual node %s: its memory file has %" PRIu64 " MiB, and the process may "
                      "make %" PRIu64 " (RLIMIT_FSIZE, ulimit -f); raise that, or set "
                      "AGX_VIRTUAL_MEMORY lower",
                      name, mebibytes, (uint64_t)file.rlim_cur >> 20);
   return agx_status_fail_errno(error,
                                "virtual node %s: shared segment of %" PRIu64
                                " MiB, of which only what is used is taken",
                                name, mebibytes);
}

static agx_status attach(struct agx_virtual_node *node, int segment_fd)
{
   int error = agxv_segment_attach(node, segment_fd, node->options.memory_bytes);
   if (!error)
      return AGX_OK;
   agxv_segment_detach(node);
   return tell_segment(node, error);
}

const struct agx_chip *agx_virtual_node_chip(const struct agx_virtual_node *node)
{
   return &node->chip;
}

agx_status agx_virtual_node_create(const struct agx_chip *chip, int segment_fd,
                                   struct agx_virtual_node **out_node)
{
   *out_node = NULL;
   struct agx_virtual_node *node = calloc(1, sizeof(*node));
   if (!node)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "virtual node: no memory");
   node->chip = *chip;
   node->calls = &calls;
   node->pid = getpid();
   node->run_compute = agx_virtual_default_run_compute();
   pthread_mutex_init(&node->local, NULL);
   agx_status status = agxv_options_read(&node->options);
   if (status == AGX_OK)
      status = agxv_options_read_script(&node->inject);
   node->options.memory_bytes = memory_bytes_of(segment_fd, node->options.memory_bytes);
   if (status == AGX_OK && node->options.chaos_seed)
      agxv_trace(node, "chaos with seed %" PRIu64, node->options.chaos_seed);
   if (status != AGX_OK && segment_fd >= 0)
      close(segment_fd);
   if (status == AGX_OK)
      status = attach(node, segment_fd);
   if (status != AGX_OK) {
      free(node->inject);
      free(node);
      return status;
   }
   agxv_lock(node);
   node->shared->peers++;
   agxv_reap(node);
   agxv_unlock(node);
   pthread_once(&process_once, watch_process);
   pthread_mutex_lock(&nodes_lock);
   node->next = nodes;
   nodes = node;
   pthread_mutex_unlock(&nodes_lock);
   *out_node = node;
   return AGX_OK;
}

void agx_virtual_node_destroy(struct agx_virtual_node *node)
{
   if (!node)
      return;
   agxv_workers_stop(node);
   agxv_show_statistics(node);
   pthread_mutex_lock(&nodes_lock);
   struct agx_virtual_node **link = &nodes;
   while (*link != node)
      link = &(*link)->next;
   *link = node->next;
   pthread_mutex_unlock(&nodes_lock);
   agxv_lock(node);
   agxv_watch_fini(node);
   node->shared->peers--;
   agxv_unlock(node);
   agxv_backing_fini(node);
   agxv_segment_detach(node);
   pthread_mutex_destroy(&node->local);
   agxv_bounds_fini(node);
   free(node->mappings);
   free(node->inject);
   free(node);
}

void agx_virtual_set_run_compute(struct agx_virtual_node *node, agx_virtual_run_compute_fn *run)
{
   node->run_compute = run;
}

void agx_virtual_set_option(struct agx_virtual_node *node, enum agx_virtual_option option,
                            uint64_t value)
{
   switch (option) {
   case AGX_VIRTUAL_STRICT:
      node->options.strict = value != 0;
      break;
   case AGX_VIRTUAL_SHARING:
      node->options.shares = value != 0;
      break;
   case AGX_VIRTUAL_CHECK:
      node->options.check = value != 0;
      break;
   case AGX_VIRTUAL_EXECUTE:
      node->options.execute = value != 0;
      break;
   case AGX_VIRTUAL_THREADS:
      node->options.threads = (uint32_t)value;
      break;
   case AGX_VIRTUAL_TIMEOUT:
      node->options.instructions = value;
      break;
   case AGX_VIRTUAL_CHAOS:
      node->options.chaos_seed = value;
      break;
   case AGX_VIRTUAL_TIMEOUT_MS:
      node->options.timeout_ms = value;
      break;
   case AGX_VIRTUAL_WORKGROUPS:
      node->options.workgroups = value;
      break;
   }
}
