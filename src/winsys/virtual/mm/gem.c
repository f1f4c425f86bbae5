/* SPDX-License-Identifier: MIT
 *
 * Buffers: creation, handles, mmap offsets, timestamp bindings, and the mappings that
 * a process makes of them. A buffer's memory goes with its last reference, and a
 * mapping is one; its GPU mappings go when the file closes its handle.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/virtual/mm/gem.h"
#include "winsys/virtual/mm/backing.h"
#include "winsys/virtual/store/inject.h"
#include "winsys/virtual/mm/memory.h"
#include "winsys/virtual/store/object.h"
#include "winsys/virtual/mm/vm.h"

#define FIRST_OFFSET AGXV_MEMORY_OFFSET /* of those that GEM_MMAP_OFFSET gives */

void agxv_gem_put(struct agx_virtual_node *node, uint32_t ref)
{
   struct agxv_gem *gem = AGXV_AT(node, agxv_gem, ref);
   if (--gem->refs)
      return;
   agxv_vm_forget_gem(node, ref, 0);
   if (gem->backing)
      AGXV_AT(node, agxv_backing, gem->backing)->gem = 0;
   agxv_memory_release(node, gem->first_page, gem->pages, gem->backing);
   if (gem->vm)
      agxv_vm_put(node, gem->vm);
   agxv_free(node, ref, sizeof(*gem));
}

void agxv_bound_put(struct agx_virtual_node *node, uint32_t ref)
{
   struct agxv_bound *bound = AGXV_AT(node, agxv_bound, ref);
   if (--bound->refs)
      return;
   agxv_gem_put(node, bound->gem);
   agxv_free(node, ref, sizeof(*bound));
}

uint32_t agxv_gem_new(struct agx_virtual_node *node, uint64_t pages)
{
   uint32_t ref = agxv_alloc(node, sizeof(struct agxv_gem));
   if (!ref)
      return 0;
   struct agxv_gem *gem = AGXV_AT(node, agxv_gem, ref);
   gem->refs = 1;
   gem->pages = pages;
   gem->first_page = agxv_memory_take(node, pages, ref);
   if (gem->first_page != UINT64_MAX)
      return ref;
   agxv_free(node, ref, sizeof(*gem));
   return 0;
}

/* A buffer that no other address space may have can't be shared: only others need a file.
 * Without one (too many are open) a buffer works, but PRIME refuses it. */
static uint32_t create(struct agx_virtual_file *file, uint64_t pages, uint32_t vm)
{
   struct agx_virtual_node *node = file->node;
   uint32_t ref = agxv_gem_new(node, pages);
   if (!ref)
      return 0;
   if (vm) {
      AGXV_AT(node, agxv_gem, ref)->vm = vm;
      agxv_vm_get(node, vm);
   } else if (node->options.shares && agxv_backing_make(node, ref)) {
      agxv_trace(node, "a buffer of %llu pages can't be shared: no file",
                 (unsigned long long)pages);
   }
   uint32_t handle = agxv_table_add(node, agxv_table_of(file, AGXV_GEM), ref);
   if (!handle)
      agxv_gem_put(node, ref);
   return handle;
}

AGXV_HANDLER(gem_create)
{
   struct agx_uapi_gem_create *args = argument;
   const uint32_t known = AGX_UAPI_GEM_WRITEBACK | AGX_UAPI_GEM_VM_PRIVATE;
   bool is_private = args->flags & AGX_UAPI_GEM_VM_PRIVATE;
   if (args->flags & ~known || (!is_private && args->vm_id) || args->size == 0)
      return -EINVAL;
   if (args->size > UINT64_MAX - (AGX_UAPI_PAGE_BYTES - 1))
      return -EOVERFLOW;
   agxv_tell_pad(file->node, "GEM_CREATE", args->pad);
   agxv_lock(file->node);
   uint32_t vm = is_private ? agxv_object_find(file, AGXV_VM, args->vm_id) : 0;
   int error = is_private && !vm ? -ENOENT : 0;
   if (!error) {
      uint64_t pages = agx_align_up(args->size, AGX_UAPI_PAGE_BYTES) >> AGXV_PAGE_LOG2;
      uint32_t handle = create(file, pages, vm);
      if (handle)
         args->handle = handle;
      else
         error = -ENOMEM;
   }
   agxv_unlock(file->node);
   return error;
}

