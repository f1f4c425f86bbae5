/* SPDX-License-Identifier: MIT
 *
 * The driver object: which devices there are, and opening them. module.c makes it for IREE's
 * registry.
 */
#include <stdio.h>
#include <string.h>

#include "agx_iree.h"

#define MAX_NODES 16

struct driver {
   iree_hal_resource_t resource;
   iree_allocator_t host_allocator;
   iree_string_view_t identifier;
   struct agx_iree_driver_options options;
   struct agx_instance *instance;
};

static const iree_hal_driver_vtable_t vtable;

static struct driver *cast(iree_hal_driver_t *base)
{
   return (struct driver *)base;
}

iree_status_t agx_iree_driver_create(iree_string_view_t identifier,
                                     const struct agx_iree_driver_options *options,
                                     iree_allocator_t host_allocator,
                                     iree_hal_driver_t **out_driver)
{
   *out_driver = NULL;
   struct driver *driver = NULL;
   const iree_host_size_t size = sizeof(*driver) + identifier.size;
   IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, size, (void **)&driver));
   iree_hal_resource_initialize(&vtable, &driver->resource);
   driver->host_allocator = host_allocator;
   driver->options = *options;
   iree_string_view_append_to_buffer(identifier, &driver->identifier, (char *)(driver + 1));
   const agx_status status = agx_instance_create(NULL, &driver->instance);
   if (status != AGX_OK) {
      iree_allocator_free(host_allocator, driver);
      return agx_iree_status(status);
   }
   *out_driver = (iree_hal_driver_t *)driver;
   return iree_ok_status();
}

static void driver_destroy(iree_hal_driver_t *base)
{
   struct driver *driver = cast(base);
   agx_release(driver->instance);
   iree_allocator_free(driver->host_allocator, driver);
}

/* The usable nodes and the virtual AGX, which is always there: first where AGX_DEVICE names it. */
struct found {
   uint32_t count;
   struct {
      char path[64], name[AGX_NAME_BYTES];
   } devices[MAX_NODES + 1];
};

static iree_status_t name_device(struct driver *driver, const char *path, char name[AGX_NAME_BYTES])
{
   struct agx_device_info info = {.size = sizeof(info)};
   IREE_RETURN_IF_ERROR(
      agx_iree_status(agx_instance_get_device_info(driver->instance, path, &info)));
   memcpy(name, info.name, AGX_NAME_BYTES);
   return iree_ok_status();
}

static iree_status_t find_devices(struct driver *driver, struct found *out_found)
{
   struct agx_node nodes[MAX_NODES];
   uint32_t count = MAX_NODES;
   bool has_virtual = false;
   memset(out_found, 0, sizeof(*out_found));
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_instance_enumerate(driver->instance, &count, nodes)));
   for (uint32_t i = 0; i < count && i < MAX_NODES; i++) {
      if (nodes[i].status != AGX_OK)
         continue;
      has_virtual |= strcmp(nodes[i].driver, "virtual") == 0;
      const uint32_t at = out_found->count++;
      const char *slash = strrchr(nodes[i].path, '/');
      snprintf(out_found->devices[at].path, sizeof(out_found->devices[at].path), "%.63s",
               slash ? slash + 1 : nodes[i].path);
      IREE_RETURN_IF_ERROR(name_device(driver, nodes[i].path, out_found->devices[at].name));
   }
   if (has_virtual)
      return iree_ok_status();
   const uint32_t at = out_found->count++;
   snprintf(out_found->devices[at].path, sizeof(out_found->devices[at].path), "virtual");
   return name_device(driver, "virtual", out_found->devices[at].name);
}

static iree_status_t query_available_devices(iree_hal_driver_t *base,
                                             iree_allocator_t host_allocator,
                                             iree_host_size_t *out_count,
                                             iree_hal_device_info_t **out_infos)
{
   struct found found;
   IREE_RETURN_IF_ERROR(find_devices(cast(base), &found));
   iree_hal_device_info_t *infos = NULL;
   const iree_host_size_t array_B = found.count * sizeof(*infos);
   IREE_RETURN_IF_ERROR(iree_allocator_malloc(
      host_allocator, array_B + found.count * sizeof(found.devices[0]), (void **)&infos));
   memcpy((char *)infos + array_B, found.devices, found.count * sizeof(found.devices[0]));
   for (uint32_t i = 0; i < found.count; i++) {
      const char *strings = (const char *)infos + array_B + i * sizeof(found.devices[0]);
      infos[i].device_id = 1 + i;
      infos[i].path = iree_make_cstring_view(strings);
      infos[i].name = iree_make_cstring_view(strings + sizeof(found.devices[0].path));
   }
   *out_count = found.count;
   *out_infos = infos;
   return iree_ok_status();
}

/* The name that agx_device_open takes for an identifier of query_available_devices. 0 is whatever
 * the library takes by itself. */
static iree_status_t name_of_id(struct driver *driver, iree_hal_device_id_t id, char *name,
                                size_t capacity)
{
   if (id == IREE_HAL_DEVICE_ID_DEFAULT) {
      snprintf(name, capacity, "auto");
      return iree_ok_status();
   }
   struct found found;
   IREE_RETURN_IF_ERROR(find_devices(driver, &found));
   if (id > found.count)
      return iree_make_status(IREE_STATUS_NOT_FOUND, "device %" PRIu64 ": there are %u",
                              (uint64_t)id, found.count);
   const char *path = found.devices[id - 1].path;
   snprintf(name, capacity, "%s%s", strncmp(path, "virtual", 7) ? "/dev/dri/" : "", path);
   return iree_ok_status();
}

