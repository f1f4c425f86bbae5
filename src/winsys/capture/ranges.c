/* SPDX-License-Identifier: MIT
 *
 * A treap: ordered by start, and a heap by random priorities, so that its depth is logarithmic
 * whatever the starts are.
 */
#include "winsys/capture/ranges.h"

#include <stddef.h>

struct agxw_range_node {
   struct agxw_range range;
   uint64_t priority;
   struct agxw_range_node *left, *right;
};

void agxw_ranges_init(struct agxw_ranges *ranges, const struct agx_host_alloc *alloc)
{
   *ranges = (struct agxw_ranges){.alloc = alloc, .random = 0x9e3779b97f4a7c15u};
}

static void free_all(struct agxw_ranges *ranges, struct agxw_range_node *node)
{
   while (node) {
      struct agxw_range_node *right = node->right;
      free_all(ranges, node->left);
      agx_host_free(ranges->alloc, node, sizeof(*node));
      node = right;
   }
}

void agxw_ranges_fini(struct agxw_ranges *ranges)
{
   free_all(ranges, ranges->root);
   ranges->root = NULL;
}

static struct agxw_range_node *make(struct agxw_ranges *ranges, const struct agxw_range *range)
{
   struct agxw_range_node *node = agx_host_zalloc(ranges->alloc, sizeof(*node));
   if (!node)
      return NULL;
   ranges->random ^= ranges->random << 13;
   ranges->random ^= ranges->random >> 7;
   ranges->random ^= ranges->random << 17;
   *node = (struct agxw_range_node){.range = *range, .priority = ranges->random};
   return node;
}

/* Parts a tree into what starts before address and the rest. */
static void part(struct agxw_range_node *node, uint64_t address,
                 struct agxw_range_node **out_before, struct agxw_range_node **out_rest)
{
   while (node) {
      if (node->range.start < address) {
         *out_before = node;
         out_before = &node->right;
         node = node->right;
      } else {
         *out_rest = node;
         out_rest = &node->left;
         node = node->left;
      }
   }
   *out_before = *out_rest = NULL;
}

/* All of a lies before all of b. */
static struct agxw_range_node *join(struct agxw_range_node *a, struct agxw_range_node *b)
{
   struct agxw_range_node *root = NULL, **place = &root;
   while (a && b) {
      struct agxw_range_node **next = a->priority > b->priority ? &a->right : &b->left;
      *place = a->priority > b->priority ? a : b;
      if (*place == a)
         a = a->right;
      else
         b = b->left;
      place = next;
   }
   *place = a ? a : b;
   return root;
}

static uint64_t end_of(const struct agxw_range *range)
{
   return range->start + range->bytes;
}

/* What remains of a range from address on. */
static struct agxw_range tail_of(const struct agxw_range *range, uint64_t address)
{
   struct agxw_range tail = *range;
   uint64_t skipped = address - range->start;
   tail.start = address;
   tail.bytes = range->bytes - skipped;
   if (!range->single_page)
      tail.offset += skipped;
   return tail;
}

/* Makes address a border between ranges; false when there is no memory. */
static bool cut(struct agxw_ranges *ranges, uint64_t address)
{
   struct agxw_range *range = (struct agxw_range *)agxw_ranges_find(ranges, address);
   if (!range || range->start >= address)
      return true;
   struct agxw_range tail = tail_of(range, address);
   struct agxw_range_node *node = make(ranges, &tail), *before, *rest;
   if (!node)
      return false;
   range->bytes = address - range->start;
   part(ranges->root, address, &before, &rest);
   ranges->root = join(join(before, node), rest);
   return true;
}

agx_status agxw_ranges_set(struct agxw_ranges *ranges, const struct agxw_range *range)
{
   struct agxw_range_node *node = range->object ? make(ranges, range) : NULL;
   if ((range->object && !node) || !cut(ranges, range->start) || !cut(ranges, end_of(range))) {
      if (node)
         agx_host_free(ranges->alloc, node, sizeof(*node));
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED,
                      "capture: no memory for the ranges of an address space");
   }
   struct agxw_range_node *before, *rest, *covered, *behind;
   part(ranges->root, range->start, &before, &rest);
   part(rest, end_of(range), &covered, &behind);
   free_all(ranges, covered);
   ranges->root = join(join(before, node), behind);
   return AGX_OK;
}

const struct agxw_range *agxw_ranges_find(const struct agxw_ranges *ranges, uint64_t address)
{
   const struct agxw_range_node *best = NULL;
   for (const struct agxw_range_node *node = ranges->root; node;) {
      bool reaches = end_of(&node->range) > address;
      best = reaches ? node : best;
      node = reaches ? node->left : node->right;
   }
   return best ? &best->range : NULL;
}