AGXV_HANDLER(gem_close)
{
   const struct agx_uapi_gem_close *args = argument;
   agxv_tell_pad(file->node, "GEM_CLOSE", args->pad);
   agxv_lock(file->node);
   uint32_t ref = agxv_table_remove(file->node, agxv_table_of(file, AGXV_GEM), args->handle);
   if (ref) {
      agxv_vm_forget_gem(file->node, ref, file->ref);
      agxv_gem_put(file->node, ref);
   }
   agxv_unlock(file->node);
   return ref ? 0 : -EINVAL;
}

AGXV_HANDLER(gem_mmap_offset)
{
   struct agx_uapi_gem_mmap_offset *args = argument;
   if (args->flags)
      return -EINVAL;
   agxv_lock(file->node);
   uint32_t ref = agxv_object_find(file, AGXV_GEM, args->handle);
   if (ref)
      args->offset =
         FIRST_OFFSET + (AGXV_AT(file->node, agxv_gem, ref)->first_page << AGXV_PAGE_LOG2);
   agxv_unlock(file->node);
   return ref ? 0 : -ENOENT;
}

static int bind_object(struct agx_virtual_file *file, struct agx_uapi_gem_bind_object *args)
{
   struct agx_virtual_node *node = file->node;
   if (args->flags != AGX_UAPI_BIND_OBJECT_USAGE_TIMESTAMPS)
      return -EINVAL;
   if (!agx_is_aligned(args->offset | args->range, AGX_UAPI_PAGE_BYTES))
      return -EINVAL;
   uint32_t ref = agxv_object_find(file, AGXV_GEM, args->handle);
   if (!ref)
      return -ENOENT;
   struct agxv_gem *gem = AGXV_AT(node, agxv_gem, ref);
   if (gem->vm || !agx_range_fits(args->offset, args->range, gem->pages << AGXV_PAGE_LOG2))
      return -EINVAL;
   uint32_t bound = agxv_alloc(node, sizeof(struct agxv_bound));
   if (!bound)
      return -ENOMEM;
   gem->refs++;
   *AGXV_AT(node, agxv_bound, bound) = (struct agxv_bound){1, ref, args->offset, args->range};
   uint32_t handle = agxv_table_add(node, agxv_table_of(file, AGXV_BOUND), bound);
   if (!handle) {
      agxv_bound_put(node, bound);
      return -ENOMEM;
   }
   args->object_handle = handle;
   return 0;
}

static int unbind_object(struct agx_virtual_file *file, const struct agx_uapi_gem_bind_object *args)
{
   if (args->flags || args->handle || args->offset || args->range)
      return -EINVAL;
   uint32_t ref =
      agxv_table_remove(file->node, agxv_table_of(file, AGXV_BOUND), args->object_handle);
   if (!ref)
      return -ENOENT;
   agxv_bound_put(file->node, ref);
   return 0;
}

AGXV_HANDLER(gem_bind_object)
{
   struct agx_uapi_gem_bind_object *args = argument;
   if (args->pad || args->vm_id || args->op > AGX_UAPI_BIND_OBJECT_OP_UNBIND)
      return -EINVAL;
   agxv_lock(file->node);
   int error = args->op == AGX_UAPI_BIND_OBJECT_OP_BIND ? bind_object(file, args)
                                                        : unbind_object(file, args);
   agxv_unlock(file->node);
   return error;
}

/* The buffer that a mapping request means, with a reference; 0 with *out_errno. */
static uint32_t find_mapped(struct agx_virtual_file *file, uint64_t offset, size_t length,
                            int *out_errno)
{
   struct agx_virtual_node *node = file->node;
   *out_errno = EINVAL;
   if (offset < FIRST_OFFSET || !agx_is_aligned(offset, AGX_UAPI_PAGE_BYTES) || length == 0)
      return 0;
   uint32_t ref = agxv_memory_owner(node, (offset - FIRST_OFFSET) >> AGXV_PAGE_LOG2);
   struct agxv_gem *gem = AGXV_AT(node, agxv_gem, ref);
   if (!gem || length > gem->pages << AGXV_PAGE_LOG2)
      return 0;
   *out_errno = EACCES;
   if (!agxv_table_has(node, agxv_table_of(file, AGXV_GEM), ref))
      return 0;
   *out_errno = 0;
   gem->refs++;
   return ref;
}

