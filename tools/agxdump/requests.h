/* SPDX-License-Identifier: MIT
 *
 * The kernel's requests by name, and what of them is chance.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "winsys/capture/capture.h"

/* Such as "GEM_CREATE", or "request" for one that isn't known. */
const char *dump_request_name(uint32_t request);
/* Whether it only asks or waits. */
bool dump_request_asks(uint32_t request);
/* Equal for requests that ask for the same: addresses of the host, descriptors and times don't
 * count. */
uint64_t dump_request_hash(const struct agxw_capture_record *record);
