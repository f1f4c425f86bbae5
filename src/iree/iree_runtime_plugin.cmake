# SPDX-License-Identifier: MIT
# Read by IREE's CMake when IREE_CMAKE_PLUGIN_PATHS names this folder; docs/iree.md.
iree_register_external_hal_driver(
  NAME agx
  SOURCE_DIR "${CMAKE_CURRENT_LIST_DIR}"
  BINARY_DIR "${CMAKE_BINARY_DIR}/runtime/plugins/agx"
  DRIVER_TARGET agx_iree
  REGISTER_FN agx_iree_driver_module_register
)
