/* SPDX-License-Identifier: MIT
 *
 * The host's ways to memory, with ranges that no buffer or image has.
 */
#include "hostile.h"

#include "base/util.h"

static void use_buffer(struct hostile *h)
{
   struct agx_buffer *buffer = h->buffers[hostile_below(h, HOSTILE_BUFFERS)];
   const uint64_t offset_B = hostile_offset(h), length_B = hostile_offset(h);
   void *memory = NULL;
   switch (hostile_below(h, 7)) {
   case 0:
      (void)!HOSTILE(h, agx_buffer_read(buffer, offset_B, length_B, h->scratch));
      break;
   case 1:
      (void)!HOSTILE(h, agx_buffer_write(buffer, offset_B, length_B, h->scratch));
      break;
   case 2:
      (void)!HOSTILE(
         h, agx_buffer_fill(buffer, offset_B, length_B, h->scratch, (uint32_t)hostile_offset(h)));
      break;
   case 3:
      (void)!HOSTILE(h, agx_buffer_flush(buffer, offset_B, length_B));
      break;
   case 4:
      (void)!HOSTILE(h, agx_buffer_invalidate(buffer, offset_B, length_B));
      break;
   case 5:
      (void)!HOSTILE(h, agx_buffer_unmap(buffer)); /* without a mapping */
      break;
   default:
      HOSTILE_MAKE(
         h, agx_buffer_map_range(buffer, offset_B, length_B, (uint32_t)hostile_number(h), &memory),
         &memory);
      if (memory)
         assert_ok(agx_buffer_unmap(buffer));
   }
}

static void use_range(struct hostile *h)
{
   struct agx_buffer *buffer = h->buffers[hostile_below(h, HOSTILE_BUFFERS)];
   struct agx_pages *pages[] = {h->pages, h->foreign_pages};
   const uint64_t offset_B = hostile_offset(h), size_B = hostile_offset(h);
   const uint32_t protection = (uint32_t)hostile_below(h, 5);
   switch (hostile_below(h, 3)) {
   case 0:
      (void)!HOSTILE(h, agx_vmem_bind(buffer, offset_B, hostile_pick(h, pages, 2),
                                      hostile_offset(h), size_B, protection));
      break;
   case 1:
      (void)!HOSTILE(h, agx_vmem_protect(buffer, offset_B, size_B, protection));
      break;
   default:
      (void)!HOSTILE(h, agx_vmem_advise(buffer, offset_B, size_B, (uint32_t)hostile_below(h, 4)));
   }
}

/* Rows as dense as they get, so that what fits the image fits the scratch, too. */
static void use_image(struct hostile *h)
{
   static const struct hostile_field fields[] = {
      FIELD(agx_image_region, level), FIELD(agx_image_region, x),
      FIELD(agx_image_region, y),     FIELD(agx_image_region, z),
      FIELD(agx_image_region, width), FIELD(agx_image_region, height),
      FIELD(agx_image_region, depth), FIELD(agx_image_region, sample),
   };
   struct agx_image_region region = {.width = 2, .height = 2, .depth = 1};
   const uint64_t row_B = hostile_below(h, 2) ? 0 : hostile_below(h, 8);
   SPOIL(h, &region, fields);
   if (hostile_below(h, 2))
      (void)!HOSTILE(h, agx_image_write(h->image, &region, h->scratch, row_B, 0));
   else
      (void)!HOSTILE(h, agx_image_read(h->image, &region, h->scratch, row_B, 0));
}

static void ask(struct hostile *h)
{
   struct agx_executable *executable = h->executables[hostile_below(h, 3)];
   const uint32_t entry = (uint32_t)hostile_offset(h), index = (uint32_t)hostile_offset(h);
   struct agx_executable_info info = {.size = (uint32_t)hostile_below(h, sizeof(info) + 1)};
   struct agx_binding_info binding = {.size = (uint32_t)hostile_below(h, sizeof(binding) + 1)};
   struct agx_parameter_info parameter = {.size = sizeof(parameter)};
   struct agx_specialization_info constant = {.size = sizeof(constant)};
   uint32_t found;
   const char *format;
   size_t used_B;
   (void)!HOSTILE(h, agx_executable_get_entry(executable, entry, &info));
   (void)!HOSTILE(h, agx_executable_get_entry_binding(executable, entry, index, &binding));
   (void)!HOSTILE(h, agx_executable_get_parameter(executable, entry, index, &parameter));
   (void)!HOSTILE(h, agx_executable_get_specialization(executable, entry, index, &constant));
   (void)!HOSTILE(h, agx_executable_find_entry(executable, hostile_text(h), &found));
   (void)!HOSTILE(h, agx_executable_infer_format(h->scratch, hostile_below(h, HOSTILE_SCRATCH_B),
                                                 &format, &used_B));
   (void)agx_format_from_gl((uint32_t)hostile_number(h));
   (void)agx_vertex_format_from_gl((uint32_t)hostile_number(h), (uint32_t)hostile_number(h),
                                   hostile_below(h, 2), hostile_below(h, 2));
   (void)agx_status_name((agx_status)hostile_number(h));
}

void hostile_memory(struct hostile *h)
{
   static void (*const ways[])(struct hostile *) = {use_buffer, use_range, use_image, ask};
   ways[hostile_below(h, AGX_COUNT(ways))](h);
}
