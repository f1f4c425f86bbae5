/* SPDX-License-Identifier: MIT
 *
 * agx info: which device would be used, what it is, and why the others would not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <agx/object.h>

#include "agx.h"
#include "base/json.h"
#include "winsys/winsys.h"

struct report {
   struct agxw_node_info nodes[AGXW_MAX_NODES];
   uint32_t node_count;
   struct agxw_device_info device;
   agx_status status; /* of opening the device; then error */
   char error[512];
};

static agx_status query_device(const char *name, struct agxw_device_info *out_info)
{
   struct agx_kmd *kmd;
   struct agxw_device *device;
   AGX_TRY(agxw_kmd_open(name, NULL, &kmd));
   AGX_TRY(agxw_device_create(kmd, NULL, &device));
   *out_info = *agxw_device_info(device);
   agxw_device_destroy(device);
   return AGX_OK;
}

/* The limits of the hardware and of the driver, which no device changes. */
static const struct {
   const char *name;
   uint32_t value;
} limits[] = {
   {"simd_lanes", AGX_SIMD_LANES},
   {"max_workgroup_threads", AGX_MAX_WORKGROUP_THREADS},
   {"max_shared_bytes", AGX_MAX_SHARED_BYTES},
   {"uniform_halves", AGX_UNIFORM_HALVES},
   {"gpr_halves", AGX_GPR_HALVES},
   {"page_bytes", AGX_PAGE_BYTES},
   {"max_binding_bytes", AGX_MAX_BINDING_B},
   {"max_bindings", AGX_MAX_BINDINGS},
   {"max_push_bytes", AGX_MAX_PUSH_B},
};

void agx_tool_put_device(struct agx_json *json, const struct agxw_device_info *device)
{
   agx_json_text(json, "name", device->name);
   agx_json_text(json, "node", device->node);
   agx_json_bool(json, "virtual", device->is_virtual);
   agx_json_text(json, "chip", device->chip->name);
   agx_json_text(json, "soc", device->chip->soc);
   agx_json_number(json, "generation", device->chip->generation);
   agx_json_number(json, "clusters", device->chip->clusters);
   agx_json_number(json, "cores", device->core_count);
   agx_json_number(json, "max_khz", device->max_khz);
   agx_json_bool(json, "soft_faults", device->soft_faults);
   agx_json_number(json, "max_commands", device->max_commands);
   agx_json_number(json, "timestamp_hz", device->timestamp_hz);
   agx_json_number(json, "usc_base", device->usc_base);
}

static void print_device_json(struct agx_json *json, const struct report *report)
{
   agx_json_open(json, "device", '{');
   agx_tool_put_device(json, &report->device);
   for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
      agx_json_number(json, limits[i].name, limits[i].value);
   agx_json_close(json, '}');
}

static void print_json(const struct report *report)
{
   struct agx_json json = {.file = stdout};
   agx_json_open(&json, NULL, '{');
   if (report->status == AGX_OK)
      print_device_json(&json, report);
   else
      agx_json_text(&json, "error", report->error);
   agx_json_open(&json, "nodes", '[');
   for (uint32_t i = 0; i < report->node_count; i++) {
      const struct agxw_node_info *node = &report->nodes[i];
      agx_json_open(&json, NULL, '{');
      agx_json_text(&json, "path", node->path);
      agx_json_text(&json, "driver", node->driver);
      agx_json_bool(&json, "usable", node->status == AGX_OK);
      agx_json_text(&json, "status", agx_status_name(node->status));
      agx_json_text(&json, "reason", node->reason);
      agx_json_close(&json, '}');
   }
   agx_json_close(&json, ']');
   agx_json_close(&json, '}');
   putchar('\n');
}

static void print_device(const struct agxw_device_info *device)
{
   const struct agx_chip *chip = device->chip;
   printf("device       %s%s\n", device->name,
          device->is_virtual ? ", virtual: a simulation in software" : "");
   printf("node         %s\n", device->node);
   printf("chip         %s (%s), generation %u, %u cluster%s, %u cores, %u MHz\n", chip->name,
          chip->soc, chip->generation, chip->clusters, chip->clusters == 1 ? "" : "s",
          device->core_count, device->max_khz / 1000);
   printf("kernel       %u commands per submission, soft faults %s, timestamps at %" PRIu64 " Hz\n",
          device->max_commands, device->soft_faults ? "on" : "off", device->timestamp_hz);
   printf("code window  0x%" PRIx64 ", 4 GiB\n", device->usc_base);
   printf("limits       %u lanes, %u threads and %u KiB of shared memory per workgroup\n",
          AGX_SIMD_LANES, AGX_MAX_WORKGROUP_THREADS, AGX_MAX_SHARED_BYTES / 1024);
   printf("             %u registers, %u uniforms (32 bits each), pages of %u KiB\n",
          AGX_GPR_HALVES / 2, AGX_UNIFORM_HALVES / 2, AGX_PAGE_BYTES / 1024);
   printf("             %u bytes of a buffer in a binding, %u bindings and %u bytes of push "
          "constants\n",
          AGX_MAX_BINDING_B, AGX_MAX_BINDINGS, AGX_MAX_PUSH_B);
}

static void print_text(const struct report *report)
{
   if (report->status == AGX_OK)
      print_device(&report->device);
   printf("nodes        %s\n", report->node_count ? "" : "none in /dev/dri");
   for (uint32_t i = 0; i < report->node_count; i++) {
      const struct agxw_node_info *node = &report->nodes[i];
      printf("  %s: %s\n", node->path, node->status == AGX_OK ? "usable" : node->reason);
   }
}

int agx_cmd_info(int argc, char **argv)
{
   static struct report report;
   const char *name = "auto";
   bool is_json = false;
   for (int i = 1; i < argc; i++) {
      if (strcmp(argv[i], "--json") == 0)
         is_json = true;
      else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
         name = argv[++i];
      else if (strcmp(argv[i], "--device") == 0)
         return agx_tool_usage(argv[0], "--device: its value is missing");
      else
         return agx_tool_usage(argv[0], "unexpected \"%s\"", argv[i]);
   }
   if (agxw_enumerate(report.nodes, &report.node_count) != AGX_OK)
      return agx_tool_failed(argv[0]);
   report.status = query_device(name, &report.device);
   agx_error_text(report.error, sizeof(report.error));
   if (is_json)
      print_json(&report);
   else
      print_text(&report);
   if (report.status == AGX_OK)
      return AGX_EXIT_OK;
   fflush(stdout);
   fprintf(stderr, "agx %s: %s\n", argv[0], report.error);
   return AGX_EXIT_FAILURE;
}