static iree_status_t append_info(const struct agx_device_info *info, iree_string_builder_t *builder)
{
   return iree_string_builder_append_format(
      builder,
      "\n- name: %s\n- node: %s\n- chip: %s\n- cores: %u\n- max clock: %u kHz\n"
      "- lanes of a SIMD-group: %u\n- max threads of a workgroup: %u\n"
      "- threadgroup memory: %u B\n- page: %u B\n- bindings: %u\n"
      "- push constants: %u B\n- max workgroups: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
      info->name, info->node, info->chip, info->core_count, info->max_khz, info->simd_lanes,
      info->max_workgroup_threads, info->max_shared_B, info->page_B, info->max_bindings,
      info->max_push_B, info->max_workgroups[0], info->max_workgroups[1], info->max_workgroups[2]);
}

static iree_status_t dump_device_info(iree_hal_driver_t *base, iree_hal_device_id_t id,
                                      iree_string_builder_t *builder)
{
   char name[64];
   IREE_RETURN_IF_ERROR(name_of_id(cast(base), id, name, sizeof(name)));
   struct agx_device_info info = {.size = sizeof(info)};
   IREE_RETURN_IF_ERROR(
      agx_iree_status(agx_instance_get_device_info(cast(base)->instance, name, &info)));
   return append_info(&info, builder);
}

/* The so-manyth usable node's name. */
static iree_status_t name_of_ordinal(struct driver *driver, uint32_t ordinal, char *name,
                                     size_t capacity)
{
   struct found found;
   IREE_RETURN_IF_ERROR(find_devices(driver, &found));
   if (ordinal >= found.count)
      return iree_make_status(IREE_STATUS_NOT_FOUND, "agx://%u: there are %u devices", ordinal,
                              found.count);
   return name_of_id(driver, 1 + ordinal, name, capacity);
}

#define MAX_PARAMS 16

static iree_status_t open_device(struct driver *driver, iree_string_view_t path,
                                 iree_host_size_t param_count, const iree_string_pair_t *params,
                                 const iree_hal_device_create_params_t *create_params,
                                 iree_allocator_t host_allocator, iree_hal_device_t **out_device)
{
   struct agx_iree_pair pairs[MAX_PARAMS];
   if (param_count > MAX_PARAMS)
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "agx: %" PRIhsz " parameters, at most %d", param_count, MAX_PARAMS);
   for (iree_host_size_t i = 0; i < param_count; i++)
      pairs[i] = (struct agx_iree_pair){
         .key = {.data = params[i].key.data, .bytes = params[i].key.size},
         .value = {.data = params[i].value.data, .bytes = params[i].value.size},
      };
   struct agx_iree_path parsed;
   struct agx_iree_error error;
   const agx_status status =
      agx_iree_path_parse((struct agx_iree_text){.data = path.data, .bytes = path.size}, pairs,
                          param_count, &parsed, &error);
   if (status != AGX_OK)
      return agx_iree_status_of(status, error.text);
   if (parsed.ordinal != AGX_IREE_NO_ORDINAL) {
      IREE_RETURN_IF_ERROR(
         name_of_ordinal(driver, parsed.ordinal, parsed.name, sizeof(parsed.name)));
   }
   const struct agx_device_desc desc = {
      .size = sizeof(desc),
      .name = parsed.name,
      .capture_path = parsed.capture[0] ? parsed.capture : driver->options.capture_path,
      .queue_count = parsed.queue_count,
      /* The first as IREE has it. */
      .flags = AGX_DEVICE_FAILURE_WINS | (parsed.captures_ranges ? AGX_DEVICE_CAPTURE_RANGES : 0),
   };
   return agx_iree_device_create(driver->identifier, driver->instance, &desc, parsed.robustness,
                                 driver->options.profile_path, create_params, host_allocator,
                                 out_device);
}

static iree_status_t create_device_by_id(iree_hal_driver_t *base, iree_hal_device_id_t id,
                                         iree_host_size_t param_count,
                                         const iree_string_pair_t *params,
                                         const iree_hal_device_create_params_t *create_params,
                                         iree_allocator_t host_allocator,
                                         iree_hal_device_t **out_device)
{
   char name[64] = "";
   if (id != IREE_HAL_DEVICE_ID_DEFAULT) {
      IREE_RETURN_IF_ERROR(name_of_id(cast(base), id, name, sizeof(name)));
   }
   return open_device(cast(base), iree_make_cstring_view(name), param_count, params, create_params,
                      host_allocator, out_device);
}

static iree_status_t create_device_by_path(iree_hal_driver_t *base, iree_string_view_t driver_name,
                                           iree_string_view_t path, iree_host_size_t param_count,
                                           const iree_string_pair_t *params,
                                           const iree_hal_device_create_params_t *create_params,
                                           iree_allocator_t host_allocator,
                                           iree_hal_device_t **out_device)
{
   return open_device(cast(base), path, param_count, params, create_params, host_allocator,
                      out_device);
}

static const iree_hal_driver_vtable_t vtable = {
   .destroy = driver_destroy,
   .query_available_devices = query_available_devices,
   .dump_device_info = dump_device_info,
   .create_device_by_id = create_device_by_id,
   .create_device_by_path = create_device_by_path,
};
