/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the reader of captures: the input is a file, from which each record is taken, applied and
 * looked at. Nothing may crash, and only the codes that capture.h names may come back.
 */
#include <stdio.h>
#include <stdlib.h>

#include "winsys/asahi_uapi.h"
#include "winsys/capture/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_MAPPINGS 100

/* What is mapped in the address spaces that clients have, and its first bytes. */
static void look(struct agxw_capture_device *device)
{
   for (uint32_t vm_id = 0; vm_id < 3; vm_id++) {
      struct agxw_capture_mapping mapping;
      uint64_t va = 0;
      for (int i = 0; i < MAX_MAPPINGS && agxw_capture_device_mapping(device, vm_id, va, &mapping);
           i++) {
         uint8_t bytes[100];
         agxw_capture_device_read(device, vm_id, mapping.va, bytes, sizeof(bytes));
         va = mapping.va + mapping.bytes;
      }
      agxw_capture_device_queue(device, vm_id);
   }
}

static agx_status read_records(struct agxw_capture_reader *reader, struct agxw_capture_state *state)
{
   for (;;) {
      struct agxw_capture_record record;
      bool more;
      AGX_TRY(agxw_capture_next(reader, &record, &more));
      if (!more)
         return agxw_capture_state_damage(state);
      AGX_TRY(agxw_capture_state_apply(state, &record));
      struct agxw_capture_device *device = agxw_capture_state_device(state, &record);
      if (device && record.type == AGXW_CAPTURE_REQUEST && record.request == AGX_IOCTL_ASAHI_SUBMIT)
         look(device);
   }
}

static agx_status read_file(const uint8_t *data, size_t size)
{
   struct agxw_capture_reader *reader;
   struct agxw_capture_state *state;
   AGX_TRY(agxw_capture_open_memory(NULL, data, size, &reader));
   agx_status status = agxw_capture_state_create(NULL, reader, &state);
   if (status == AGX_OK)
      status = read_records(reader, state);
   agxw_capture_state_destroy(state);
   agxw_capture_close(reader);
   return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
   agx_status status = read_file(data, size);
   if (status != AGX_OK && status != AGX_INCOMPATIBLE && status != AGX_DATA_LOSS) {
      fprintf(stderr, "status %d: %s\n", (int)status, agx_error_peek());
      abort();
   }
   return 0;
}
