/* SPDX-License-Identifier: MIT
 *
 * Images of memory, which `extract` and `minimize` take while a capture is replayed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cut.h"
#include "replay.h"

agx_status cut_image_add(struct cut_image *image, uint32_t object, uint64_t page,
                         const uint8_t *data)
{
   struct cut_image_page *grown =
      cut_grow(image->pages, image->count, &image->capacity, sizeof(*grown));
   uint8_t *copy = malloc(AGXW_CAPTURE_PAGE_BYTES);
   if (grown)
      image->pages = grown;
   if (!grown || !copy) {
      free(copy);
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for %zu pages of an image", image->count);
   }
   memcpy(copy, data, AGXW_CAPTURE_PAGE_BYTES);
   grown[image->count++] = (struct cut_image_page){object, page, copy};
   return AGX_OK;
}

static int compare_pages(const void *a, const void *b)
{
   const struct cut_image_page *x = a, *y = b;
   if (x->object != y->object)
      return x->object < y->object ? -1 : 1;
   return x->page < y->page ? -1 : x->page > y->page;
}

void cut_image_sort(struct cut_image *image)
{
   if (image->count > 0)
      qsort(image->pages, image->count, sizeof(*image->pages), compare_pages);
}

const uint8_t *cut_image_page(const struct cut_image *image, uint32_t object, uint64_t page)
{
   const struct cut_image_page key = {.object = object, .page = page};
   const struct cut_image_page *found =
      image->count ? bsearch(&key, image->pages, image->count, sizeof(key), compare_pages) : NULL;
   return found ? found->data : NULL;
}

void cut_image_free(struct cut_image *image)
{
   for (size_t i = 0; i < image->count; i++)
      free(image->pages[i].data);
   free(image->pages);
   *image = (struct cut_image){0};
}

uint32_t cut_object_of(const struct cut *cut, uint64_t submission,
                       const struct replay_device *device, uint32_t handle)
{
   const struct agx_table_entry *last =
      agx_table_find(&cut->last_objects, (uint64_t)device->process << 32 | device->file, handle);
   uint32_t object = last ? (uint32_t)last->value : 0;
   while (object && cut->objects[object - 1].made >= submission)
      object = cut->objects[object - 1].earlier;
   return object ? object - 1 : UINT32_MAX;
}

agx_status cut_take_image(const struct cut *cut, uint64_t submission, struct replay_device *device,
                          struct cut_image *image)
{
   cut_image_free(image);
   for (size_t i = 0; i < device->buffer_count; i++) {
      struct replay_buffer *buffer = &device->buffers[i];
      uint32_t object = buffer->handle && buffer->is_bound && buffer->memory
                           ? cut_object_of(cut, submission, device, buffer->recorded)
                           : UINT32_MAX;
      uint64_t pages = object != UINT32_MAX ? buffer->bytes / AGXW_CAPTURE_PAGE_BYTES : 0;
      uint64_t present = 0; /* replays with images are of the virtual AGX, whose memory has holes */
      for (uint64_t page = 0; page < pages; page++) {
         const uint8_t *data = buffer->memory + page * AGXW_CAPTURE_PAGE_BYTES;
         if (page % AGXW_CAPTURE_RUN_PAGES == 0)
            present = agxw_capture_present(data, AGX_MIN(pages - page, AGXW_CAPTURE_RUN_PAGES));
         if (present >> page % AGXW_CAPTURE_RUN_PAGES & 1 && agxw_capture_hash(data) != 0)
            AGX_TRY(cut_image_add(image, object, page, data));
      }
   }
   cut_image_sort(image);
   return AGX_OK;
}
