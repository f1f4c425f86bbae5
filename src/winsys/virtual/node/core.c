/* SPDX-License-Identifier: MIT
 *
 * Requests about the device: version, capabilities, parameters, time.
 */
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "winsys/virtual/node/node_impl.h"
#include "winsys/virtual/gpu/job.h"
#include "winsys/virtual/store/node.h"
#include "winsys/virtual/store/user.h"
#include "winsys/virtual/mm/vm.h"

#define REVISION_B1  0x11 /* what the recorded M1 reports; source: docs/hw/kernel.md 2 */
#define TIMESTAMP_HZ 1000000000ull

/* Writes as much of the text as fits and stores its length. */
static int give_text(uint64_t to, uint64_t *length, const char *text)
{
   size_t whole = strlen(text), room = AGX_MIN(*length, whole);
   *length = whole;
   return to && room ? agxv_copy_out(to, text, room) : 0;
}

AGXV_HANDLER(version)
{
   struct agx_uapi_version *args = argument;
   args->version_major = args->version_minor = args->version_patchlevel = 0;
   int error = give_text(args->name, &args->name_len, "asahi");
   if (!error)
      error = give_text(args->date, &args->date_len, "0");
   if (!error)
      error = give_text(args->desc, &args->desc_len, "Virtual Apple AGX");
   return error;
}

AGXV_HANDLER(get_cap)
{
   static const struct {
      uint64_t capability, value;
   } known[] = {
      {AGX_UAPI_CAP_PRIME, 3}, /* import and export */
      {AGX_UAPI_CAP_TIMESTAMP_MONOTONIC, 1},
      {AGX_UAPI_CAP_SYNCOBJ, 1},
      {AGX_UAPI_CAP_SYNCOBJ_TIMELINE, 1},
   };
   struct agx_uapi_get_cap *args = argument;
   args->value = 0;
   for (unsigned i = 0; i < AGX_COUNT(known); i++) {
      if (known[i].capability != args->capability)
         continue;
      args->value = known[i].value;
      return 0;
   }
   return -EOPNOTSUPP; /* a driver without display; source: docs/hw/kernel.md 7 */
}

AGXV_HANDLER(get_params)
{
   const struct agx_uapi_get_params *args = argument;
   const struct agx_chip *chip = &file->node->chip;
   if (args->param_group || args->pad)
      return -EINVAL;
   if (file->node->shared->is_lost)
      return -ENODEV;
   struct agx_uapi_params_global params = {
      .features = AGX_UAPI_FEATURE_SOFT_FAULTS,
      .gpu_generation = chip->generation,
      .gpu_variant = (uint32_t)chip->variant,
      .gpu_revision = REVISION_B1,
      .chip_id = chip->chip_id,
      .num_dies = chip->dies,
      .num_clusters_total = chip->clusters,
      .num_cores_per_cluster = chip->cores_per_cluster,
      .max_frequency_khz = chip->max_khz,
      .vm_start = AGXV_VM_START,
      .vm_end = AGXV_VM_END,
      .vm_kernel_min_size = AGXV_KERNEL_MIN,
      .max_commands_per_submission = AGXV_MAX_COMMANDS,
      .max_attachments = AGXV_MAX_ATTACHMENTS,
      .command_timestamp_frequency_hz = TIMESTAMP_HZ,
   };
   for (uint32_t i = 0; i < chip->clusters && i < AGX_UAPI_MAX_CLUSTERS; i++)
      params.core_masks[i] = agx_bits(chip->cores_per_cluster);
   return agxv_copy_out(args->pointer, &params, AGX_MIN(args->size, sizeof(params)));
}

AGXV_HANDLER(get_time)
{
   struct agx_uapi_get_time *args = argument;
   if (args->flags)
      return -EINVAL;
   args->gpu_timestamp = agxv_gpu_time();
   return 0;
}
