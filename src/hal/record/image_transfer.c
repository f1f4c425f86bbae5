/* SPDX-License-Identifier: MIT
 *
 * Clears and copies of images: dispatches of two kernels of the driver's own (builtin/image.comp),
 * which find texels in memory by themselves. So any layout, format and number of samples will do,
 * and buffers of texels are images of one slice behind the other. Applications call the functions
 * at the end, and queue operations and replays agx_record_image_transfer().
 */
#include "hal/record/transfer.h"

#include "agx/texel.h"
#include "base/util.h"
#include "hal/executable/builtin.h"
#include "hal/memory/buffer.h"
#include "hal/memory/descriptor.h"
#include "hal/record/command_defer.h"
#include "hal/record/record.h"

#define WORKGROUP_SIDE 8u

/* As in the kernels. */
struct grid {
   uint64_t slice_B;
   uint32_t x, y, row, tile, element_B, padding;
};

struct copy_push {
   uint64_t target_va, source_va; /* bindings */
   struct grid target, source;
   uint32_t width, height, bytes;
};

struct clear_push {
   uint64_t target_va;
   struct grid target;
   uint32_t width, height, bytes;
   uint8_t pattern[16];
};

/* Elements: texels, or blocks. */
struct box {
   uint32_t x, y, z, width, height, depth;
};

/* What a transfer reads or writes. */
struct side {
   struct agx_binding binding;
   struct grid grid;
};

/* ---- images ---------------------------------------------------------------- */

static agx_status check_device(const struct agx_command_buffer *commands, const char *what,
                               const struct agx_image *image)
{
   if (!image)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: the image is NULL", what);
   if (image->device != commands->device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %s is an image %s", what, image->label,
                      agx_describe_owner(image->device, commands->device).text);
   return AGX_OK;
}

static agx_status check_writable(const char *what, const struct agx_image *image)
{
   if (image->flags & AGX_IMAGE_GPU_READ_ONLY)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %s is read-only", what, image->label);
   return AGX_OK;
}

/* That a span of texels is one of whole blocks, of which the last one may stick out. */
static bool is_whole(uint32_t first, uint32_t count, uint32_t all, uint32_t block)
{
   return first % block == 0 && (count % block == 0 || first + count == all);
}

/* Checks a region and finds its elements. */
static agx_status find_box(const struct agx_image *image, const char *what,
                           const struct agx_image_region *region, struct box *out)
{
   const uint32_t w = image->layout.block_w, h = image->layout.block_h;
   AGX_TRY(agx_image_region_check(image, what, region));
   if (!is_whole(region->x, region->width, agx_image_side(image->width, region->level), w) ||
       !is_whole(region->y, region->height, agx_image_side(image->height, region->level), h))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "%s: %s of %u x %u texels at %u, %u cuts blocks of %u x %u", image->label,
                      what, region->width, region->height, region->x, region->y, w, h);
   *out = (struct box){region->x / w,
                       region->y / h,
                       region->z,
                       (uint32_t)agx_div_up(region->width, w),
                       (uint32_t)agx_div_up(region->height, h),
                       region->depth};
   return AGX_OK;
}

/* The level of an image, from the sample and the layer of the box on. */
static struct side image_side(struct agx_image *image, uint32_t level_index, uint32_t sample,
                              const struct box *box)
{
   const struct agx_layout *layout = &image->layout;
   const struct agx_layout_level *level = &layout->level[level_index];
   const bool is_linear = layout->tiling == AGX_LAYOUT_LINEAR;
   const unsigned w = is_linear ? 0 : level->tile_w_log2, h = is_linear ? 0 : level->tile_h_log2;
   return (struct side){
      .binding = {.image = image,
                  .ref.offset_B = agx_layout_offset(layout, level_index, box->z, 0, 0, sample)},
      .grid = {.slice_B = layout->layer_stride_B,
               .x = box->x,
               .y = box->y,
               .row = is_linear ? layout->stride_B / layout->element_B
                                : (level->stride_el + (1u << w) - 1) >> w,
               .tile = w | h << 8,
               .element_B = layout->element_B},
   };
}

/* ---- texels in buffers -------------------------------------------------------- */

