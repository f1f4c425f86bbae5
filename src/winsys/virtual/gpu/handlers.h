/* SPDX-License-Identifier: MIT
 *
 * The handlers of requests about queues.
 */
#pragma once

#include "winsys/virtual/store/handler.h"

AGXV_HANDLER(queue_create);
AGXV_HANDLER(queue_destroy);
