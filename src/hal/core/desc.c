/* SPDX-License-Identifier: MIT
 *
 * Reads descriptors and writes infos whose size is that of another version of the library. Each
 * function of the public API that takes such a struct calls this.
 */
#include "hal/core/desc.h"

#include <string.h>

#include "base/util.h"
#include "hal/core/context.h"

struct head {
   uint32_t size;
   const void *next;
};

/* A larger caller than we are is no reason to read far: this many bytes and no more. */
#define MAX_DESC_B 4096

#define SIZE_TEXT "%s: size is %u; set it to sizeof(struct %s)"

agx_status agx_desc_read_tail(const char *name, const void *desc, void *out, size_t capacity)
{
   memset(out, 0, capacity);
   if (!desc)
      return AGX_OK;
   AGX_TRY(agx_info_check(name, desc));
   uint32_t size = agx_load_u32(desc);
   if (size % sizeof(void *)) /* it would cut a pointer in two */
      return AGX_FAIL(AGX_INVALID_ARGUMENT, SIZE_TEXT, name, size, name);
   memcpy(out, desc, AGX_MIN(size, capacity));
   for (size_t i = capacity; i < size; i++)
      if (((const char *)desc)[i] != 0)
         return AGX_FAIL(AGX_UNIMPLEMENTED,
                         "%s: a field at offset %zu that this version does not know", name, i);
   return AGX_OK;
}

agx_status agx_desc_read(const char *name, const void *desc, void *out, size_t capacity)
{
   memset(out, 0, capacity);
   if (!desc)
      return AGX_OK;
   if (agx_load_u32(desc) < sizeof(struct head))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, SIZE_TEXT, name, agx_load_u32(desc), name);
   AGX_TRY(agx_desc_read_tail(name, desc, out, capacity));
   struct head head;
   memcpy(&head, out, sizeof(head));
   if (head.next)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "%s: next is not NULL; there are no extensions yet", name);
   return AGX_OK;
}

agx_status agx_bits_check(const char *object, const char *what, uint64_t given, uint64_t known)
{
   if (given & ~known)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %s 0x%llx: 0x%llx is unknown", object, what,
                      (unsigned long long)given, (unsigned long long)(given & ~known));
   return AGX_OK;
}

agx_status agx_info_check(const char *name, const void *out)
{
   uint32_t size = agx_load_u32(out);
   if (size < sizeof(size) || size > MAX_DESC_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, SIZE_TEXT, name, size, name);
   return AGX_OK;
}

agx_status agx_info_write(const char *name, void *out, const void *info, size_t info_B)
{
   AGX_TRY(agx_info_check(name, out));
   uint32_t size = agx_load_u32(out);
   memset(out, 0, size);
   memcpy(out, info, AGX_MIN(size, info_B));
   memcpy(out, &size, sizeof(size));
   return AGX_OK;
}

void agx_info_write_or_log(const struct agx_device *device, const char *name, void *out,
                           const void *info, size_t info_B)
{
   if (agx_info_write(name, out, info, info_B) != AGX_OK)
      agx_log(agx_context_of(device)->log, AGX_LOG_WARNING, "%s; nothing is told",
              agx_error_peek());
}