/* Of a box of an image's elements. */
static agx_status find_texels(const char *what, const struct agx_image *image,
                              const struct agx_image_region *region, const struct box *box,
                              const struct agx_texels *texels, struct side *out)
{
   const uint32_t element_B = image->layout.element_B / image->layout.samples;
   const uint32_t row = texels->row_texels ? texels->row_texels : region->width;
   const uint32_t rows = texels->slice_rows ? texels->slice_rows : region->height;
   struct agx_buffer_ref ref = texels->ref;
   if (row < region->width || rows < region->height)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "%s: %s: row_texels %u, slice_rows %u for a region of %u x %u (0: no gap)",
                      what, ref.buffer->label, row, rows, region->width, region->height);
   const uint64_t row_el = agx_div_up(row, image->layout.block_w);
   const uint64_t slice_el = row_el * agx_div_up(rows, image->layout.block_h);
   const uint64_t last_row_el = row_el * (box->height - 1) + box->width;
   const uint64_t room_el = ref.length_B / element_B;
   /* Of a slice, too, the kernel counts elements in 32 bits. */
   if (last_row_el > UINT32_MAX || last_row_el > room_el ||
       (box->depth > 1 && slice_el > (room_el - last_row_el) / (box->depth - 1)))
      return AGX_FAIL(AGX_OUT_OF_RANGE,
                      "%s: %u x %u x %u texels of %u bytes, rows of %u and slices of %u rows, in "
                      "%llu bytes of %s",
                      what, region->width, region->height, region->depth, element_B, row, rows,
                      (unsigned long long)ref.length_B, ref.buffer->label);
   if ((ref.buffer->address + ref.offset_B) % AGX_MIN(element_B, 4u))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: texels of %u bytes at %llu of %s, no multiple",
                      what, element_B, (unsigned long long)ref.offset_B, ref.buffer->label);
   ref.length_B = (slice_el * (box->depth - 1) + last_row_el) * element_B;
   *out = (struct side){
      .binding = {.ref = ref},
      .grid = {.slice_B = slice_el * element_B, .row = (uint32_t)row_el, .element_B = element_B},
   };
   return AGX_OK;
}

/* ---- dispatches ---------------------------------------------------------------- */

/* Of a box. sides: target, then source. */
static agx_status record(struct agx_command_buffer *commands, enum agx_builtin which,
                         const struct side *sides, uint32_t side_count, const struct box *box,
                         const void *push, uint32_t push_B)
{
   struct agx_binding bindings[2];
   struct agx_dispatch dispatch = {
      .size = sizeof(dispatch),
      .workgroups = {(uint32_t)agx_div_up(box->width, WORKGROUP_SIDE),
                     (uint32_t)agx_div_up(box->height, WORKGROUP_SIDE), box->depth},
      .binding_count = side_count,
      .bindings = bindings,
      .push = push,
      .push_B = push_B,
   };
   for (uint32_t i = 0; i < side_count; i++) {
      bindings[i] = sides[i].binding;
      bindings[i].binding = i;
   }
   AGX_TRY(agx_device_builtin(commands->device, which, &dispatch.executable));
   return agx_cmd_dispatch(commands, &dispatch);
}

/* bytes: of each element. */
static agx_status record_copy(struct agx_command_buffer *commands, const struct side *target,
                              const struct side *source, const struct box *box, uint32_t bytes)
{
   const struct copy_push push = {.target = target->grid,
                                  .source = source->grid,
                                  .width = box->width,
                                  .height = box->height,
                                  .bytes = bytes};
   const struct side sides[] = {*target, *source};
   return record(commands, AGX_BUILTIN_COPY_IMAGE, sides, AGX_COUNT(sides), box, &push,
                 sizeof(push));
}

/* ---- clears -------------------------------------------------------------------- */

static agx_status clear_region(struct agx_command_buffer *commands,
                               const struct agx_image_transfer *transfer,
                               const struct agx_image_region *region)
{
   struct agx_image *image = transfer->target;
   const uint32_t texel_B = image->format->texel_B;
   struct clear_push push = {.bytes = image->layout.element_B};
   struct box box;
   AGX_TRY(find_box(image, "clear", region, &box));
   const struct side side = image_side(image, region->level, 0, &box);
   agx_texel_pack(image->format, transfer->color.uint32, push.pattern);
   for (uint32_t at = texel_B; at < sizeof(push.pattern); at += texel_B)
      memcpy(push.pattern + at, push.pattern, texel_B);
   push.target = side.grid;
   push.width = box.width;
   push.height = box.height;
   return record(commands, AGX_BUILTIN_CLEAR_IMAGE, &side, 1, &box, &push, sizeof(push));
}

