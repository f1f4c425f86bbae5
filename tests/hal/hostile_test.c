/* SPDX-License-Identifier: MIT
 *
 * Thousands of calls with mistakes in them: none may bring the library down, and each that is
 * refused says why. AGX_HOSTILE_ROUNDS: how many; AGX_HOSTILE_SEED: where to begin.
 */
#include "hostile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"

#define ROUNDS 4000

/* ---- numbers and objects ------------------------------------------------------ */

uint64_t hostile_below(struct hostile *h, uint64_t bound)
{
   return agx_test_random_below(&h->rng, bound);
}

uint64_t hostile_number(struct hostile *h)
{
   static const uint64_t edges[] = {0,
                                    1,
                                    3,
                                    4,
                                    16,
                                    255,
                                    4096,
                                    65536,
                                    INT32_MAX,
                                    UINT64_C(1) << 31,
                                    UINT32_MAX,
                                    UINT64_C(1) << 32,
                                    UINT64_C(1) << 37,
                                    INT64_MAX,
                                    UINT64_C(1) << 63,
                                    UINT64_MAX};
   const uint64_t edge = edges[hostile_below(h, AGX_COUNT(edges))];
   switch (hostile_below(h, 4)) {
   case 0:
      return edge - hostile_below(h, 20);
   case 1:
      return edge + hostile_below(h, 20);
   case 2:
      return agx_test_random(&h->rng);
   default:
      return UINT64_C(1) << hostile_below(h, 64);
   }
}

uint64_t hostile_offset(struct hostile *h)
{
   switch (hostile_below(h, 4)) {
   case 0:
      return hostile_number(h);
   case 1:
      return AGX_WHOLE_LENGTH;
   case 2:
      return hostile_below(h, 3) * HOSTILE_BUFFER_B / 2;
   default:
      return hostile_below(h, 17);
   }
}

void *hostile_pick(struct hostile *h, void *objects, uint32_t count)
{
   void *object;
   const uint64_t index = hostile_below(h, 16 * (uint64_t)count + 1);
   if (index == 16 * (uint64_t)count)
      return NULL;
   memcpy(&object, (char *)objects + index % count * sizeof(object), sizeof(object));
   return object;
}

const char *hostile_text(struct hostile *h)
{
   static const char *const texts[] = {
      NULL, "", "it", "%s%n%d", "virtual:nothing", "/dev/null", "virtual:%s%n"};
   static char long_text[3000];
   const uint64_t index = hostile_below(h, AGX_COUNT(texts) + 1);
   memset(long_text, 'x', sizeof(long_text) - 1);
   if (index == AGX_COUNT(texts))
      return long_text;
   return texts[index] ? texts[index] : "null";
}

struct agx_buffer_ref hostile_ref(struct hostile *h)
{
   struct agx_buffer_ref ref = {.buffer = hostile_pick(h, h->buffers, HOSTILE_BUFFERS),
                                .length_B = AGX_WHOLE_LENGTH};
   if (hostile_below(h, 2)) {
      ref.offset_B = hostile_offset(h);
      ref.length_B = hostile_offset(h);
   }
   if (hostile_below(h, 8) == 0)
      ref.table_slot = (uint32_t)hostile_offset(h);
   if (ref.table_slot && hostile_below(h, 2))
      ref.buffer = NULL;
   if (hostile_below(h, 32) == 0)
      ref.reserved = (uint32_t)hostile_number(h);
   return ref;
}

void hostile_spoil(struct hostile *h, void *desc, const struct hostile_field *fields,
                   uint32_t count)
{
   for (uint64_t times = 1 + hostile_below(h, 2); times > 0; times--) {
      const struct hostile_field *field = &fields[hostile_below(h, count)];
      const bool is_flag = field->width == 1;
      uint64_t value = is_flag ? hostile_below(h, 2) : hostile_number(h);
      if (field->offset == 0) /* its size: no larger than it is, or than any may be */
         value = hostile_below(h, 2) ? hostile_below(h, 24) : value | 1u << 13;
      if (field->offset == 8 && field->width == sizeof(void *) && hostile_below(h, 4))
         continue; /* next */
      memcpy((char *)desc + field->offset, &value, field->width);
   }
}

