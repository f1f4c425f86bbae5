/* SPDX-License-Identifier: MIT
 *
 * Spoiled descriptors for everything that can be made.
 */
#include "hostile.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/util.h"

static void make_buffer(struct hostile *h)
{
   static const struct hostile_field fields[] = {
      FIELD(agx_buffer_desc, size),   FIELD(agx_buffer_desc, next),
      FIELD(agx_buffer_desc, size_B), FIELD(agx_buffer_desc, flags),
      FIELD(agx_buffer_desc, memory), FIELD(agx_buffer_desc, usage),
      FIELD(agx_buffer_desc, access), FIELD(agx_buffer_desc, align_B),
   };
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 65536, .label = hostile_text(h)};
   struct agx_buffer *buffer = NULL;
   struct agx_pages *pages = NULL;
   uint64_t size_B = hostile_number(h);
   SPOIL(h, &desc, fields);
   HOSTILE_MAKE(h, agx_buffer_create(h->f.device, &desc, &buffer), &buffer);
   agx_release(buffer);
   HOSTILE_MAKE(h, agx_vmem_reserve(h->f.device, &desc, &buffer), &buffer);
   agx_release(buffer);
   HOSTILE_MAKE(h, agx_pages_create(h->f.device, &desc, &pages), &pages);
   agx_release(pages);
   (void)agx_buffer_compat(h->f.device, &desc, &size_B);
}

static void make_import(struct hostile *h)
{
   static const struct hostile_field fields[] = {
      FIELD(agx_external, size),    FIELD(agx_external, kind),    FIELD(agx_external, fd),
      FIELD(agx_external, pointer), FIELD(agx_external, address), FIELD(agx_external, offset_B),
      FIELD(agx_external, size_B),
   };
   const struct agx_release_callback none = {0};
   struct agx_external external = {.size = sizeof(external), .fd = -1};
   struct agx_buffer *buffer = NULL;
   external.kind = (uint32_t)hostile_below(h, 6);
   external.pointer = h->scratch;
   SPOIL(h, &external, fields);
   HOSTILE_MAKE(h, agx_buffer_import(h->f.device, NULL, &external, none, &buffer), &buffer);
   agx_release(buffer);
   struct agx_external out = {.size = sizeof(out)};
   buffer = h->buffers[hostile_below(h, HOSTILE_BUFFERS)];
   if (HOSTILE(h, agx_buffer_export(buffer, (uint32_t)hostile_below(h, 6), &out)) == AGX_OK &&
       out.fd >= 0)
      close(out.fd);
}

static void make_pool(struct hostile *h)
{
   static const struct hostile_field fields[] = {
      FIELD(agx_pool_desc, size),    FIELD(agx_pool_desc, next),   FIELD(agx_pool_desc, strategy),
      FIELD(agx_pool_desc, flags),   FIELD(agx_pool_desc, slab_B), FIELD(agx_pool_desc, block_B),
      FIELD(agx_pool_desc, limit_B), FIELD(agx_pool_desc, memory), FIELD(agx_pool_desc, usage),
      FIELD(agx_pool_desc, access),
   };
   struct agx_pool_desc desc = {.size = sizeof(desc), .slab_B = 1u << 20};
   struct agx_pool *pool = NULL;
   struct agx_buffer *buffer = NULL;
   desc.strategy = (uint32_t)hostile_below(h, 3);
   desc.block_B = desc.strategy == AGX_POOL_FIXED ? 65536 : 0;
   SPOIL(h, &desc, fields);
   HOSTILE_MAKE(h, agx_pool_create(h->f.device, &desc, &pool), &pool);
   if (!pool)
      return;
   HOSTILE_MAKE(h, agx_pool_allocate(pool, hostile_offset(h), hostile_offset(h), &buffer), &buffer);
   agx_pool_trim(pool);
   agx_release(buffer);
   agx_release(pool);
}

static void make_image(struct hostile *h)
{
   static const char *const formats[] = {"rgba8",          "R32_UINT", "GL_RGBA16F",
                                         "r11f_g11f_b10f", "nonsense", ""};
   static const struct hostile_field fields[] = {
      FIELD(agx_image_desc, size),   FIELD(agx_image_desc, next),   FIELD(agx_image_desc, type),
      FIELD(agx_image_desc, width),  FIELD(agx_image_desc, height), FIELD(agx_image_desc, depth),
      FIELD(agx_image_desc, levels), FIELD(agx_image_desc, flags),  FIELD(agx_image_desc, samples),
   };
   struct agx_image_desc desc = {.size = sizeof(desc), .width = 16, .height = 16};
   struct agx_image *image = NULL;
   struct agx_sampler *sampler = NULL;
   desc.type = (uint32_t)hostile_below(h, 4);
   desc.format = hostile_below(h, 20) ? formats[hostile_below(h, AGX_COUNT(formats))] : NULL;
   SPOIL(h, &desc, fields);
   HOSTILE_MAKE(h, agx_image_create(h->f.device, &desc, &image), &image);
   agx_release(image);
   static const struct hostile_field sampler_fields[] = {
      FIELD(agx_sampler_desc, size),
      FIELD(agx_sampler_desc, next),
      FIELD(agx_sampler_desc, magnify),
      FIELD(agx_sampler_desc, minify),
      FIELD(agx_sampler_desc, wrap[0]),
      FIELD(agx_sampler_desc, wrap[2]),
      FIELD(agx_sampler_desc, border),
      FIELD(agx_sampler_desc, max_anisotropy),
      FIELD(agx_sampler_desc, min_lod),
      FIELD(agx_sampler_desc, max_lod),
      FIELD(agx_sampler_desc, compare),
      FIELD(agx_sampler_desc, between_levels),
      FIELD(agx_sampler_desc, texel_coordinates),
   };
   struct agx_sampler_desc how = {.size = sizeof(how)};
   SPOIL(h, &how, sampler_fields);
   HOSTILE_MAKE(h, agx_sampler_create(h->f.device, &how, &sampler), &sampler);
   agx_release(sampler);
}

