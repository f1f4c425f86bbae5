/* SPDX-License-Identifier: MIT
 *
 * Contents of what is bound in an address space, as `show --memory` prints them: sixteen bytes a
 * line, runs of equal lines as "*", as hexdump does.
 */
#include <inttypes.h>
#include <string.h>

#include "agxdump.h"
#include "base/util.h"
#include "print.h"

#define ROW_BYTES 16
/* Looked at of a mapping, which may be all of an address space. */
#define MOST_BYTES ((uint64_t)16 << 30)

struct contents {
   struct dump *dump;
   uint32_t vm_id;
   uint8_t last[ROW_BYTES];
   bool has_last, is_run; /* a "*" stands for the lines since */
};

static void put(struct contents *it, const char *line)
{
   if (it->dump->is_json)
      agx_json_text(&it->dump->json, NULL, line);
   else
      printf("      %s\n", line);
}

static void put_row(struct contents *it, uint64_t offset, const uint8_t *bytes)
{
   char line[128];
   struct agx_hw_text text = {line, sizeof(line), 0};
   if (it->has_last && memcmp(it->last, bytes, ROW_BYTES) == 0) {
      if (!it->is_run)
         put(it, "*");
      it->is_run = true;
      return;
   }
   memcpy(it->last, bytes, ROW_BYTES);
   it->has_last = true;
   it->is_run = false;
   agx_hw_text_add(&text, "%08" PRIx64 " ", offset);
   for (int i = 0; i < ROW_BYTES; i += 4)
      agx_hw_text_add(&text, " %02x%02x%02x%02x", bytes[i], bytes[i + 1], bytes[i + 2],
                      bytes[i + 3]);
   put(it, line);
}

/* To `bytes`, which end a line of their own, as the last offset. */
static void put_bytes(struct contents *it, const struct agxw_capture_mapping *mapping,
                      uint64_t bytes)
{
   uint8_t block[4096];
   char line[64];
   for (uint64_t at = 0; at < bytes; at += sizeof(block)) {
      size_t size = (size_t)AGX_MIN(bytes - at, sizeof(block));
      if (!agxw_capture_device_read(it->dump->device, it->vm_id, mapping->va + at, block, size))
         break;
      for (size_t row = 0; row + ROW_BYTES <= size; row += ROW_BYTES)
         put_row(it, mapping->offset + at + row, block + row);
   }
   snprintf(line, sizeof(line), "%08" PRIx64, mapping->offset + bytes);
   put(it, line);
}

static void put_mapping(struct dump *dump, const struct agxw_capture_mapping *mapping)
{
   struct contents it = {.dump = dump, .vm_id = mapping->vm_id};
   uint64_t whole = mapping->single_page ? AGX_UAPI_PAGE_BYTES : mapping->bytes;
   uint64_t most = dump->most_bytes ? dump->most_bytes : MOST_BYTES;
   uint64_t bytes = agx_align_up(AGX_MIN(whole, most), ROW_BYTES);
   char label[64];
   print_clean(mapping->object->label, label, sizeof(label));
   if (dump->is_json) {
      agx_json_open(&dump->json, NULL, '{');
      agx_json_number(&dump->json, "address", mapping->va);
      agx_json_number(&dump->json, "bytes", mapping->bytes);
      agx_json_number(&dump->json, "handle", mapping->object->handle);
      agx_json_text(&dump->json, "buffer", mapping->object->label);
      agx_json_number(&dump->json, "offset", mapping->offset);
      agx_json_open(&dump->json, "contents", '[');
   } else {
      printf("    0x%010" PRIx64 "  %" PRIu64 " bytes of buffer %u \"%s\" from byte %" PRIu64
             "%s\n",
             mapping->va, mapping->bytes, mapping->object->handle, label, mapping->offset,
             mapping->single_page ? ", one page again and again" : "");
   }
   put_bytes(&it, mapping, bytes);
   if (dump->is_json) {
      agx_json_close(&dump->json, ']');
      agx_json_number(&dump->json, "left_out", whole - bytes);
      agx_json_close(&dump->json, '}');
   } else if (bytes < whole) {
      printf("      %" PRIu64 " bytes more%s\n", whole - bytes,
             dump->most_bytes ? ": --bytes 0 shows all" : "");
   }
}

void dump_memory(struct dump *dump, uint32_t vm_id)
{
   struct agxw_capture_mapping mapping;
   if (dump->is_json)
      agx_json_open(&dump->json, "memory", '[');
   else
      printf("  memory of address space %u\n", vm_id);
   for (uint64_t va = 0; agxw_capture_device_mapping(dump->device, vm_id, va, &mapping);
        va = mapping.va + mapping.bytes)
      put_mapping(dump, &mapping);
   if (dump->is_json)
      agx_json_close(&dump->json, ']');
}
