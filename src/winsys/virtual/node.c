/* SPDX-License-Identifier: MIT
 *
 * Nodes and files: creation, options, the table of requests, and what a fork means.
 */
#include "winsys/virtual/node.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/virtual/ioctl.h"
#include "winsys/virtual/job.h"
#include "winsys/virtual/object.h"
#include "winsys/virtual/syncobj.h"
#include "winsys/virtual/user.h"
#include "winsys/virtual/vm.h"
#include "winsys/virtual/watch.h"

#define DEFAULT_INSTRUCTIONS 2000000000ull
#define DEFAULT_MEMORY       (16ull << 30)
#define MIN_MEMORY           (1ull << 20)
#define MAX_MEMORY           (1ull << 38)
#define MAX_ARGUMENT_BYTES   64

struct request {
   uint8_t nr;
   uint8_t direction; /* as in the request's code: 1 in, 2 out */
   uint16_t size;
   int (*handler)(struct agx_virtual_file *file, void *argument);
};

#define ROW(request, handler)                                                                      \
   {                                                                                               \
      AGX_UAPI_NR(AGX_IOCTL_##request), AGX_UAPI_DIRECTION(AGX_IOCTL_##request),                   \
         AGX_UAPI_BYTES(AGX_IOCTL_##request), agxv_##handler                                       \
   }

static const struct request requests[] = {
   ROW(VERSION, version),
   ROW(GET_CAP, get_cap),
   ROW(GEM_CLOSE, gem_close),
   ROW(PRIME_HANDLE_TO_FD, prime_handle_to_fd),
   ROW(PRIME_FD_TO_HANDLE, prime_fd_to_handle),
   ROW(ASAHI_GET_PARAMS, get_params),
   ROW(ASAHI_GET_TIME, get_time),
   ROW(ASAHI_VM_CREATE, vm_create),
   ROW(ASAHI_VM_DESTROY, vm_destroy),
   ROW(ASAHI_VM_BIND, vm_bind),
   ROW(ASAHI_GEM_CREATE, gem_create),
   ROW(ASAHI_GEM_MMAP_OFFSET, gem_mmap_offset),
   ROW(ASAHI_GEM_BIND_OBJECT, gem_bind_object),
   ROW(ASAHI_QUEUE_CREATE, queue_create),
   ROW(ASAHI_QUEUE_DESTROY, queue_destroy),
   ROW(ASAHI_SUBMIT, submit),
   ROW(SYNCOBJ_CREATE, syncobj_create),
   ROW(SYNCOBJ_DESTROY, syncobj_destroy),
   ROW(SYNCOBJ_HANDLE_TO_FD, syncobj_handle_to_fd),
   ROW(SYNCOBJ_FD_TO_HANDLE, syncobj_fd_to_handle),
   ROW(SYNCOBJ_WAIT, syncobj_wait),
   ROW(SYNCOBJ_TIMELINE_WAIT, syncobj_timeline_wait),
   ROW(SYNCOBJ_RESET, syncobj_reset),
   ROW(SYNCOBJ_SIGNAL, syncobj_signal),
   ROW(SYNCOBJ_TIMELINE_SIGNAL, syncobj_timeline_signal),
   ROW(SYNCOBJ_QUERY, syncobj_query),
   ROW(SYNCOBJ_TRANSFER, syncobj_transfer),
   ROW(SYNCOBJ_EVENTFD, syncobj_eventfd),
};

/* Numbers of the DRM core that a render node refuses with EACCES: authentication, the
 * display, client capabilities, global names, masters, leases. */
static const struct {
   uint8_t first, last;
} denied[] = {
   {0x01, 0x08}, {0x0a, 0x0b}, {0x0d, 0x0d}, {0x10, 0x11}, {0x1e, 0x1f}, {0xa0, 0xbe}, {0xc6, 0xc9},
};

/* All nodes of this process, which a forked child must put right. */
static pthread_mutex_t nodes_lock = PTHREAD_MUTEX_INITIALIZER;
static struct agx_virtual_node *nodes;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
   pthread_mutex_lock(&nodes_lock);
   for (struct agx_virtual_node *node = nodes; node; node = node->next) {
      agxv_lock(node);
      pthread_mutex_lock(&node->local);
   }
}

static void after_fork_parent(void)
{
   for (struct agx_virtual_node *node = nodes; node; node = node->next) {
      pthread_mutex_unlock(&node->local);
      agxv_unlock(node);
   }
   pthread_mutex_unlock(&nodes_lock);
}

bool agxv_process_lives(const struct agx_virtual_node *node, int32_t pid)
{
   return pid == node->pid || kill(pid, 0) == 0 || errno != ESRCH;
}

/* Puts the process among those that have a file open. Where there is no room, the others
 * decide alone when it closes. */
static void hold(struct agx_virtual_file *file)
{
   const struct agx_virtual_node *node = file->node;
   struct agxv_file *it = AGXV_AT(node, agxv_file, file->ref);
   for (unsigned i = 0; i < AGXV_MAX_HOLDERS; i++) {
      if (it->holders[i] == 0 || !agxv_process_lives(node, it->holders[i])) {
         it->holders[i] = node->pid;
         return;
      }
   }
}

/* Whether another living process has the file open. */
static bool is_held(const struct agx_virtual_node *node, const struct agxv_file *file, int32_t but)
{
   for (unsigned i = 0; i < AGXV_MAX_HOLDERS; i++) {
      int32_t pid = file->holders[i];
      if (pid && pid != but && agxv_process_lives(node, pid))
         return true;
   }
   return false;
}

static void let_go(struct agx_virtual_file *file)
{
   struct agxv_file *it = AGXV_AT(file->node, agxv_file, file->ref);
   for (unsigned i = 0; i < AGXV_MAX_HOLDERS; i++)
      if (it->holders[i] == file->node->pid)
         it->holders[i] = 0;
}

/* The child has files and mappings too, but no workers, and descriptors stay the parent's
 * to write to. The shared lock is the parent's to give back, which it does now. */
static void after_fork_child(void)
{
   for (struct agx_virtual_node *node = nodes; node; node = node->next) {
      node->pid = getpid();
      node->worker_count = 0;
      pthread_mutex_init(&node->local, NULL);
      agxv_lock(node);
      agxv_watch_disown(node);
      for (size_t i = 0; i < node->mapping_count; i++)
         AGXV_AT(node, agxv_gem, node->mappings[i].object)->refs++;
      for (struct agx_virtual_file *file = node->files; file; file = file->next)
         hold(file);
      node->shared->peers++;
      agxv_unlock(node);
   }
   pthread_mutex_init(&nodes_lock, NULL);
}

static void watch_forks(void)
{
   pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

static uint64_t number_option(const char *name, uint64_t otherwise)
{
   const char *text = getenv(name);
   if (!text || !*text)
      return otherwise;
   char *end;
   errno = 0;
   unsigned long long value = strtoull(text, &end, 0);
   if (errno == 0 && *end == 0)
      return value;
   fprintf(stderr, "agx virtual: %s=%s is no number, using %llu\n", name, text,
           (unsigned long long)otherwise);
   return otherwise;
}

static struct agxv_options read_options(void)
{
   const char *debug = getenv("AGX_DEBUG");
   uint64_t memory = number_option("AGX_VIRTUAL_MEMORY", DEFAULT_MEMORY);
   memory = AGX_MIN(AGX_MAX(memory, MIN_MEMORY), MAX_MEMORY);
   return (struct agxv_options){
      .strict = number_option("AGX_VIRTUAL_STRICT", 0) != 0,
      .execute = number_option("AGX_VIRTUAL_EXECUTE", 1) != 0,
      .trace = debug && strstr(debug, "virtual"),
      .threads = (uint32_t)number_option("AGX_VIRTUAL_THREADS", 0),
      .instructions = number_option("AGX_VIRTUAL_TIMEOUT", DEFAULT_INSTRUCTIONS),
      .memory_bytes = memory & ~(uint64_t)(AGX_UAPI_PAGE_BYTES * 64 - 1),
   };
}

agx_status agx_virtual_node_create(const struct agx_chip *chip, int segment_fd,
                                   struct agx_virtual_node **out_node)
{
   *out_node = NULL;
   struct agx_virtual_node *node = calloc(1, sizeof(*node));
   if (!node)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "virtual node: no memory");
   node->chip = *chip;
   node->pid = getpid();
   node->options = read_options();
   node->run_compute = agx_virtual_default_run_compute();
   pthread_mutex_init(&node->local, NULL);
   int error = agxv_segment_attach(node, segment_fd, node->options.memory_bytes);
   if (error) {
      agxv_segment_detach(node);
      free(node);
      return agx_status_fail_errno(error, "virtual node %s: shared segment", chip->name);
   }
   agxv_lock(node);
   node->shared->peers++;
   agxv_reap(node);
   agxv_unlock(node);
   pthread_once(&fork_once, watch_forks);
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
   agxv_segment_detach(node);
   pthread_mutex_destroy(&node->local);
   free(node->mappings);
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
   case AGX_VIRTUAL_EXECUTE:
      node->options.execute = value != 0;
      break;
   case AGX_VIRTUAL_THREADS:
      node->options.threads = (uint32_t)value;
      break;
   case AGX_VIRTUAL_TIMEOUT:
      node->options.instructions = value;
      break;
   }
}

