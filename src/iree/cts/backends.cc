/* SPDX-License-Identifier: MIT
 *
 * IREE's HAL conformance suite over this driver: the device that it tests, which AGX_DEVICE chooses,
 * and the executables that CMake compiled for it, once for each way that kernels get their buffers.
 */
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "iree/hal/api.h"
#include "iree/hal/cts/util/registry.h"

extern "C" iree_status_t agx_iree_driver_module_register(iree_hal_driver_registry_t *registry);

namespace iree::hal::cts {

namespace {

iree_status_t MakeDevice(const iree_hal_device_create_params_t *params,
                         iree_hal_driver_t **out_driver, iree_hal_device_t **out_device)
{
   iree_hal_driver_registry_t *registry = iree_hal_driver_registry_default();
   iree_status_t status = agx_iree_driver_module_register(registry);
   if (iree_status_is_already_exists(status)) {
      iree_status_free(status);
      status = iree_ok_status();
   }
   IREE_RETURN_IF_ERROR(status);
   IREE_RETURN_IF_ERROR(iree_hal_driver_registry_try_create(registry, IREE_SV("agx"),
                                                            iree_allocator_system(), out_driver));
   status = iree_hal_driver_create_default_device(*out_driver, params, iree_allocator_system(),
                                                  out_device);
   if (!iree_status_is_ok(status)) {
      iree_hal_driver_release(*out_driver);
      *out_driver = nullptr;
   }
   return status;
}

/* A compiled file, which stays in memory as long as the process. */
iree_const_byte_span_t Data(const char *folder, iree_string_view_t name)
{
   static std::mutex mutex;
   static std::map<std::string, std::vector<uint8_t>> files;
   std::lock_guard<std::mutex> lock(mutex);
   const std::string path = std::string(folder) + "/" + std::string(name.data, name.size);
   std::vector<uint8_t> &bytes = files[path];
   if (bytes.empty()) {
      std::ifstream file(path, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(file), {});
   }
   return iree_make_const_byte_span(bytes.data(), bytes.size());
}

bool Register()
{
   BackendInfo info;
   info.name = "agx";
   info.factory = MakeDevice;
   CtsRegistry::RegisterBackend(
      {"agx",
       info,
       {"async_queue", "events", "file_io", "host_calls", "mapping", "indirect"}});
#ifdef AGX_CTS_DESCRIPTORS
   CtsRegistry::RegisterExecutableFormat(
      "agx", {"vulkan_spirv", "vulkan-spirv-fb",
              [](iree_string_view_t name) { return Data(AGX_CTS_DESCRIPTORS, name); }});
#endif
#ifdef AGX_CTS_ADDRESSES
   CtsRegistry::RegisterExecutableFormat(
      "agx", {"vulkan_spirv_bda", "vulkan-spirv-bda-v1",
              [](iree_string_view_t name) { return Data(AGX_CTS_ADDRESSES, name); }});
#endif
   return true;
}

[[maybe_unused]] const bool is_registered = Register();

} // namespace

} // namespace iree::hal::cts
