/* SPDX-License-Identifier: MIT */
#include "winsys/virtual/gpu/bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* node->local is held for both. */
static void drop(struct agxv_told *told)
{
   if (--told->refs == 0)
      free(told);
}

static void forget(struct agx_virtual_node *node, uint64_t stream_va)
{
   struct agxv_told **link = &node->told;
   while (*link && (*link)->stream_va != stream_va)
      link = &(*link)->next;
   struct agxv_told *found = *link;
   if (!found)
      return;
   *link = found->next;
   drop(found);
}

int agx_virtual_tell_bounds(struct agx_virtual_node *node, uint64_t stream_va,
                            const struct agxs_range *ranges, uint32_t count)
{
   struct agxv_told *told = NULL;
   if (count) {
      told = malloc(sizeof(*told) + count * sizeof(told->ranges[0]));
      if (!told)
         return -ENOMEM;
      *told = (struct agxv_told){.stream_va = stream_va, .refs = 1, .count = count};
      memcpy(told->ranges, ranges, count * sizeof(told->ranges[0]));
   }
   pthread_mutex_lock(&node->local);
   forget(node, stream_va);
   if (told) {
      told->next = node->told;
      node->told = told;
   }
   pthread_mutex_unlock(&node->local);
   return 0;
}

struct agxv_told *agxv_bounds_get(struct agx_virtual_node *node, uint64_t stream_va)
{
   pthread_mutex_lock(&node->local);
   struct agxv_told *told = node->told;
   while (told && told->stream_va != stream_va)
      told = told->next;
   if (told)
      told->refs++;
   pthread_mutex_unlock(&node->local);
   return told;
}

void agxv_bounds_put(struct agx_virtual_node *node, struct agxv_told *told)
{
   if (!told)
      return;
   pthread_mutex_lock(&node->local);
   drop(told);
   pthread_mutex_unlock(&node->local);
}

void agxv_bounds_fini(struct agx_virtual_node *node)
{
   while (node->told)
      forget(node, node->told->stream_va);
}
