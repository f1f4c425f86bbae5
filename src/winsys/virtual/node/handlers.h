/* SPDX-License-Identifier: MIT
 *
 * The handlers of requests about the device itself, and submission.
 */
#pragma once

#include "winsys/virtual/store/handler.h"

AGXV_HANDLER(version);
AGXV_HANDLER(get_cap);
AGXV_HANDLER(get_params);
AGXV_HANDLER(get_time);
AGXV_HANDLER(submit);