agx_status agx_virtual_open(struct agx_virtual_node *node, struct agx_virtual_file **out_file)
{
   *out_file = NULL;
   struct agx_virtual_file *file = calloc(1, sizeof(*file));
   if (!file)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "virtual node: no memory for a file");
   file->node = node;
   agxv_lock(node);
   file->ref = agxv_alloc(node, sizeof(struct agxv_file));
   if (file->ref) {
      hold(file);
      AGXV_AT(node, agxv_file, file->ref)->next = node->shared->files;
      node->shared->files = file->ref;
      file->next = node->files;
      node->files = file;
   }
   agxv_unlock(node);
   if (!file->ref) {
      free(file);
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "virtual node: the shared segment is full");
   }
   *out_file = file;
   return AGX_OK;
}

static void close_one(struct agx_virtual_file *file, enum agxv_kind kind, uint32_t ref)
{
   struct agx_virtual_node *node = file->node;
   switch (kind) {
   case AGXV_QUEUE:
      agxv_queue_cancel(node, ref, -ECANCELED);
      agxv_queue_put(node, ref);
      break;
   case AGXV_BOUND:
      agxv_bound_put(node, ref);
      break;
   case AGXV_GEM:
      agxv_vm_forget_gem(node, ref, file->ref);
      agxv_gem_put(node, ref);
      break;
   case AGXV_VM:
      agxv_vm_clear(node, ref);
      agxv_vm_put(node, ref);
      break;
   case AGXV_SYNCOBJ:
   case AGXV_KINDS:
      agxv_syncobj_put(node, ref);
      break;
   }
}