/* A new reference to the buffer for this process, 0 when the segment is full. */
static uint32_t hold_gem(struct agx_virtual_node *node, uint32_t gem)
{
   uint32_t ref = agxv_alloc(node, sizeof(struct agxv_hold));
   if (!ref)
      return 0;
   uint32_t next = node->shared->holds;
   *AGXV_AT(node, agxv_hold, ref) = (struct agxv_hold){next, 0, gem, node->pid};
   AGXV_AT(node, agxv_gem, gem)->refs++;
   AGXV_STEP();
   node->shared->holds = ref;
   AGXV_STEP();
   if (next)
      AGXV_AT(node, agxv_hold, next)->before = ref;
   return ref;
}

/* Ends a reference that hold_gem gave; 0 is fine. */
static void end_hold(struct agx_virtual_node *node, uint32_t ref)
{
   if (!ref)
      return;
   const struct agxv_hold hold = *AGXV_AT(node, agxv_hold, ref);
   if (hold.next)
      AGXV_AT(node, agxv_hold, hold.next)->before = hold.before;
   if (hold.before)
      AGXV_AT(node, agxv_hold, hold.before)->next = hold.next;
   else
      node->shared->holds = hold.next;
   agxv_free(node, ref, sizeof(hold));
   agxv_gem_put(node, hold.gem);
}

void agxv_hold_reap(struct agx_virtual_node *node, int32_t doomed)
{
   int32_t lives = 0, dead = doomed; /* asked already */
   for (uint32_t ref = node->shared->holds; ref;) {
      const struct agxv_hold *hold = AGXV_AT(node, agxv_hold, ref);
      uint32_t current = ref;
      ref = hold->next;
      if (hold->pid != dead && hold->pid != lives)
         *(agxv_process_lives(node, hold->pid) ? &lives : &dead) = hold->pid;
      if (hold->pid == dead)
         end_hold(node, current);
   }
}

void agxv_hold_again(struct agx_virtual_node *node)
{
   for (size_t i = 0; i < node->mapping_count; i++) {
      struct agxv_mapping *it = &node->mappings[i];
      if (it->hold) /* where there is no room, the parent's decides alone */
         it->hold = hold_gem(node, AGXV_AT(node, agxv_hold, it->hold)->gem);
   }
}

static bool add_mapping(struct agx_virtual_node *node, uintptr_t start, uintptr_t end,
                        uint32_t hold)
{
   if (node->mapping_count == node->mapping_capacity) {
      size_t capacity = node->mapping_capacity ? node->mapping_capacity * 2 : 64;
      void *grown = realloc(node->mappings, capacity * sizeof(*node->mappings));
      if (!grown)
         return false;
      node->mappings = grown;
      node->mapping_capacity = capacity;
   }
   node->mappings[node->mapping_count++] = (struct agxv_mapping){start, end, hold};
   return true;
}

/* What lies behind a hole in a mapping is one of its own. Without memory for it, its buffer
 * just stays for good. */
static void add_tail(struct agx_virtual_node *node, uintptr_t start, uintptr_t end, uint32_t hold)
{
   uint32_t own = hold ? hold_gem(node, AGXV_AT(node, agxv_hold, hold)->gem) : 0;
   add_mapping(node, start, end, own);
}

/* The range is no longer mapped: gives up what it held. Both locks are held. */
static void drop_mappings(struct agx_virtual_node *node, uintptr_t start, uintptr_t end)
{
   for (size_t i = 0; i < node->mapping_count; i++) {
      struct agxv_mapping *it = &node->mappings[i], old = *it;
      if (old.end <= start || old.start >= end)
         continue;
      bool keeps_head = old.start<start, keeps_tail = old.end> end;
      if (keeps_head && keeps_tail) {
         it->end = start;
         add_tail(node, end, old.end, old.hold);
      } else if (keeps_head) {
         it->end = start;
      } else if (keeps_tail) {
         it->start = end;
      } else {
         *it = node->mappings[--node->mapping_count];
         end_hold(node, old.hold);
         i--;
      }
   }
}

