/* SPDX-License-Identifier: MIT
 *
 * A row for each request.
 */
#include "requests.h"

#include <stddef.h>
#include <string.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"

#define ARGUMENT_BYTES 64

/* Bytes of the argument that differ from run to run. */
struct chance {
   uint8_t at, bytes;
};

static const struct row {
   const char *name;
   uint32_t request;
   bool asks;
   struct chance chances[2];
} rows[] = {
   {"VERSION", AGX_IOCTL_VERSION, true, {{0}}},
   {"GET_CAP", AGX_IOCTL_GET_CAP, true, {{0}}},
   {"GEM_CLOSE", AGX_IOCTL_GEM_CLOSE, false, {{0}}},
   {"PRIME_HANDLE_TO_FD", AGX_IOCTL_PRIME_HANDLE_TO_FD, false, {{8, 4}}},
   {"PRIME_FD_TO_HANDLE", AGX_IOCTL_PRIME_FD_TO_HANDLE, false, {{8, 4}}},
   {"GET_PARAMS", AGX_IOCTL_ASAHI_GET_PARAMS, true, {{8, 8}}},
   {"GET_TIME", AGX_IOCTL_ASAHI_GET_TIME, true, {{0}}},
   {"VM_CREATE", AGX_IOCTL_ASAHI_VM_CREATE, false, {{16, 4}}},
   {"VM_DESTROY", AGX_IOCTL_ASAHI_VM_DESTROY, false, {{0}}},
   {"VM_BIND", AGX_IOCTL_ASAHI_VM_BIND, false, {{16, 8}}},
   {"GEM_CREATE", AGX_IOCTL_ASAHI_GEM_CREATE, false, {{16, 4}}},
   {"GEM_MMAP_OFFSET", AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET, true, {{8, 8}}},
   {"GEM_BIND_OBJECT", AGX_IOCTL_ASAHI_GEM_BIND_OBJECT, false, {{0}}},
   {"QUEUE_CREATE", AGX_IOCTL_ASAHI_QUEUE_CREATE, false, {{12, 4}}},
   {"QUEUE_DESTROY", AGX_IOCTL_ASAHI_QUEUE_DESTROY, false, {{0}}},
   {"SUBMIT", AGX_IOCTL_ASAHI_SUBMIT, false, {{0, 16}}},
   {"SYNCOBJ_CREATE", AGX_IOCTL_SYNCOBJ_CREATE, false, {{0, 4}}},
   {"SYNCOBJ_DESTROY", AGX_IOCTL_SYNCOBJ_DESTROY, false, {{0}}},
   {"SYNCOBJ_HANDLE_TO_FD", AGX_IOCTL_SYNCOBJ_HANDLE_TO_FD, false, {{8, 4}}},
   {"SYNCOBJ_FD_TO_HANDLE", AGX_IOCTL_SYNCOBJ_FD_TO_HANDLE, false, {{0, 4}, {8, 4}}},
   {"SYNCOBJ_WAIT", AGX_IOCTL_SYNCOBJ_WAIT, true, {{0}}},
   {"SYNCOBJ_TIMELINE_WAIT", AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT, true, {{0}}},
   {"SYNCOBJ_RESET", AGX_IOCTL_SYNCOBJ_RESET, false, {{0, 8}}},
   {"SYNCOBJ_SIGNAL", AGX_IOCTL_SYNCOBJ_SIGNAL, false, {{0, 8}}},
   {"SYNCOBJ_TIMELINE_SIGNAL", AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, false, {{0, 16}}},
   {"SYNCOBJ_QUERY", AGX_IOCTL_SYNCOBJ_QUERY, true, {{0}}},
   {"SYNCOBJ_TRANSFER", AGX_IOCTL_SYNCOBJ_TRANSFER, false, {{0}}},
   {"SYNCOBJ_EVENTFD", AGX_IOCTL_SYNCOBJ_EVENTFD, true, {{0}}},
};

static const struct row *find_row(uint32_t request)
{
   for (size_t i = 0; i < AGX_COUNT(rows); i++)
      if (AGX_UAPI_NR(rows[i].request) == AGX_UAPI_NR(request))
         return &rows[i];
   return NULL;
}

const char *dump_request_name(uint32_t request)
{
   const struct row *row = find_row(request);
   return row ? row->name : "request";
}

bool dump_request_asks(uint32_t request)
{
   const struct row *row = find_row(request);
   return row && row->asks;
}

static uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, size_t count)
{
   for (size_t i = 0; i < count; i++)
      hash = (hash ^ bytes[i]) * 0x100000001b3u;
   return hash;
}

uint64_t dump_request_hash(const struct agxw_capture_record *record)
{
   uint8_t argument[ARGUMENT_BYTES];
   const struct row *row = find_row(record->request);
   agxw_capture_argument(record, false, argument, sizeof(argument));
   for (size_t i = 0; row && i < AGX_COUNT(row->chances); i++)
      memset(argument + row->chances[i].at, 0, row->chances[i].bytes);
   const uint32_t number = AGX_UAPI_NR(record->request);
   uint64_t hash = hash_bytes(0xcbf29ce484222325u, (const uint8_t *)&number, sizeof(number));
   hash = hash_bytes(hash, (const uint8_t *)&record->result, sizeof(record->result));
   hash = hash_bytes(hash, argument, AGX_MIN(record->argument_bytes, sizeof(argument)));
   return hash_bytes(hash, record->blobs, record->blobs_bytes);
}