static agx_status clear(struct agx_command_buffer *commands,
                        const struct agx_image_transfer *transfer)
{
   const struct agx_image *image = transfer->target;
   AGX_TRY(check_device(commands, "clear", image));
   AGX_TRY(check_writable("clear", image));
   if (image->layout.block_w * image->layout.block_h > 1)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "clear: %s has compressed blocks; copy some there instead", image->label);
   if (!transfer->is_whole)
      return clear_region(commands, transfer, &transfer->target_region);
   for (uint32_t level = 0; level < image->levels; level++) {
      const bool is_3d = image->type == AGX_IMAGE_3D;
      const struct agx_image_region region = {.level = level,
                                              .width = agx_image_side(image->width, level),
                                              .height = agx_image_side(image->height, level),
                                              .depth = is_3d ? agx_image_side(image->depth, level)
                                                             : image->depth};
      AGX_TRY(clear_region(commands, transfer, &region));
   }
   return AGX_OK;
}

/* ---- copies -------------------------------------------------------------------- */

/* A box of the same elements in the target, from where its region begins. */
static agx_status find_target_box(const struct agx_image_transfer *transfer,
                                  const struct box *source, struct box *out)
{
   const struct agx_image *image = transfer->target;
   struct agx_image_region region = transfer->target_region;
   const uint32_t width = source->width * image->layout.block_w;
   const uint32_t height = source->height * image->layout.block_h;
   region.depth = source->depth;
   region.width = width;
   region.height = height;
   if (region.level < image->levels) { /* the last block may stick out */
      const uint32_t all_w = agx_image_side(image->width, region.level);
      const uint32_t all_h = agx_image_side(image->height, region.level);
      if (region.x < all_w && width - (all_w - region.x) < image->layout.block_w)
         region.width = all_w - region.x;
      if (region.y < all_h && height - (all_h - region.y) < image->layout.block_h)
         region.height = all_h - region.y;
   }
   return find_box(image, "image copy", &region, out);
}

static bool overlap(uint32_t a, uint32_t b, uint32_t count)
{
   return a < b + count && b < a + count;
}

static agx_status check_pair(const struct agx_image_transfer *transfer)
{
   const struct agx_image *source = transfer->source, *target = transfer->target;
   if (source->samples != target->samples || source->layout.element_B != target->layout.element_B)
      return AGX_FAIL(
         AGX_INVALID_ARGUMENT,
         "image copy: %s has %u samples of %u bytes, %s %u of %u; they must be the same",
         source->label, source->samples, source->layout.element_B / source->samples, target->label,
         target->samples, target->layout.element_B / target->samples);
   return AGX_OK;
}

static agx_status copy_image(struct agx_command_buffer *commands,
                             const struct agx_image_transfer *transfer)
{
   struct box from, to;
   AGX_TRY(check_device(commands, "image copy", transfer->source));
   AGX_TRY(check_device(commands, "image copy", transfer->target));
   AGX_TRY(check_writable("image copy", transfer->target));
   AGX_TRY(check_pair(transfer));
   AGX_TRY(find_box(transfer->source, "image copy", &transfer->source_region, &from));
   AGX_TRY(find_target_box(transfer, &from, &to));
   if (transfer->source == transfer->target &&
       transfer->source_region.level == transfer->target_region.level &&
       overlap(from.x, to.x, from.width) && overlap(from.y, to.y, from.height) &&
       overlap(from.z, to.z, from.depth))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "image copy: %u x %u x %u texels of %s at %u, %u, %u overlap the target at "
                      "%u, %u, %u",
                      from.width, from.height, from.depth, transfer->source->label, from.x, from.y,
                      from.z, to.x, to.y, to.z);
   const struct side source = image_side(transfer->source, transfer->source_region.level, 0, &from);
   const struct side target = image_side(transfer->target, transfer->target_region.level, 0, &to);
   return record_copy(commands, &target, &source, &from, transfer->source->layout.element_B);
}

static agx_status copy_to_image(struct agx_command_buffer *commands,
                                const struct agx_image_transfer *transfer)
{
   const struct agx_image_region *region = &transfer->target_region;
   struct agx_texels texels = transfer->texels;
   struct side source;
   struct box box;
   AGX_TRY(check_device(commands, "copy to image", transfer->target));
   AGX_TRY(check_writable("copy to image", transfer->target));
   AGX_TRY(find_box(transfer->target, "copy", region, &box));
   AGX_TRY(agx_transfer_check_source(commands->device, "copy to image", &texels.ref));
   AGX_TRY(find_texels("copy to image", transfer->target, region, &box, &texels, &source));
   const struct side target = image_side(transfer->target, region->level, region->sample, &box);
   return record_copy(commands, &target, &source, &box, source.grid.element_B);
}

