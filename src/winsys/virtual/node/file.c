/* SPDX-License-Identifier: MIT
 *
 * Open files: which processes hold one, and what goes when the last lets go of it or
 * dies.
 */
#include "winsys/virtual/node/node_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/virtual/gpu/job.h"
#include "winsys/virtual/mm/backing.h"
#include "winsys/virtual/mm/gem.h"
#include "winsys/virtual/mm/memory.h"
#include "winsys/virtual/mm/vm.h"
#include "winsys/virtual/store/object.h"
#include "winsys/virtual/sync/fence.h"
#include "winsys/virtual/sync/syncobj.h"

/* Puts the process among those that have a file open. Where there is no room, the others
 * decide alone when it closes. */
void agxv_file_hold(struct agx_virtual_file *file)
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

/* Whether another living process has the file open, or a descriptor of it is. */
static bool is_held(const struct agx_virtual_node *node, const struct agxv_file *file, int32_t but)
{
   if (agxv_file_has_fd(node, file))
      return true;
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

agx_status agx_virtual_open(struct agx_virtual_node *node, struct agx_virtual_file **out_file)
{
   *out_file = NULL;
   struct agx_virtual_file *file = calloc(1, sizeof(*file));
   if (!file)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "virtual node: no memory for a file");
   file->node = node;
   agxv_lock(node);
   agxv_reap(node); /* what went unseen */
   file->ref = agxv_alloc(node, sizeof(struct agxv_file));
   if (file->ref) {
      agxv_file_hold(file);
      AGXV_AT(node, agxv_file, file->ref)->serial = ++node->shared->file_serial;
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
   agxv_file_cancel(node, file->ref);
   for (unsigned i = 0; i < AGX_COUNT(order); i++) {
      struct agxv_table *table = agxv_table_of(file, order[i]);
      uint32_t *slots = agxv_at(node, table->slots);
      for (uint32_t slot = 0; slot < table->capacity; slot++) {
         uint32_t ref = slots[slot];
         slots[slot] = 0; /* first: who goes on where this process died must not put it again */
         AGXV_STEP();
         if (ref)
            close_one(file, order[i], ref);
      }
      agxv_table_fini(node, table);
   }
   uint32_t *link = &node->shared->files;
   while (*link != file->ref)
      link = &AGXV_AT(node, agxv_file, *link)->next;
   *link = AGXV_AT(node, agxv_file, file->ref)->next;
   agxv_free(node, file->ref, sizeof(struct agxv_file));
   agxv_notify(node);
}

void agx_virtual_new_program(struct agx_virtual_node *node)
{
   agxv_lock(node);
   for (uint32_t ref = node->shared->files; ref;) {
      struct agxv_file *it = AGXV_AT(node, agxv_file, ref);
      for (unsigned i = 0; i < AGXV_MAX_HOLDERS; i++)
         if (it->holders[i] == node->pid)
            it->holders[i] = 0;
      ref = it->next;
   }
   for (uint32_t ref = node->shared->active_queues; ref;) {
      struct agxv_queue *queue = AGXV_AT(node, agxv_queue, ref);
      const struct agxv_job *job = AGXV_AT(node, agxv_job, queue->running);
      if (job && job->pid == node->pid)
         queue->running = 0; /* no process executes it any more */
      ref = queue->next_active;
   }
   agxv_hold_reap(node, node->pid);
   agxv_reap(node);
   agxv_unlock(node);
}

void agxv_reap(struct agx_virtual_node *node)
{
   agxv_drop_orphans(node);
   agxv_hold_reap(node, 0);
   agxv_memory_bury(node); /* no command ends where all processes that executed died */
   for (uint32_t ref = node->shared->files; ref;) {
      const struct agxv_file *it = AGXV_AT(node, agxv_file, ref);
      struct agx_virtual_file ghost = {.node = node, .ref = ref};
      ref = it->next;
      if (!is_held(node, it, 0))
         close_all(&ghost);
   }
}

void agx_virtual_reap(struct agx_virtual_node *node)
{
   agxv_lock(node);
   agxv_reap(node);
   agxv_unlock(node);
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

/* Descriptors of open files. One is the segment's memory file, opened anew: so the host
 * can map GPU memory of it at the offsets that GEM_MMAP_OFFSET gives, and every copy (dup,
 * fork, exec, SCM_RIGHTS) shares what belongs to a file that is open:
 *
 *   its position   names the struct agxv_file, by a number that is used once
 *   a lock         on the byte of that number, which the host drops with the last copy,
 *                  whatever process had it and however that ended */

/* Beyond the end of the memory file, so that reading there gives nothing. */
#define FIRST_POSITION (1ll << 46)

static struct flock lock_of(uint64_t serial, short type)
{
   return (struct flock){
      .l_type = type, .l_whence = SEEK_SET, .l_start = FIRST_POSITION + (off_t)serial, .l_len = 1};
}

bool agxv_file_has_fd(const struct agx_virtual_node *node, const struct agxv_file *file)
{
   struct flock lock = lock_of(file->serial, F_WRLCK);
   return file->has_fd && fcntl(node->fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static int open_anew(const struct agx_virtual_node *node)
{
   char path[64];
   snprintf(path, sizeof(path), "/proc/self/fd/%d", node->fd);
   int fd = open(path, O_RDWR | O_CLOEXEC);
   return fd < 0 ? -errno : fd;
}

int agx_virtual_file_fd(struct agx_virtual_file *file)
{
   struct agx_virtual_node *node = file->node;
   int fd = open_anew(node);
   if (fd < 0)
      return fd;
   agxv_lock(node);
   struct agxv_file *it = AGXV_AT(node, agxv_file, file->ref);
   struct flock lock = lock_of(it->serial, F_WRLCK);
   int error = 0;
   if (lseek(fd, FIRST_POSITION + (off_t)it->serial, SEEK_SET) < 0 ||
       fcntl(fd, F_OFD_SETLK, &lock) != 0)
      error = -errno;
   else
      it->has_fd = true;
   agxv_unlock(node);
   if (!error)
      return fd;
   close(fd);
   return error;
}

bool agx_virtual_is_segment(struct agx_virtual_node *node, uint64_t device, uint64_t inode)
{
   return node->segment_inode == inode && node->segment_device == device;
}

uint64_t agx_virtual_fd_serial(struct agx_virtual_node *node, int fd)
{
   struct stat info;
   if (fd == node->fd || fstat(fd, &info) ||
       !agx_virtual_is_segment(node, info.st_dev, info.st_ino))
      return 0;
   off_t position = lseek(fd, 0, SEEK_CUR);
   return position > FIRST_POSITION ? (uint64_t)(position - FIRST_POSITION) : 0;
}

agx_status agx_virtual_attach(struct agx_virtual_node *node, uint64_t serial,
                              struct agx_virtual_file **out_file)
{
   *out_file = NULL;
   struct agx_virtual_file *file = calloc(1, sizeof(*file));
   if (!file)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "virtual node: no memory for a file");
   file->node = node;
   agxv_lock(node);
   for (uint32_t ref = node->shared->files; ref && !file->ref;
        ref = AGXV_AT(node, agxv_file, ref)->next)
      if (AGXV_AT(node, agxv_file, ref)->serial == serial)
         file->ref = ref;
   if (file->ref) {
      agxv_file_hold(file);
      file->next = node->files;
      node->files = file;
   }
   agxv_unlock(node);
   if (!file->ref) {
      free(file);
      return AGX_FAIL(AGX_NOT_FOUND, "virtual node: file %llu is not open",
                      (unsigned long long)serial);
   }
   *out_file = file;
   return AGX_OK;
}

int agx_virtual_next_own_fd(struct agx_virtual_node *node, int first)
{
   int least = node->fd >= first ? node->fd : INT_MAX;
   agxv_lock(node);
   for (size_t i = 0; i < node->watch_count; i++)
      if (node->watches[i].fd >= first)
         least = AGX_MIN(least, node->watches[i].fd);
   for (size_t i = 0; i < node->overlay_count; i++)
      if (node->overlays[i].fd >= first)
         least = AGX_MIN(least, node->overlays[i].fd);
   agxv_unlock(node);
   return least;
}

/* Where this process keeps the number; other processes know those of buffers' files too. */
static int *find_holder(struct agx_virtual_node *node, int fd)
{
   if (node->fd == fd)
      return &node->fd;
   for (size_t i = 0; i < node->watch_count; i++)
      if (node->watches[i].fd == fd)
         return &node->watches[i].fd;
   for (size_t i = 0; i < node->overlay_count; i++)
      if (node->overlays[i].fd == fd)
         return &node->overlays[i].fd;
   return NULL;
}

bool agx_virtual_move_own_fd(struct agx_virtual_node *node, int fd)
{
   agxv_lock(node);
   int *holder = find_holder(node, fd);
   int moved = holder ? fcntl(fd, F_DUPFD_CLOEXEC, fd + 1) : -1;
   if (moved >= 0)
      *holder = moved;
   for (uint32_t ref = moved >= 0 ? node->shared->backings : 0; ref;
        ref = AGXV_AT(node, agxv_backing, ref)->next) {
      struct agxv_backing *backing = AGXV_AT(node, agxv_backing, ref);
      if (backing->pid == node->pid && backing->fd == fd)
         backing->fd = moved;
   }
   agxv_unlock(node);
   return !holder || moved >= 0;
}
