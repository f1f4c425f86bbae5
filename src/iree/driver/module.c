/* SPDX-License-Identifier: MIT
 *
 * What IREE's registry calls to make the driver, and the flags of IREE's tools that concern it.
 */
#include "iree/base/tooling/flags.h"

#include "agx_iree.h"

IREE_FLAG(string, agx_capture, "",
          "Records what passes between the AGX driver and the kernel to this file, for agxdump.");
IREE_FLAG(string, agx_profile, "",
          "Writes a trace of queues, dispatches and host work to this file, for Perfetto.");

static iree_status_t enumerate(void *self, iree_host_size_t *out_count,
                               const iree_hal_driver_info_t **out_infos)
{
   static const iree_hal_driver_info_t infos[] = {{
      .driver_name = iree_string_view_literal("agx"),
      .full_name = iree_string_view_literal("Apple AGX GPUs, and the virtual AGX (agxhal)"),
   }};
   *out_count = IREE_ARRAYSIZE(infos);
   *out_infos = infos;
   return iree_ok_status();
}

static const char *or_null(const char *text)
{
   return text && text[0] ? text : NULL;
}

static iree_status_t try_create(void *self, iree_string_view_t name,
                                iree_allocator_t host_allocator, iree_hal_driver_t **out_driver)
{
   if (!iree_string_view_equal(name, IREE_SV("agx")))
      return iree_make_status(IREE_STATUS_UNAVAILABLE, "driver %.*s: this one is agx",
                              (int)name.size, name.data);
   if (agx_abi_version() != AGX_ABI_VERSION)
      return iree_make_status(IREE_STATUS_INCOMPATIBLE,
                              "libagxhal: its ABI is %u, the driver was built for %u",
                              agx_abi_version(), AGX_ABI_VERSION);
   const struct agx_iree_driver_options options = {
      .capture_path = or_null(FLAG_agx_capture),
      .profile_path = or_null(FLAG_agx_profile),
   };
   return agx_iree_driver_create(name, &options, host_allocator, out_driver);
}

iree_status_t agx_iree_driver_module_register(iree_hal_driver_registry_t *registry)
{
   static const iree_hal_driver_factory_t factory = {
      .enumerate = enumerate,
      .try_create = try_create,
   };
   return iree_hal_driver_registry_register_factory(registry, &factory);
}