static agx_status copy_from_image(struct agx_command_buffer *commands,
                                  const struct agx_image_transfer *transfer)
{
   const struct agx_image_region *region = &transfer->source_region;
   struct agx_texels texels = transfer->texels;
   struct side target;
   struct box box;
   AGX_TRY(check_device(commands, "copy from image", transfer->source));
   AGX_TRY(find_box(transfer->source, "copy", region, &box));
   AGX_TRY(agx_transfer_check_target(commands->device, "copy from image", &texels.ref));
   AGX_TRY(find_texels("copy from image", transfer->source, region, &box, &texels, &target));
   const struct side source = image_side(transfer->source, region->level, region->sample, &box);
   return record_copy(commands, &target, &source, &box, target.grid.element_B);
}

/* ---- commands ------------------------------------------------------------------ */

static agx_status record_now(struct agx_command_buffer *commands,
                             const struct agx_image_transfer *transfer)
{
   const uint32_t first = commands->dispatch_count;
   agx_status status = agx_record_check(commands, "image transfer");
   if (status != AGX_OK)
      return status;
   switch (transfer->kind) {
   case AGX_IMAGE_TRANSFER_CLEAR:
      status = clear(commands, transfer);
      break;
   case AGX_IMAGE_TRANSFER_COPY:
      status = copy_image(commands, transfer);
      break;
   case AGX_IMAGE_TRANSFER_TO:
      status = copy_to_image(commands, transfer);
      break;
   case AGX_IMAGE_TRANSFER_FROM:
      status = copy_from_image(commands, transfer);
      break;
   }
   return status == AGX_OK ? agx_transfer_note_command(commands, first) : status;
}

agx_status agx_record_image_transfer(struct agx_command_buffer *commands,
                                     const struct agx_image_transfer *transfer)
{
   return agx_record_fail(commands, commands->table_slots
                                       ? agx_defer_image_transfer(commands, transfer)
                                       : record_now(commands, transfer));
}

/* The application gave NULL where it must not. */
static agx_status refuse_null(struct agx_command_buffer *commands, const char *what)
{
   return agx_record_fail(
      commands, AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: a region, texels or color is NULL", what));
}

agx_status agx_cmd_clear_image(struct agx_command_buffer *commands, struct agx_image *image,
                               const struct agx_image_region *region, const union agx_color *color)
{
   struct agx_image_transfer transfer = {
      .kind = AGX_IMAGE_TRANSFER_CLEAR, .target = image, .is_whole = !region};
   if (!color)
      return refuse_null(commands, "clear");
   if (region)
      transfer.target_region = *region;
   transfer.target_region.sample = 0;
   transfer.color = *color;
   return agx_record_image_transfer(commands, &transfer);
}

agx_status agx_cmd_copy_image(struct agx_command_buffer *commands, struct agx_image *source,
                              const struct agx_image_region *source_region,
                              struct agx_image *target,
                              const struct agx_image_region *target_region)
{
   struct agx_image_transfer transfer = {
      .kind = AGX_IMAGE_TRANSFER_COPY, .source = source, .target = target};
   if (!source_region || !target_region)
      return refuse_null(commands, "image copy");
   transfer.source_region = *source_region;
   transfer.target_region = *target_region;
   transfer.source_region.sample = transfer.target_region.sample = 0;
   return agx_record_image_transfer(commands, &transfer);
}

agx_status agx_cmd_copy_to_image(struct agx_command_buffer *commands,
                                 const struct agx_texels *source, struct agx_image *target,
                                 const struct agx_image_region *region)
{
   struct agx_image_transfer transfer = {.kind = AGX_IMAGE_TRANSFER_TO, .target = target};
   if (!source || !region)
      return refuse_null(commands, "copy to image");
   transfer.texels = *source;
   transfer.target_region = *region;
   return agx_record_image_transfer(commands, &transfer);
}

agx_status agx_cmd_copy_from_image(struct agx_command_buffer *commands, struct agx_image *source,
                                   const struct agx_image_region *region,
                                   const struct agx_texels *target)
{
   struct agx_image_transfer transfer = {.kind = AGX_IMAGE_TRANSFER_FROM, .source = source};
   if (!target || !region)
      return refuse_null(commands, "copy from image");
   transfer.texels = *target;
   transfer.source_region = *region;
   return agx_record_image_transfer(commands, &transfer);
}
