/* SPDX-License-Identifier: MIT
 *
 * The list of declared bounds. kmd_virtual.c enters what a client declares; worker.c looks
 * bounds up when a command executes.
 */
#include "winsys/virtual/gpu/bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* node->local is held for both. */
static void drop(struct agxv_declared_bounds *bounds)
{
   if (--bounds->refs == 0)
      free(bounds);
}

static void forget(struct agx_virtual_node *node, uint64_t stream_va)
{
   struct agxv_declared_bounds **link = &node->declared_bounds;
   while (*link && (*link)->stream_va != stream_va)
      link = &(*link)->next;
   struct agxv_declared_bounds *found = *link;
   if (!found)
      return;
   *link = found->next;
   drop(found);
}

int agx_virtual_declare_bounds(struct agx_virtual_node *node, uint64_t stream_va,
                               const struct agxs_range *ranges, uint32_t count)
{
   struct agxv_declared_bounds *bounds = NULL;
   if (count) {
      bounds = malloc(sizeof(*bounds) + count * sizeof(bounds->ranges[0]));
      if (!bounds)
         return -ENOMEM;
      *bounds = (struct agxv_declared_bounds){.stream_va = stream_va, .refs = 1, .count = count};
      memcpy(bounds->ranges, ranges, count * sizeof(bounds->ranges[0]));
   }
   pthread_mutex_lock(&node->local);
   forget(node, stream_va);
   if (bounds) {
      bounds->next = node->declared_bounds;
      node->declared_bounds = bounds;
   }
   pthread_mutex_unlock(&node->local);
   return 0;
}

struct agxv_declared_bounds *agxv_bounds_get(struct agx_virtual_node *node, uint64_t stream_va)
{
   pthread_mutex_lock(&node->local);
   struct agxv_declared_bounds *bounds = node->declared_bounds;
   while (bounds && bounds->stream_va != stream_va)
      bounds = bounds->next;
   if (bounds)
      bounds->refs++;
   pthread_mutex_unlock(&node->local);
   return bounds;
}

void agxv_bounds_put(struct agx_virtual_node *node, struct agxv_declared_bounds *bounds)
{
   if (!bounds)
      return;
   pthread_mutex_lock(&node->local);
   drop(bounds);
   pthread_mutex_unlock(&node->local);
}

void agxv_bounds_fini(struct agx_virtual_node *node)
{
   while (node->declared_bounds)
      forget(node, node->declared_bounds->stream_va);
}
