/* SPDX-License-Identifier: MIT
 *
 * First fit from a moving hint over a bit per page. Released pages are punched out of
 * the memory file, so that the host gets them back and the next owner reads zeros.
 */
#include "winsys/virtual/mm/memory.h"

#include <fcntl.h>
#include <string.h>

#include "base/util.h"
#include "winsys/virtual/mm/backing.h"
#include "winsys/virtual/store/inject.h"

#define POISON_BYTE 0xa5

struct zombie {
   uint32_t next;
   uint64_t first, pages;
   uint64_t since; /* commands begun up to here may see it */
   uint32_t backing;
};

static uint64_t page_count(const struct agx_virtual_node *node)
{
   return node->shared->memory_bytes >> AGXV_PAGE_LOG2;
}

static uint64_t *page_bits(const struct agx_virtual_node *node)
{
   return agxv_at(node, node->shared->page_bits);
}

static void mark(uint64_t *bits, uint64_t first, uint64_t pages, bool used)
{
   for (uint64_t page = first; page < first + pages; page++) {
      if (used)
         bits[page / 64] |= 1ull << (page % 64);
      else
         bits[page / 64] &= ~(1ull << (page % 64));
   }
}

/* First run of free pages at or after start; UINT64_MAX when there is none. */
static uint64_t find_run(const uint64_t *bits, uint64_t start, uint64_t total, uint64_t pages)
{
   uint64_t length = 0;
   for (uint64_t page = start; page < total; page++) {
      if (page % 64 == 0 && bits[page / 64] == ~0ull) {
         length = 0;
         page += 63;
         continue;
      }
      length = bits[page / 64] >> (page % 64) & 1 ? 0 : length + 1;
      if (length == pages)
         return page + 1 - pages;
   }
   return UINT64_MAX;
}

uint64_t agxv_memory_take(struct agx_virtual_node *node, uint64_t pages, uint32_t object)
{
   struct agxv_shared *shared = node->shared;
   uint64_t total = page_count(node);
   if (pages > total - shared->pages_used ||
       !agxv_inject_allows(node, (shared->pages_used + pages) << AGXV_PAGE_LOG2))
      return UINT64_MAX;
   uint64_t first = find_run(page_bits(node), shared->page_hint, total, pages);
   if (first == UINT64_MAX)
      first = find_run(page_bits(node), 0, total, pages);
   if (first == UINT64_MAX)
      return UINT64_MAX;
   mark(page_bits(node), first, pages, true);
   uint32_t *owners = agxv_at(node, shared->page_owners);
   owners[first] = object;
   shared->page_hint = first + pages;
   shared->pages_used += pages;
   return first;
}

uint32_t agxv_memory_owner(struct agx_virtual_node *node, uint64_t page)
{
   const uint32_t *owners = agxv_at(node, node->shared->page_owners);
   return page < page_count(node) ? owners[page] : 0;
}

/* The slow part: a process that dies here leaves it to be done again. */
static void clean(struct agx_virtual_node *node, struct zombie *zombie)
{
   agxv_backing_drop(node, &zombie->backing);
   uint64_t offset = AGXV_MEMORY_OFFSET + (zombie->first << AGXV_PAGE_LOG2);
   uint64_t bytes = zombie->pages << AGXV_PAGE_LOG2;
   if (fallocate(node->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes))
      memset(agxv_memory_at(node, zombie->first), 0, bytes);
}

static void give_back(struct agx_virtual_node *node, uint64_t first, uint64_t pages)
{
   mark(page_bits(node), first, pages, false);
   node->shared->pages_used -= pages;
   if (first < node->shared->page_hint)
      node->shared->page_hint = first;
}

/* When the oldest executing command began; UINT64_MAX when none executes. Those of dead
 * processes don't count. */
static uint64_t oldest_run(struct agx_virtual_node *node)
{
   uint64_t oldest = UINT64_MAX;
   for (unsigned i = 0; i < AGXV_MAX_RUNNING; i++) {
      struct agxv_running *running = &node->shared->running[i];
      if (running->since && !agxv_process_lives(node, running->pid))
         running->since = 0;
      if (running->since)
         oldest = AGX_MIN(oldest, running->since);
   }
   return oldest;
}

void agxv_memory_bury(struct agx_virtual_node *node)
{
   if (!node->shared->zombies)
      return;
   uint64_t oldest = oldest_run(node);
   uint32_t *link = &node->shared->zombies;
   while (*link) {
      uint32_t ref = *link;
      struct zombie *zombie = AGXV_AT(node, zombie, ref);
      if (zombie->since >= oldest) {
         link = &zombie->next;
         continue;
      }
      clean(node, zombie);
      *link = zombie->next;
      AGXV_STEP();
      give_back(node, zombie->first, zombie->pages);
      agxv_free(node, ref, sizeof(*zombie));
   }
}

void agxv_memory_release(struct agx_virtual_node *node, uint64_t first, uint64_t pages,
                         uint32_t backing)
{
   uint32_t *owners = agxv_at(node, node->shared->page_owners);
   owners[first] = 0;
   AGXV_STEP();
   bool is_seen = oldest_run(node) != UINT64_MAX;
   if (is_seen && node->options.chaos_seed) /* so that tests see what still reads it */
      memset(agxv_memory_at(node, first), POISON_BYTE, pages << AGXV_PAGE_LOG2);
   uint32_t ref = agxv_alloc(node, sizeof(struct zombie));
   if (ref) {
      *AGXV_AT(node, zombie, ref) =
         (struct zombie){node->shared->zombies, first, pages, node->shared->run_count, backing};
      AGXV_STEP();
      node->shared->zombies = ref;
   } else if (!is_seen) {
      struct zombie zombie = {.first = first, .pages = pages, .backing = backing};
      clean(node, &zombie);
      give_back(node, first, pages);
   } /* else lost until the node goes, which beats handing it out while it is written */
   if (!is_seen)
      agxv_memory_bury(node);
}

int agxv_memory_run_begin(struct agx_virtual_node *node)
{
   (void)oldest_run(node); /* takes the places of dead processes */
   for (int i = 0; i < AGXV_MAX_RUNNING; i++) {
      struct agxv_running *running = &node->shared->running[i];
      if (running->since)
         continue;
      *running = (struct agxv_running){++node->shared->run_count, node->pid};
      return i;
   }
   return -1;
}

void agxv_memory_run_end(struct agx_virtual_node *node, int slot)
{
   node->shared->running[slot].since = 0;
   agxv_memory_bury(node);
}