/* ---- calls -------------------------------------------------------------------- */

void hostile_clear_text(void)
{
   (void)!agx_status_fail(AGX_OK, "%s", "");
}

agx_status hostile_judge(struct hostile *h, const char *call, agx_status status)
{
   const char *text = agx_error_peek();
   h->calls++;
   if (status == AGX_OK)
      return status;
   h->refusals++;
   /* One that fills its buffer has lost its end, where the reason is. */
   bool is_told = strpbrk(text, ":0123456789") && strlen(text) >= 12 && strlen(text) < 500;
   if (status < AGX_OK || status > AGX_INCOMPATIBLE || status == AGX_UNKNOWN ||
       status == AGX_INTERNAL || !is_told)
      fail_msg("seed %llu: %s: %d \"%s\"", (unsigned long long)h->seed, call, status, text);
   return status;
}

void hostile_judge_made(struct hostile *h, const char *call, agx_status status, void *made)
{
   if ((status == AGX_OK) != (made != NULL) || made == (void *)1)
      fail_msg("seed %llu: %s: %d, but it gave %p", (unsigned long long)h->seed, call, status,
               made);
}

/* ---- the world ----------------------------------------------------------------- */

static struct agx_buffer *make_buffer(struct fixture *f, uint32_t memory, uint32_t usage,
                                      uint32_t access)
{
   const struct agx_buffer_desc desc = {.size = sizeof(desc),
                                        .size_B = HOSTILE_BUFFER_B,
                                        .memory = memory,
                                        .usage = usage,
                                        .access = access};
   struct agx_buffer *buffer;
   assert_ok(agx_buffer_create(f->device, &desc, &buffer));
   return buffer;
}

static void make_buffers(struct hostile *h)
{
   const struct agx_buffer_desc range = {.size = sizeof(range), .size_B = 1u << 20};
   const struct agx_buffer_desc pages = {.size = sizeof(pages), .size_B = 1u << 18};
   h->buffers[0] = make_buffer(&h->f, 0, 0, 0);
   h->buffers[1] = make_buffer(&h->f, AGX_MEMORY_DEVICE_LOCAL, 0, 0);
   h->buffers[2] = make_buffer(&h->f, 0, 0, AGX_ACCESS_READ);
   h->buffers[3] = make_buffer(&h->f, 0, AGX_USAGE_UNIFORM, 0);
   h->buffers[4] = make_buffer(&h->f, 0, AGX_USAGE_DISPATCH | AGX_USAGE_SHARING_EXPORT, 0);
   assert_ok(agx_pool_create(h->f.device, NULL, &h->pool));
   assert_ok(agx_pool_allocate(h->pool, 1000, 0, &h->buffers[5]));
   assert_ok(agx_vmem_reserve(h->f.device, &range, &h->buffers[6]));
   h->buffers[7] = make_buffer(&h->other, 0, 0, 0);
   assert_ok(agx_pages_create(h->f.device, &pages, &h->pages));
   assert_ok(agx_pages_create(h->other.device, &pages, &h->foreign_pages));
}

static struct agx_executable *load(struct hostile *h, const char *name, bool keeps)
{
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_executable *executable;
   char *path = agx_test_path(name), *bytes = agx_test_read_file(path, &desc.data_B);
   desc.data = bytes;
   assert_ok(agx_executable_create(h->f.device, &desc, &executable));
   if (keeps) {
      h->spirv = bytes;
      h->spirv_B = desc.data_B;
   } else {
      free(bytes);
   }
   free(path);
   return executable;
}

