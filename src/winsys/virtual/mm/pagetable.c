/* SPDX-License-Identifier: MIT
 *
 * Maps and unmaps ranges of an address space in its tables, whose layout is in pagetable_impl.h,
 * for vm.c; and translates addresses for the simulator. A new mapping first makes all tables that
 * it needs, so that it can't stop half way.
 */
#include "winsys/virtual/mm/pagetable_impl.h"

#include "winsys/virtual/mm/memory.h"

#define LEAF_SHIFT  AGXV_PAGE_LOG2
#define MID_SHIFT   (AGXV_PAGE_LOG2 + AGXV_TABLE_LOG2)
#define TOP_SHIFT   (AGXV_PAGE_LOG2 + 2 * AGXV_TABLE_LOG2)
#define ENTRIES     (1u << AGXV_TABLE_LOG2)
#define TABLE_BYTES (ENTRIES * sizeof(uint32_t))

_Static_assert(TOP_SHIFT + AGXV_TOP_LOG2 == AGXV_VA_BITS, "the levels cover the address");

struct table {
   _Atomic uint32_t entries[ENTRIES];
};

static struct table *table_at(const struct agx_virtual_node *node, uint32_t entry)
{
   return AGXV_AT(node, table, entry >> 1);
}

static uint32_t load(const _Atomic uint32_t *entry)
{
   return atomic_load_explicit(entry, memory_order_acquire);
}

static void store(_Atomic uint32_t *entry, uint32_t value)
{
   atomic_store_explicit(entry, value, memory_order_release);
}

static _Atomic uint32_t *mid_entry(const struct agx_virtual_node *node, struct agxv_vm *vm,
                                   uint64_t va)
{
   uint32_t top = load(&vm->top[va >> TOP_SHIFT]);
   return top ? &table_at(node, top)->entries[va >> MID_SHIFT & (ENTRIES - 1)] : NULL;
}

void *agxv_vm_translate(struct agx_virtual_node *node, struct agxv_vm *vm, uint64_t va,
                        enum agxs_access access)
{
   if (va >> AGXV_VA_BITS)
      return NULL;
   const _Atomic uint32_t *mid = mid_entry(node, vm, va);
   uint32_t entry = mid ? load(mid) : 0;
   if (!entry)
      return NULL;
   if (!(entry & AGXV_PTE_VALID))
      entry = load(&table_at(node, entry)->entries[va >> LEAF_SHIFT & (ENTRIES - 1)]);
   uint32_t needed = AGXV_PTE_VALID | (access & AGXS_READ ? AGXV_PTE_READ : 0) |
                     (access & AGXS_WRITE ? AGXV_PTE_WRITE : 0);
   if ((entry & needed) != needed)
      return NULL;
   uint8_t *page = agxv_memory_at(node, entry >> AGXV_PTE_SHIFT);
   return page + (va & (AGX_UAPI_PAGE_BYTES - 1));
}

static uint32_t new_table(struct agx_virtual_node *node, uint32_t fill)
{
   uint32_t ref = agxv_alloc(node, TABLE_BYTES);
   if (ref && fill) {
      struct table *table = AGXV_AT(node, table, ref);
      for (unsigned i = 0; i < ENTRIES; i++)
         store(&table->entries[i], fill);
   }
   return ref << 1;
}

/* Whether the 4 MiB around va lie in the range whole. */
static bool covers(uint64_t va, uint64_t end)
{
   return (va & ((1ull << MID_SHIFT) - 1)) == 0 && end - va >= 1ull << MID_SHIFT;
}

static uint64_t next_mid(uint64_t va)
{
   return ((va >> MID_SHIFT) + 1) << MID_SHIFT;
}

/* Makes the table behind a second-level entry; a repeated page is written out. */
static bool open_leaf(struct agx_virtual_node *node, _Atomic uint32_t *mid)
{
   uint32_t entry = load(mid);
   if (entry && !(entry & AGXV_PTE_VALID))
      return true;
   uint32_t leaf = new_table(node, entry);
   if (!leaf)
      return false;
   store(mid, leaf);
   return true;
}

