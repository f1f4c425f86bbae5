/* SPDX-License-Identifier: MIT
 *
 * The instance, which applications create first: it checks and keeps the host allocator and the
 * log, and lists devices.
 */
#include "hal/device/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/host/host_pool.h"
#include "hal/sync/state.h"
#include "winsys/winsys.h"

static void instance_destroy(struct agx_object *object)
{
   struct agx_instance *instance = agx_container_of(object, struct agx_instance, object);
   struct agx_host_alloc alloc = instance->alloc;
   agx_host_free(&alloc, instance, sizeof(*instance));
}

static const struct agx_object_type instance_type = {"instance", instance_destroy};

static const agx_fork_hook fork_hooks[] = {agx_host_pool_leave, agx_deferred_work_forget, NULL};

agx_status agx_instance_create(const struct agx_instance_desc *desc,
                               struct agx_instance **out_instance)
{
   struct agx_instance_desc read;
   *out_instance = NULL;
   AGX_TRY(agx_desc_read("agx_instance_desc", desc, &read, sizeof(read)));
   struct agx_host_alloc alloc = *agx_host_alloc_default();
   if (read.alloc) {
      if (!read.alloc->alloc || !read.alloc->free)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "agx_alloc_callbacks: alloc or free is NULL");
      alloc = (struct agx_host_alloc){read.alloc->user, read.alloc->alloc, read.alloc->free};
   }
   struct agx_instance *instance = agx_host_zalloc(&alloc, sizeof(*instance));
   if (!instance)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "instance: out of host memory");
   agx_forks_watch(fork_hooks);
   agx_object_init(&instance->object, &instance_type);
   instance->alloc = alloc;
   instance->log = (struct agx_log){read.log, read.log_user};
   *out_instance = instance;
   return AGX_OK;
}

static void describe_node(const struct agxw_node_info *found, struct agx_node *node)
{
   *node = (struct agx_node){.status = found->status};
   _Static_assert(sizeof(node->path) == sizeof(found->path), "copied whole");
   _Static_assert(sizeof(node->driver) == sizeof(found->driver), "copied whole");
   _Static_assert(sizeof(node->reason) == sizeof(found->reason), "copied whole");
   memcpy(node->path, found->path, sizeof(node->path));
   memcpy(node->driver, found->driver, sizeof(node->driver));
   memcpy(node->reason, found->reason, sizeof(node->reason));
}

/* The virtual device, if the environment names it. */
static bool find_virtual(struct agx_node *node)
{
   const char *name = getenv("AGX_DEVICE");
   struct agx_kmd *kmd = NULL;
   if (!name || (strcmp(name, "virtual") != 0 && strncmp(name, "virtual:", 8) != 0))
      return false;
   *node = (struct agx_node){.driver = "virtual"};
   snprintf(node->path, sizeof(node->path), "%s", name);
   node->status = agxw_kmd_open(node->path, NULL, &kmd);
   if (node->status == AGX_OK)
      kmd->ops->close(kmd);
   else
      snprintf(node->reason, sizeof(node->reason), "%s", agx_error_peek());
   return true;
}

agx_status agx_instance_enumerate(struct agx_instance *instance, uint32_t *count,
                                  struct agx_node *nodes)
{
   struct agxw_node_info found[AGXW_MAX_NODES];
   struct agx_node first;
   uint32_t found_count = 0, capacity = nodes ? *count : 0;
   AGX_TRY(agxw_enumerate(found, &found_count));
   const uint32_t before = find_virtual(&first);
   if (before && capacity)
      nodes[0] = first;
   for (uint32_t i = before; i < AGX_MIN(before + found_count, capacity); i++)
      describe_node(&found[i - before], &nodes[i]);
   *count = before + found_count;
   return AGX_OK;
}