static void make_others(struct hostile *h)
{
   const struct agx_image_desc image = {.size = sizeof(image),
                                        .type = AGX_IMAGE_2D,
                                        .format = "rgba8",
                                        .width = 16,
                                        .height = 16,
                                        .levels = 3};
   assert_ok(agx_image_create(h->f.device, &image, &h->image));
   assert_ok(agx_image_create(h->other.device, &image, &h->foreign_image));
   assert_ok(agx_sampler_create(h->f.device, NULL, &h->sampler));
   assert_ok(agx_event_create(h->f.device, &h->event));
   assert_ok(agx_event_create(h->other.device, &h->foreign_event));
   h->executables[0] = fixture_kernel(&h->f, &agx_test_count);
   h->executables[1] = load(h, "kernels/entries.spv", true);
   h->executables[2] = load(h, "kernels/vertex_default.spv", false);
   h->executables[3] = fixture_kernel(&h->other, &agx_test_count);
   for (uint32_t i = 0; i < 2; i++) {
      const struct agx_file_desc file = {.size = sizeof(file),
                                         .kind = AGX_FILE_HOST_MEMORY,
                                         .access = i ? AGX_FILE_READ : AGX_FILE_WRITE,
                                         .memory = h->scratch,
                                         .memory_B = HOSTILE_BUFFER_B};
      assert_ok(agx_file_import(h->f.device, &file, &h->files[i]));
   }
   for (uint32_t i = 0; i < HOSTILE_SEMAPHORES; i++)
      h->semaphores[i] = fixture_semaphore(i < HOSTILE_SEMAPHORES - 1 ? &h->f : &h->other);
}

static void open_fixture(struct fixture *f)
{
   const struct agx_device_desc desc = {
      .size = sizeof(desc), .name = "virtual", .max_parked = 40, .memory_limit_B = 1u << 27};
   assert_ok(agx_instance_create(NULL, &f->instance));
   assert_ok(agx_device_open(f->instance, &desc, &f->device));
   f->info.size = sizeof(f->info);
   agx_device_get_info(f->device, &f->info);
}

static void open_world(struct hostile *h)
{
   open_fixture(&h->f);
   open_fixture(&h->other);
   h->scratch = calloc(1, HOSTILE_SCRATCH_B);
   assert_non_null(h->scratch);
   make_buffers(h);
   make_others(h);
}

static void release_list(void *objects, uint32_t count)
{
   void *object;
   for (uint32_t i = 0; i < count; i++) {
      memcpy(&object, (char *)objects + i * sizeof(object), sizeof(object));
      agx_release(object);
   }
}

static void close_world(struct hostile *h)
{
   void *others[] = {h->image, h->foreign_image, h->sampler,       h->event,    h->foreign_event,
                     h->pool,  h->pages,         h->foreign_pages, h->files[0], h->files[1]};
   agx_device_cancel(h->f.device);
   agx_device_cancel(h->other.device);
   assert_ok(agx_device_status(h->f.device));
   release_list(h->buffers, HOSTILE_BUFFERS);
   release_list(h->executables, AGX_COUNT(h->executables));
   release_list(h->semaphores, HOSTILE_SEMAPHORES);
   release_list(others, AGX_COUNT(others));
   fixture_close(&h->f);
   fixture_close(&h->other);
   free(h->spirv);
   free(h->scratch);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
   const char *text = getenv(name);
   return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* ---- tests -------------------------------------------------------------------- */

static void run(void (*round)(struct hostile *h))
{
   const uint64_t rounds = number_of("AGX_HOSTILE_ROUNDS", ROUNDS);
   const uint64_t first = number_of("AGX_HOSTILE_SEED", 1);
   struct hostile h = {.rng = {1}};
   open_world(&h);
   for (h.round = 0; h.round < rounds; h.round++) {
      h.seed = first + h.round;
      h.rng.state = h.seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
      round(&h);
   }
   print_message("%u calls, %u refused\n", h.calls, h.refusals);
   assert_true(h.refusals > 0 && h.refusals < h.calls);
   close_world(&h);
}

static void making(void **state)
{
   run(hostile_make);
}

static void memory(void **state)
{
   run(hostile_memory);
}

static void recording(void **state)
{
   run(hostile_record);
}

static void submission(void **state)
{
   run(hostile_submit);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(making),
      cmocka_unit_test(memory),
      cmocka_unit_test(recording),
      cmocka_unit_test(submission),
   };
   setenv("AGX_VIRTUAL_EXECUTE", "0", 1);         /* whatever the grids */
   setenv("AGX_VIRTUAL_MEMORY", "0x20000000", 1); /* no more than any machine has */
   return cmocka_run_group_tests(tests, NULL, NULL);
}