static void make_executable(struct hostile *h)
{
   static const struct hostile_field fields[] = {
      FIELD(agx_executable_desc, size),
      FIELD(agx_executable_desc, next),
      FIELD(agx_executable_desc, robustness),
      FIELD(agx_executable_desc, flags),
   };
   static const struct hostile_field special_fields[] = {FIELD(agx_specialization, id),
                                                         FIELD(agx_specialization, bytes),
                                                         FIELD(agx_specialization, value)};
   static const struct hostile_field robust_fields[] = {FIELD(agx_binding_robustness, robustness),
                                                        FIELD(agx_binding_robustness, set)};
   struct agx_specialization special = {.id = 0, .bytes = 4, .value = 3};
   struct agx_binding_robustness robust = {.robustness = AGX_ROBUST_CLAMP};
   struct agx_executable *executable = NULL;
   struct agx_executable_desc desc = {.size = sizeof(desc),
                                      .data = h->spirv,
                                      .data_B = h->spirv_B,
                                      .specializations = &special,
                                      .overrides = &robust};
   desc.specialization_count = (uint32_t)hostile_below(h, 2);
   desc.override_count = hostile_below(h, 8) ? (uint32_t)hostile_below(h, 2) : UINT32_MAX;
   desc.entry = hostile_below(h, 2) ? hostile_text(h) : "double_it";
   if (hostile_below(h, 4) == 0)
      desc.data_B = hostile_below(h, h->spirv_B);
   if (hostile_below(h, 16) == 0)
      desc.data = NULL;
   SPOIL(h, &desc, fields);
   SPOIL(h, &special, special_fields);
   SPOIL(h, &robust, robust_fields);
   HOSTILE_MAKE(h, agx_executable_create(h->f.device, &desc, &executable), &executable);
   agx_release(executable);
}

static void make_file(struct hostile *h)
{
   static const struct hostile_field fields[] = {
      FIELD(agx_file_desc, size),   FIELD(agx_file_desc, next), FIELD(agx_file_desc, kind),
      FIELD(agx_file_desc, access), FIELD(agx_file_desc, fd),   FIELD(agx_file_desc, memory_B),
   };
   struct agx_file_desc desc = {.size = sizeof(desc),
                                .access = AGX_FILE_READ,
                                .fd = -1,
                                .memory = h->scratch,
                                .memory_B = 64,
                                .label = hostile_text(h)};
   struct agx_file *file = NULL;
   desc.kind = (uint32_t)hostile_below(h, 2);
   SPOIL(h, &desc, fields);
   HOSTILE_MAKE(h, agx_file_import(h->f.device, &desc, &file), &file);
   agx_release(file);
}

static void make_device(struct hostile *h)
{
   static const uint32_t priorities[] = {0, 1, 2, UINT32_MAX, 0, 0, 0, 0};
   static const struct hostile_field fields[] = {
      FIELD(agx_device_desc, size),           FIELD(agx_device_desc, next),
      FIELD(agx_device_desc, queue_count),    FIELD(agx_device_desc, max_parked),
      FIELD(agx_device_desc, memory_limit_B), FIELD(agx_device_desc, cache_limit_B),
      FIELD(agx_device_desc, flags),
   };
   struct agx_device_desc desc = {.size = sizeof(desc), .name = "virtual"};
   struct agx_device *device = NULL;
   if (hostile_below(h, 8))
      return; /* it takes its time */
   if (hostile_below(h, 3) == 0)
      desc.name = hostile_text(h);
   if (hostile_below(h, 8) == 0)
      desc.capture_path = "/no/such/folder";
   if (hostile_below(h, 3) == 0)
      desc.queue_priorities = priorities + hostile_below(h, 2);
   desc.queue_count = (uint32_t)hostile_below(h, 9);
   SPOIL(h, &desc, fields);
   HOSTILE_MAKE(h, agx_device_open(h->f.instance, &desc, &device), &device);
   agx_release(device);
}

static void make_profile(struct hostile *h)
{
   static const struct hostile_field fields[] = {
      FIELD(agx_profile_desc, size),
      FIELD(agx_profile_desc, next),
      FIELD(agx_profile_desc, flags),
      FIELD(agx_profile_desc, families),
      FIELD(agx_profile_desc, filter.command_buffer),
      FIELD(agx_profile_desc, filter.queues),
   };
   struct agx_profile_desc desc = {
      .size = sizeof(desc), .families = AGX_PROFILE_QUEUE, .path = hostile_below(h, 2) ? "/" : ""};
   SPOIL(h, &desc, fields);
   if (HOSTILE(h, agx_profile_begin(h->f.device, &desc)) == AGX_OK)
      assert_ok(agx_profile_end(h->f.device));
}

void hostile_make(struct hostile *h)
{
   static void (*const makers[])(struct hostile *) = {make_buffer, make_import,     make_pool,
                                                      make_image,  make_executable, make_file,
                                                      make_device, make_profile};
   makers[hostile_below(h, AGX_COUNT(makers))](h);
}
