/* SPDX-License-Identifier: MIT
 *
 * Requests on address spaces. VM_BIND copies all steps before it does the first one. They are
 * done in order; the first that fails ends the call, and those before it stay. The order of the
 * checks is the kernel's, which shows where a step has two mistakes. Source: docs/hw/kernel.md 3.
 */
#include "winsys/virtual/mm/vm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "winsys/virtual/store/inject.h"
#include "winsys/virtual/mm/gem.h"
#include "winsys/virtual/mm/pagetable_impl.h"
#include "winsys/virtual/store/user.h"

#define MAX_BIND_RECORDS 64u
#define MAX_STEPS_B      (1u << 25) /* the largest block that a kernel gives for the copy */
#define SMALL_STEPS_B    2048u      /* what fits on the stack */
#define KERNEL_PAGE_B    0x8000u    /* of the kernel's own allocations in an address space */

void agxv_vm_get(struct agx_virtual_node *node, uint32_t vm)
{
   AGXV_AT(node, agxv_vm, vm)->refs++;
}

void agxv_vm_put(struct agx_virtual_node *node, uint32_t ref)
{
   struct agxv_vm *vm = AGXV_AT(node, agxv_vm, ref);
   if (--vm->refs)
      return;
   agxv_pagetable_free_all(node, vm);
   agxv_free(node, ref, sizeof(*vm));
}

void agxv_vm_clear(struct agx_virtual_node *node, uint32_t vm)
{
   agxv_pagetable_unmap(node, AGXV_AT(node, agxv_vm, vm), 0, 1ull << AGXV_VA_BITS, 0, UINT64_MAX);
}

void agxv_vm_forget_gem(struct agx_virtual_node *node, uint32_t gem, uint32_t file)
{
   struct agxv_gem *it = AGXV_AT(node, agxv_gem, gem);
   for (uint32_t *link = &it->binds; *link;) {
      uint32_t ref = *link;
      struct agxv_bind_record record = *AGXV_AT(node, agxv_bind_record, ref);
      struct agxv_vm *vm = AGXV_AT(node, agxv_vm, record.vm);
      if (file && vm->file != file) {
         link = &AGXV_AT(node, agxv_bind_record, ref)->next;
         continue;
      }
      agxv_pagetable_unmap(node, vm, record.va, record.range, it->first_page, it->pages);
      *link = record.next;
      it->bind_count--;
      agxv_free(node, ref, sizeof(record));
      agxv_vm_put(node, record.vm);
   }
}

/* Remembers where a buffer was bound. Records only say where to look, so overlapping ones
 * of a well-used buffer may be joined to one that spans them. */
static bool remember(struct agx_virtual_node *node, struct agxv_gem *gem, uint32_t vm, uint64_t va,
                     uint64_t range)
{
   for (uint32_t ref = gem->binds; ref;) {
      struct agxv_bind_record *record = AGXV_AT(node, agxv_bind_record, ref);
      ref = record->next;
      bool inside = va >= record->va && va + range <= record->va + record->range;
      if (record->vm != vm || (!inside && gem->bind_count < MAX_BIND_RECORDS))
         continue;
      uint64_t end = AGX_MAX(va + range, record->va + record->range);
      record->va = AGX_MIN(va, record->va);
      record->range = end - record->va;
      return true;
   }
   uint32_t ref = agxv_alloc(node, sizeof(struct agxv_bind_record));
   if (!ref)
      return false;
   *AGXV_AT(node, agxv_bind_record, ref) = (struct agxv_bind_record){gem->binds, vm, va, range};
   agxv_vm_get(node, vm);
   AGXV_STEP();
   gem->binds = ref;
   gem->bind_count++;
   return true;
}

AGXV_HANDLER(vm_create)
{
   struct agx_uapi_vm_create *args = argument;
   struct agx_virtual_node *node = file->node;
   if (!agx_is_aligned(args->kernel_start | args->kernel_end, AGX_UAPI_PAGE_BYTES))
      return -EINVAL;
   if (args->kernel_start < AGXV_VM_START || args->kernel_end > AGXV_VM_END ||
       args->kernel_end < args->kernel_start ||
       args->kernel_end - args->kernel_start < AGXV_KERNEL_MIN)
      return -EINVAL;
   agxv_tell_pad(node, "VM_CREATE", args->pad);
   agxv_lock(node);
   uint32_t ref = agxv_alloc(node, sizeof(struct agxv_vm));
   uint32_t id = 0;
   if (ref) {
      struct agxv_vm *vm = AGXV_AT(node, agxv_vm, ref);
      vm->refs = 1;
      vm->file = file->ref;
      vm->kernel_start = agx_align_up(args->kernel_start, KERNEL_PAGE_B);
      vm->kernel_end = args->kernel_end & ~(uint64_t)(KERNEL_PAGE_B - 1);
      id = agxv_table_add(node, agxv_table_of(file, AGXV_VM), ref);
      if (!id)
         agxv_vm_put(node, ref);
   }
   agxv_unlock(node);
   if (!id)
      return -ENOMEM;
   args->vm_id = id;
   return 0;
}

AGXV_HANDLER(vm_destroy)
{
   const struct agx_uapi_vm_destroy *args = argument;
   agxv_tell_pad(file->node, "VM_DESTROY", args->pad);
   agxv_lock(file->node);
   uint32_t ref = agxv_table_remove(file->node, agxv_table_of(file, AGXV_VM), args->vm_id);
   if (ref) {
      agxv_vm_clear(file->node, ref);
      agxv_vm_put(file->node, ref);
   }
   agxv_unlock(file->node);
   return ref ? 0 : -ENOENT;
}

