/* SPDX-License-Identifier: MIT
 *
 * The handlers of requests about buffers and address spaces.
 */
#pragma once

#include "winsys/virtual/store/handler.h"

AGXV_HANDLER(gem_create);
AGXV_HANDLER(gem_close);
AGXV_HANDLER(gem_mmap_offset);
AGXV_HANDLER(gem_bind_object);
AGXV_HANDLER(prime_handle_to_fd);
AGXV_HANDLER(prime_fd_to_handle);
AGXV_HANDLER(vm_create);
AGXV_HANDLER(vm_destroy);
AGXV_HANDLER(vm_bind);