static bool make_tables(struct agx_virtual_node *node, struct agxv_vm *vm, uint64_t va,
                        uint64_t end, bool repeat)
{
   for (; va < end; va = next_mid(va)) {
      _Atomic uint32_t *top = &vm->top[va >> TOP_SHIFT];
      if (!load(top)) {
         uint32_t table = new_table(node, 0);
         if (!table)
            return false;
         store(top, table);
      }
      _Atomic uint32_t *mid = mid_entry(node, vm, va);
      bool whole = repeat && covers(va, end) && !(load(mid) && !(load(mid) & AGXV_PTE_VALID));
      if (!whole && !open_leaf(node, mid))
         return false;
   }
   return true;
}

/* True when a mapping was there before. */
static bool set(_Atomic uint32_t *entry, uint32_t value)
{
   uint32_t old = load(entry);
   if (old != value)
      store(entry, value);
   return old != 0 && old != value;
}

bool agxv_pagetable_map(struct agx_virtual_node *node, struct agxv_vm *vm, uint64_t va,
                        uint64_t range, uint32_t first, bool repeat)
{
   uint64_t end = va + range;
   if (!make_tables(node, vm, va, end, repeat))
      return false;
   uint32_t entry = first, step = repeat ? 0 : 1u << AGXV_PTE_SHIFT;
   bool changed = false;
   while (va < end) {
      _Atomic uint32_t *mid = mid_entry(node, vm, va);
      uint32_t below = load(mid);
      if (!below || below & AGXV_PTE_VALID) { /* repeat and whole */
         changed |= set(mid, entry);
         va = next_mid(va);
         continue;
      }
      struct table *leaf = table_at(node, below);
      uint64_t stop = next_mid(va) < end ? next_mid(va) : end;
      for (; va < stop; va += AGX_UAPI_PAGE_BYTES, entry += step)
         changed |= set(&leaf->entries[va >> LEAF_SHIFT & (ENTRIES - 1)], entry);
   }
   if (changed)
      atomic_fetch_add(&vm->generation, 1);
   return true;
}

static bool lies_in(uint32_t entry, uint64_t first, uint64_t count)
{
   return entry & AGXV_PTE_VALID && (entry >> AGXV_PTE_SHIFT) - first < count;
}

/* A page that repeats over 4 MiB, of which a part goes. */
static bool unmap_repeated(struct agx_virtual_node *node, _Atomic uint32_t *mid, uint64_t va,
                           uint64_t end)
{
   if (!covers(va, end) && open_leaf(node, mid))
      return false;
   /* Where there is no memory for a table, more goes than was asked for. */
   store(mid, 0);
   return true;
}

/* The same within one table of the last level. */
static bool unmap_leaf(struct table *leaf, uint64_t va, uint64_t end, uint64_t first,
                       uint64_t count)
{
   bool changed = false;
   for (; va < end; va += AGX_UAPI_PAGE_BYTES) {
      _Atomic uint32_t *entry = &leaf->entries[va >> LEAF_SHIFT & (ENTRIES - 1)];
      if (lies_in(load(entry), first, count))
         changed |= set(entry, 0);
   }
   return changed;
}

void agxv_pagetable_unmap(struct agx_virtual_node *node, struct agxv_vm *vm, uint64_t va,
                          uint64_t range, uint64_t first, uint64_t count)
{
   uint64_t end = va + range;
   bool changed = false;
   for (uint64_t stop; va < end; va = stop) {
      _Atomic uint32_t *mid = mid_entry(node, vm, va);
      stop = next_mid(va) < end ? next_mid(va) : end;
      if (!mid) {
         stop = ((va >> TOP_SHIFT) + 1) << TOP_SHIFT;
         continue;
      }
      uint32_t below = load(mid);
      if (below & AGXV_PTE_VALID && lies_in(below, first, count)) {
         changed = true;
         below = unmap_repeated(node, mid, va, end) ? 0 : load(mid);
      }
      if (below && !(below & AGXV_PTE_VALID))
         changed |= unmap_leaf(table_at(node, below), va, stop, first, count);
   }
   if (changed)
      atomic_fetch_add(&vm->generation, 1);
}

void agxv_pagetable_free_all(struct agx_virtual_node *node, struct agxv_vm *vm)
{
   for (unsigned i = 0; i < 1u << AGXV_TOP_LOG2; i++) {
      uint32_t top = load(&vm->top[i]);
      for (unsigned j = 0; top && j < ENTRIES; j++) {
         uint32_t mid = load(&table_at(node, top)->entries[j]);
         if (mid && !(mid & AGXV_PTE_VALID))
            agxv_free(node, mid >> 1, TABLE_BYTES);
      }
      agxv_free(node, top >> 1, TABLE_BYTES);
   }
}