static bool is_aligned(const struct agx_uapi_gem_bind_op *op)
{
   return agx_is_aligned(op->addr | op->range | op->offset, AGX_UAPI_PAGE_BYTES);
}

static bool is_for_users(const struct agx_uapi_gem_bind_op *op)
{
   return op->range && op->addr >= AGXV_VM_START && op->addr < AGXV_VM_END &&
          op->range <= AGXV_VM_END - op->addr;
}

/* Whether the range stays outside of what the kernel keeps for itself. */
static bool is_outside(const struct agxv_vm *vm, const struct agx_uapi_gem_bind_op *op)
{
   return op->addr >= vm->kernel_end || op->addr + op->range <= vm->kernel_start;
}

static uint32_t entry_of(const struct agxv_gem *gem, const struct agx_uapi_gem_bind_op *op)
{
   uint64_t page = gem->first_page + (op->offset >> AGXV_PAGE_LOG2);
   return (uint32_t)(page << AGXV_PTE_SHIFT) | AGXV_PTE_VALID |
          (op->flags & AGX_UAPI_BIND_READ ? AGXV_PTE_READ : 0) |
          (op->flags & AGX_UAPI_BIND_WRITE ? AGXV_PTE_WRITE : 0);
}

static int bind(struct agx_virtual_file *file, uint32_t vm_id,
                const struct agx_uapi_gem_bind_op *op)
{
   const uint32_t access = AGX_UAPI_BIND_READ | AGX_UAPI_BIND_WRITE;
   struct agx_virtual_node *node = file->node;
   bool single = op->flags & AGX_UAPI_BIND_SINGLE_PAGE;
   if (!is_aligned(op) || op->flags & ~(access | AGX_UAPI_BIND_SINGLE_PAGE))
      return -EINVAL;
   uint32_t ref = agxv_object_find(file, AGXV_GEM, op->handle);
   if (!ref)
      return -ENOENT;
   struct agxv_gem *gem = AGXV_AT(node, agxv_gem, ref);
   uint64_t needed = single ? AGX_UAPI_PAGE_BYTES : op->range;
   if (!agx_range_fits(op->offset, needed, gem->pages << AGXV_PAGE_LOG2) || !is_for_users(op) ||
       !(op->flags & access))
      return -EINVAL;
   uint32_t vm_ref = agxv_object_find(file, AGXV_VM, vm_id);
   if (!vm_ref)
      return -ENOENT;
   struct agxv_vm *vm = AGXV_AT(node, agxv_vm, vm_ref);
   if (!is_outside(vm, op) || (gem->vm && gem->vm != vm_ref))
      return -EINVAL;
   if (!remember(node, gem, vm_ref, op->addr, op->range))
      return -ENOMEM;
   return agxv_pagetable_map(node, vm, op->addr, op->range, entry_of(gem, op), single) ? 0
                                                                                       : -ENOMEM;
}

static int unbind(struct agx_virtual_file *file, uint32_t vm_id,
                  const struct agx_uapi_gem_bind_op *op)
{
   if (op->flags != AGX_UAPI_BIND_UNBIND || op->handle || op->offset || !is_aligned(op) ||
       !is_for_users(op))
      return -EINVAL;
   uint32_t vm_ref = agxv_object_find(file, AGXV_VM, vm_id);
   if (!vm_ref)
      return -ENOENT;
   struct agxv_vm *vm = AGXV_AT(file->node, agxv_vm, vm_ref);
   if (!is_outside(vm, op))
      return -EINVAL;
   agxv_pagetable_unmap(file->node, vm, op->addr, op->range, 0, UINT64_MAX);
   return 0;
}

static int do_step(struct agx_virtual_file *file, const struct agx_uapi_vm_bind *args,
                   const uint8_t *step)
{
   struct agx_uapi_gem_bind_op op = {0};
   memcpy(&op, step, AGX_MIN(args->stride, sizeof(op)));
   return op.flags & AGX_UAPI_BIND_UNBIND ? unbind(file, args->vm_id, &op)
                                          : bind(file, args->vm_id, &op);
}

static int do_steps(struct agx_virtual_file *file, const struct agx_uapi_vm_bind *args,
                    const uint8_t *steps)
{
   uint64_t limit = UINT64_MAX;
   int error = 0;
   agxv_lock(file->node);
   int injected = agxv_inject_bind(file->node, &limit);
   for (uint64_t i = 0; !error && i < args->num_binds && i < limit; i++)
      error = do_step(file, args, steps + i * args->stride);
   agxv_unlock(file->node);
   return error ? error : injected;
}

AGXV_HANDLER(vm_bind)
{
   const struct agx_uapi_vm_bind *args = argument;
   if (args->pad || args->stride == 0)
      return -EINVAL;
   uint64_t bytes = (uint64_t)args->stride * args->num_binds;
   if (bytes > MAX_STEPS_B)
      return -ENOMEM;
   uint8_t small[SMALL_STEPS_B];
   uint8_t *steps = bytes <= sizeof(small) ? small : malloc(bytes);
   if (!steps)
      return -ENOMEM;
   int error = bytes ? agxv_copy_in(steps, args->userptr, bytes) : 0;
   if (!error)
      error = do_steps(file, args, steps);
   if (steps != small)
      free(steps);
   return error;
}