static void close_all(struct agx_virtual_file *file)
{
   static const enum agxv_kind order[] = {AGXV_QUEUE, AGXV_BOUND, AGXV_GEM, AGXV_VM, AGXV_SYNCOBJ};
   struct agx_virtual_node *node = file->node;
   for (unsigned i = 0; i < AGX_COUNT(order); i++) {
      struct agxv_table *table = agxv_table_of(file, order[i]);
      const uint32_t *slots = agxv_at(node, table->slots);
      for (uint32_t slot = 0; slot < table->capacity; slot++)
         if (slots[slot])
            close_one(file, order[i], slots[slot]);
      agxv_table_fini(node, table);
   }
   uint32_t *link = &node->shared->files;
   while (*link != file->ref)
      link = &AGXV_AT(node, agxv_file, *link)->next;
   *link = AGXV_AT(node, agxv_file, file->ref)->next;
   agxv_free(node, file->ref, sizeof(struct agxv_file));
   agxv_tell(node);
}

void agxv_reap(struct agx_virtual_node *node)
{
   agxv_drop_orphans(node);
   for (uint32_t ref = node->shared->files; ref;) {
      const struct agxv_file *it = AGXV_AT(node, agxv_file, ref);
      struct agx_virtual_file ghost = {.node = node, .ref = ref};
      ref = it->next;
      if (!is_held(node, it, 0))
         close_all(&ghost);
   }
}

void agx_virtual_close(struct agx_virtual_file *file)
{
   if (!file)
      return;
   struct agx_virtual_node *node = file->node;
   agxv_lock(node);
   struct agx_virtual_file **link = &node->files;
   while (*link != file)
      link = &(*link)->next;
   *link = file->next;
   let_go(file);
   if (!is_held(node, AGXV_AT(node, agxv_file, file->ref), node->pid))
      close_all(file);
   agxv_unlock(node);
   free(file);
}

static const struct request *find_request(uint32_t nr)
{
   for (unsigned i = 0; i < AGX_COUNT(requests); i++)
      if (requests[i].nr == nr)
         return &requests[i];
   return NULL;
}

static int refusal(uint32_t nr)
{
   for (unsigned i = 0; i < AGX_COUNT(denied); i++)
      if (nr >= denied[i].first && nr <= denied[i].last)
         return -EACCES;
   return -EINVAL;
}

int agx_virtual_ioctl(struct agx_virtual_file *file, unsigned long code, void *argument)
{
   if (AGX_UAPI_LETTER(code) != 'd')
      return -ENOTTY;
   const struct request *request = find_request(AGX_UAPI_NR(code));
   if (!request)
      return refusal(AGX_UAPI_NR(code));
   uint32_t both = request->direction & AGX_UAPI_DIRECTION(code);
   uint32_t size = AGX_MIN(request->size, AGX_UAPI_BYTES(code));
   _Alignas(16) uint8_t copy[MAX_ARGUMENT_BYTES] = {0};
   uint64_t address = (uintptr_t)argument;
   if (both & 1 && agxv_copy_in(copy, address, size))
      return -EFAULT;
   int result = request->handler(file, copy);
   if (both & 2 && agxv_copy_out(address, copy, size))
      return -EFAULT;
   return result;
}

void agxv_trace(const struct agx_virtual_node *node, const char *format, ...)
{
   if (!node->options.trace)
      return;
   char text[AGXV_ERROR_BYTES];
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(text, sizeof(text), format, arguments);
   va_end(arguments);
   fprintf(stderr, "agx virtual: %s\n", text);
}

void agxv_report(struct agx_virtual_node *node, const char *format, ...)
{
   char text[AGXV_ERROR_BYTES];
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(text, sizeof(text), format, arguments);
   va_end(arguments);
   agxv_lock(node);
   memcpy(node->shared->last_error, text, sizeof(text));
   agxv_unlock(node);
   if (node->options.trace)
      fprintf(stderr, "agx virtual: %s\n", text);
}

size_t agx_virtual_last_error(struct agx_virtual_node *node, char *text, size_t capacity)
{
   agxv_lock(node);
   size_t length = strnlen(node->shared->last_error, AGXV_ERROR_BYTES - 1);
   if (capacity) {
      size_t copied = AGX_MIN(length, capacity - 1);
      memcpy(text, node->shared->last_error, copied);
      text[copied] = 0;
   }
   agxv_unlock(node);
   return length;
}
