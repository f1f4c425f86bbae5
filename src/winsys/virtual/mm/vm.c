/* SPDX-License-Identifier: MIT
 *
 * Requests on address spaces. Steps of VM_BIND are done in order; the first that
 * fails ends the call, and those before it stay.
 */
#include "winsys/virtual/mm/vm.h"

#include <errno.h>

#include "base/util.h"
#include "winsys/virtual/store/inject.h"
#include "winsys/virtual/mm/gem.h"
#include "winsys/virtual/mm/pagetable_impl.h"
#include "winsys/virtual/store/user.h"

#define MAX_BIND_RECORDS 64u

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
   if (args->pad || !agx_is_aligned(args->kernel_start | args->kernel_end, AGX_UAPI_PAGE_BYTES))
      return -EINVAL;
   if (args->kernel_start < AGXV_VM_START || args->kernel_end > AGXV_VM_END ||
       args->kernel_end < args->kernel_start ||
       args->kernel_end - args->kernel_start < AGXV_KERNEL_MIN)
      return -EINVAL;
   agxv_lock(node);
   uint32_t ref = agxv_alloc(node, sizeof(struct agxv_vm));
   uint32_t id = 0;
   if (ref) {
      struct agxv_vm *vm = AGXV_AT(node, agxv_vm, ref);
      vm->refs = 1;
      vm->file = file->ref;
      vm->kernel_start = args->kernel_start;
      vm->kernel_end = args->kernel_end;
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
   if (args->pad)
      return -EINVAL;
   agxv_lock(file->node);
   uint32_t ref = agxv_table_remove(file->node, agxv_table_of(file, AGXV_VM), args->vm_id);
   if (ref) {
      agxv_vm_clear(file->node, ref);
      agxv_vm_put(file->node, ref);
   }
   agxv_unlock(file->node);
   return ref ? 0 : -ENOENT;
}

static int check_range(const struct agxv_vm *vm, const struct agx_uapi_gem_bind_op *op)
{
   if (!agx_is_aligned(op->addr | op->range | op->offset, AGX_UAPI_PAGE_BYTES))
      return -EINVAL;
   if (op->range == 0 || op->addr + op->range < op->addr)
      return -EINVAL;
   uint64_t end = op->addr + op->range;
   if (op->addr < AGXV_VM_START || end > AGXV_VM_END)
      return -EINVAL;
   return op->addr < vm->kernel_end && end > vm->kernel_start ? -EINVAL : 0;
}

static int bind(struct agx_virtual_file *file, uint32_t vm_ref,
                const struct agx_uapi_gem_bind_op *op)
{
   const uint32_t known = AGX_UAPI_BIND_READ | AGX_UAPI_BIND_WRITE | AGX_UAPI_BIND_SINGLE_PAGE;
   struct agx_virtual_node *node = file->node;
   struct agxv_vm *vm = AGXV_AT(node, agxv_vm, vm_ref);
   bool single = op->flags & AGX_UAPI_BIND_SINGLE_PAGE;
   if (op->flags & ~known || !(op->flags & (AGX_UAPI_BIND_READ | AGX_UAPI_BIND_WRITE)))
      return -EINVAL;
   uint32_t ref = agxv_object_find(file, AGXV_GEM, op->handle);
   if (!ref)
      return -ENOENT;
   int error = check_range(vm, op);
   if (error)
      return error;
   struct agxv_gem *gem = AGXV_AT(node, agxv_gem, ref);
   uint64_t needed = single ? AGX_UAPI_PAGE_BYTES : op->range;
   if (!agx_range_fits(op->offset, needed, gem->pages << AGXV_PAGE_LOG2))
      return -EINVAL;
   if (gem->vm && gem->vm != vm_ref)
      return -EINVAL;
   uint64_t page = gem->first_page + (op->offset >> AGXV_PAGE_LOG2);
   uint32_t entry = (uint32_t)(page << AGXV_PTE_SHIFT) | AGXV_PTE_VALID |
                    (op->flags & AGX_UAPI_BIND_READ ? AGXV_PTE_READ : 0) |
                    (op->flags & AGX_UAPI_BIND_WRITE ? AGXV_PTE_WRITE : 0);
   if (!remember(node, gem, vm_ref, op->addr, op->range))
      return -ENOMEM;
   return agxv_pagetable_map(node, vm, op->addr, op->range, entry, single) ? 0 : -ENOMEM;
}

static int unbind(struct agx_virtual_node *node, uint32_t vm_ref,
                  const struct agx_uapi_gem_bind_op *op)
{
   struct agxv_vm *vm = AGXV_AT(node, agxv_vm, vm_ref);
   if (op->flags != AGX_UAPI_BIND_UNBIND || op->handle || op->offset)
      return -EINVAL;
   int error = check_range(vm, op);
   if (!error)
      agxv_pagetable_unmap(node, vm, op->addr, op->range, 0, UINT64_MAX);
   return error;
}

AGXV_HANDLER(vm_bind)
{
   const struct agx_uapi_vm_bind *args = argument;
   if (args->pad || args->stride == 0)
      return -EINVAL;
   agxv_lock(file->node);
   uint32_t vm = agxv_object_find(file, AGXV_VM, args->vm_id);
   int error = vm ? 0 : -ENOENT;
   uint64_t steps = UINT64_MAX;
   int injected = agxv_inject_bind(file->node, &steps);
   for (uint64_t i = 0; !error && i < args->num_binds && i < steps; i++) {
      struct agx_uapi_gem_bind_op op = {0};
      uint64_t at = args->userptr + i * args->stride;
      error = agxv_copy_in(&op, at, AGX_MIN(args->stride, sizeof(op)));
      if (!error)
         error =
            op.flags & AGX_UAPI_BIND_UNBIND ? unbind(file->node, vm, &op) : bind(file, vm, &op);
   }
   if (!error)
      error = injected;
   agxv_unlock(file->node);
   return error;
}
