/* SPDX-License-Identifier: MIT
 *
 * Files, and the operations that read and write them.
 */
#pragma once

#include <stdatomic.h>

#include "agx/file.h"
#include "hal/host/file_io.h"
#include "hal/core/context.h"

#define AGX_FILE_LABEL_BYTES 48

struct agx_file {
   struct agx_object object;
   struct agx_device *device;
   struct agx_file_store store;
   uint32_t kind, access;
   void (*release)(void *user);
   void *user;
   char label[AGX_FILE_LABEL_BYTES];
   _Atomic uint64_t moved_B[2]; /* read, written */
};

struct agx_op_type;
extern const struct agx_op_type agx_file_read_op, agx_file_write_op;
