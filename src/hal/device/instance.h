/* SPDX-License-Identifier: MIT */
#pragma once

#include "hal/core/log.h"
#include "hal/core/object.h"

struct agx_instance {
   struct agx_object object;
   struct agx_host_alloc alloc; /* the application's, or the C library's */
   struct agx_log log;
};