void agx_virtual_unmapped(struct agx_virtual_node *node, void *address, size_t length)
{
   uintptr_t start = (uintptr_t)address;
   pthread_mutex_lock(&node->local);
   bool any = node->mapping_count > 0;
   pthread_mutex_unlock(&node->local);
   if (!any)
      return;
   agxv_lock(node);
   pthread_mutex_lock(&node->local);
   drop_mappings(node, start, start + length);
   pthread_mutex_unlock(&node->local);
   agxv_unlock(node);
}

static void *map_object(struct agx_virtual_node *node, uint32_t ref, void *address, size_t length,
                        int prot, int flags, int *out_errno)
{
   const struct agxv_gem *gem = AGXV_AT(node, agxv_gem, ref);
   off_t at = (off_t)(AGXV_MEMORY_OFFSET + (gem->first_page << AGXV_PAGE_LOG2));
   if (gem->backing)
      at = (off_t)AGXV_AT(node, agxv_backing, gem->backing)->offset;
   int fd = gem->backing ? agxv_backing_fd(node, gem->backing) : node->fd;
   void *mapped = mmap(address, length, prot, flags, fd, at);
   if (mapped == MAP_FAILED) {
      *out_errno = errno;
      return NULL;
   }
   uintptr_t start = (uintptr_t)mapped;
   uint64_t host_page = (uint64_t)sysconf(_SC_PAGESIZE);
   pthread_mutex_lock(&node->local);
   drop_mappings(node, start, start + length); /* MAP_FIXED over an older one */
   uint32_t hold = hold_gem(node, ref);
   bool kept = hold && add_mapping(node, start, start + agx_align_up(length, host_page), hold);
   pthread_mutex_unlock(&node->local);
   if (kept)
      return mapped;
   end_hold(node, hold);
   munmap(mapped, length);
   *out_errno = ENOMEM;
   return NULL;
}

void *agx_virtual_mmap(struct agx_virtual_file *file, void *address, size_t length, int prot,
                       int flags, uint64_t offset, int *out_errno)
{
   struct agx_virtual_node *node = file->node;
   *out_errno = -agxv_inject_request(node, AGXV_REQUEST_MMAP, "mmap");
   if (*out_errno)
      return NULL;
   if ((flags & MAP_TYPE) == MAP_PRIVATE) {
      *out_errno = EINVAL;
      return NULL;
   }
   agxv_lock(node);
   uint32_t ref = find_mapped(file, offset, length, out_errno);
   void *mapped = NULL;
   if (ref)
      mapped = map_object(node, ref, address, length, prot, flags, out_errno);
   if (ref)
      agxv_gem_put(node, ref);
   agxv_unlock(node);
   return mapped;
}

/* The position of the node's own descriptor means nothing. */
bool agx_virtual_find_memory(struct agx_virtual_file *file, uint64_t offset, uint64_t from,
                             uint64_t *out_begin, uint64_t *out_end)
{
   struct agx_virtual_node *node = file->node;
   int error;
   agxv_lock(node);
   uint32_t ref = find_mapped(file, offset, 1, &error);
   const struct agxv_gem *gem = AGXV_AT(node, agxv_gem, ref);
   bool is_told = gem && !gem->backing;
   if (is_told) {
      off_t start = (off_t)(AGXV_MEMORY_OFFSET + (gem->first_page << AGXV_PAGE_LOG2));
      off_t size = (off_t)(gem->pages << AGXV_PAGE_LOG2);
      off_t begin = lseek(node->fd, start + (off_t)from, SEEK_DATA);
      off_t end = begin < 0 || begin >= start + size ? begin : lseek(node->fd, begin, SEEK_HOLE);
      is_told = begin >= 0 ? end >= 0 : errno == ENXIO;
      *out_begin = begin < 0 ? (uint64_t)size : (uint64_t)AGX_MIN(begin - start, size);
      *out_end = begin < 0 ? (uint64_t)size : (uint64_t)AGX_MIN(end - start, size);
   }
   if (gem)
      agxv_gem_put(node, ref);
   agxv_unlock(node);
   return is_told;
}
