/* SPDX-License-Identifier: MIT
 *
 * The handlers of requests about syncobjs.
 */
#pragma once

#include "winsys/virtual/store/handler.h"

AGXV_HANDLER(syncobj_create);
AGXV_HANDLER(syncobj_destroy);
AGXV_HANDLER(syncobj_handle_to_fd);
AGXV_HANDLER(syncobj_fd_to_handle);
AGXV_HANDLER(syncobj_wait);
AGXV_HANDLER(syncobj_timeline_wait);
AGXV_HANDLER(syncobj_reset);
AGXV_HANDLER(syncobj_signal);
AGXV_HANDLER(syncobj_timeline_signal);
AGXV_HANDLER(syncobj_query);
AGXV_HANDLER(syncobj_transfer);
AGXV_HANDLER(syncobj_eventfd);
