/* SPDX-License-Identifier: MIT
 *
 * Descriptor heaps: kernels that find everything in one, with descriptors that change after they
 * were recorded; ranges of heaps that don't fit; and long arrays of buffers without a heap.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "image_launch.h"

#define THREADS 96u
#define BUFFERS 64u
#define IMAGES  8u

enum slot {
   DATA = 0,
   CONSTANTS = 64,
   TEXTURES = 72,
   STORED = 80,
   ONE = 84,
   PICTURE = 85
};
enum {
   SAMPLERS = 86,
   TEXELS = 126,
   OUTS = 129,
   PLANE = 193,
   SLOTS = 194
};

static const struct {
   uint32_t binding, first, count, type;
} ranges[] = {
   {0, DATA, 64, AGX_BINDING_STORAGE},
   {1, CONSTANTS, 8, AGX_BINDING_UNIFORM},
   {2, TEXTURES, 8, AGX_BINDING_TEXTURE_SAMPLER},
   {3, STORED, 4, AGX_BINDING_STORAGE_IMAGE},
   {4, ONE, 1, AGX_BINDING_STORAGE},
   {5, PICTURE, 1, AGX_BINDING_TEXTURE},
   {6, SAMPLERS, 40, AGX_BINDING_SAMPLER},
   {7, TEXELS, 3, AGX_BINDING_TEXEL_BUFFER},
   {8, OUTS, 64, AGX_BINDING_STORAGE},
   {9, PLANE, 1, AGX_BINDING_STORAGE_IMAGE},
};

struct request {
   uint32_t which;
   int32_t at;
   uint32_t pad[2];
};

struct answer {
   uint32_t data[4], numbers[4];
   float texels[4];
   uint32_t rest[4];
};

struct scene {
   struct image_launch *it;
   struct agx_descriptor_heap *heap;
   struct agx_executable *executable;
   struct agx_buffer *memory; /* all buffers are parts of it */
   uint32_t *words;
   struct agx_image *textures[IMAGES], *stored[4], *plane;
   struct agx_sampler *samplers[2];
   struct request *requests;
   struct answer *answers;
   struct agx_heap_range given[AGX_COUNT(ranges)];
};

static float by_texture;
static float texel_of(int x, int y, int z, int level, int sample)
{
   return by_texture + (float)(10 * y + x);
}

/* Of buffer b: a page of the memory, of which 4 * (32 + b) bytes are bound. */
static uint64_t length_of(uint32_t b)
{
   return 4ull * (33 + 2 * (b % 16));
}

static void write_slot(struct scene *s, uint32_t slot, struct agx_descriptor descriptor)
{
   assert_ok(agx_descriptor_heap_write(s->heap, slot, 1, &descriptor));
}

static void write_buffer(struct scene *s, uint32_t slot, uint32_t type, uint32_t page,
                         uint64_t length_B, const char *format)
{
   write_slot(
      s, slot,
      (struct agx_descriptor){
         .type = type, .value = {.ref = {s->memory, 1024ull * page, length_B}, .format = format}});
}

/* Buffers: pages 0 to 63 hold data, 64 to 127 are written; 128 to 135 constants, 136 one, 137 to
 * 139 texels. */
static void fill(struct scene *s)
{
   s->memory = fixture_buffer(&s->it->fixture, 1024 * 140, &s->words);
   for (uint32_t i = 0; i < 256 * 140; i++)
      s->words[i] = i / 256 >= 137 ? 0 : i / 256 >= 64 && i / 256 < 128 ? 0 : i * 3 + 1;
   for (uint32_t i = 0; i < 3 * 256; i++)
      ((float *)s->words)[137 * 256 + i] = (float)i;
   for (uint32_t i = 0; i < BUFFERS; i++) {
      write_buffer(s, DATA + i, AGX_BINDING_STORAGE, i, length_of(i), NULL);
      write_buffer(s, OUTS + i, AGX_BINDING_STORAGE, 64 + i, 4 * (THREADS + 1), NULL);
   }
   for (uint32_t i = 0; i < 8; i++)
      write_buffer(s, CONSTANTS + i, AGX_BINDING_UNIFORM, 128 + i, 80, NULL);
   for (uint32_t i = 0; i < 3; i++)
      write_buffer(s, TEXELS + i, AGX_BINDING_TEXEL_BUFFER, 137 + i, 4 * (5 + i), "r32f");
   write_buffer(s, ONE, AGX_BINDING_STORAGE, 136, 512, NULL);
}

static void fill_images(struct scene *s)
{
   for (uint32_t i = 0; i < IMAGES; i++) {
      s->textures[i] =
         image_make(s->it, (struct agx_image_desc){
                              .type = AGX_IMAGE_2D, .format = "r32f", .width = 4 + i, .height = 4});
      by_texture = 1000.0f * (float)i;
      image_fill(s->textures[i], texel_of);
      write_slot(
         s, TEXTURES + i,
         (struct agx_descriptor){.type = AGX_BINDING_TEXTURE_SAMPLER,
                                 .view = AGX_VIEW_2D,
                                 .value = {.image = s->textures[i], .sampler = s->it->nearest}});
   }
   write_slot(s, PICTURE,
              (struct agx_descriptor){.type = AGX_BINDING_TEXTURE,
                                      .view = AGX_VIEW_2D,
                                      .value = {.image = s->textures[3]}});
   for (uint32_t i = 0; i < 5; i++) {
      struct agx_image *image = image_make(
         s->it,
         (struct agx_image_desc){.type = AGX_IMAGE_2D,
                                 .format = "r32ui",
                                 .width = 32,
                                 .height = 9 + i,
                                 .flags = i == 4 ? AGX_IMAGE_ATOMICS | AGX_IMAGE_LINEAR : 0});
      *(i < 4 ? &s->stored[i] : &s->plane) = image;
      write_slot(s, i < 4 ? STORED + i : PLANE,
                 (struct agx_descriptor){.type = AGX_BINDING_STORAGE_IMAGE,
                                         .view = AGX_VIEW_2D,
                                         .value = {.image = image}});
   }
   for (uint32_t i = 0; i < 2; i++) {
      const struct agx_sampler_desc desc = {
         .size = sizeof(desc), .wrap = {i ? AGX_WRAP_REPEAT : AGX_WRAP_EDGE, AGX_WRAP_EDGE}};
      assert_ok(agx_sampler_create(s->it->fixture.device, &desc, &s->samplers[i]));
   }
   for (uint32_t i = 0; i < 40; i++)
      write_slot(s, SAMPLERS + i,
                 (struct agx_descriptor){.type = AGX_BINDING_SAMPLER,
                                         .value = {.sampler = s->samplers[i & 1]}});
}

static struct agx_executable *compile(struct scene *s, uint32_t robustness, uint32_t heap_sets)
{
   struct agx_executable_desc desc = {
      .size = sizeof(desc), .robustness = robustness, .heap_sets = heap_sets};
   struct agx_executable *executable;
   char *path = agx_test_path("kernels/descriptor_heap.spv");
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(s->it->fixture.device, &desc, &executable));
   free(spirv);
   free(path);
   return executable;
}

static void begin(struct scene *s, void **state, uint32_t robustness)
{
   struct agx_descriptor_heap_desc desc = {.size = sizeof(desc), .label = "all", .slots = SLOTS};
   *s = (struct scene){.it = *state};
   for (size_t i = 0; i < AGX_COUNT(ranges); i++)
      desc.types |= 1u << ranges[i].type;
   assert_ok(agx_descriptor_heap_create(s->it->fixture.device, &desc, &s->heap));
   fill(s);
   fill_images(s);
   s->executable = compile(s, robustness, 1u << 1);
   s->requests = image_bind_buffer(s->it, 0, THREADS * sizeof(*s->requests));
   s->answers = image_bind_buffer(s->it, 1, THREADS * sizeof(*s->answers));
   for (size_t i = 0; i < AGX_COUNT(ranges); i++)
      s->given[i] =
         (struct agx_heap_range){1, ranges[i].binding, s->heap, ranges[i].first, ranges[i].count};
   for (uint32_t i = 0; i < THREADS; i++)
      s->requests[i] = (struct request){.which = (i * 7) % BUFFERS, .at = (int)(i % 16)};
}

static void end(struct scene *s)
{
   agx_release(s->heap);
   agx_release(s->executable);
   agx_release(s->memory);
   for (uint32_t i = 0; i < IMAGES; i++)
      agx_release(s->textures[i]);
   for (uint32_t i = 0; i < 4; i++)
      agx_release(s->stored[i]);
   for (uint32_t i = 0; i < 2; i++)
      agx_release(s->samplers[i]);
   agx_release(s->plane);
   image_drop_bindings(s->it);
}

static struct agx_dispatch dispatch_of(struct scene *s)
{
   return (struct agx_dispatch){
      .size = sizeof(struct agx_dispatch),
      .executable = s->executable,
      .workgroups = {THREADS / 32, 1, 1},
      .bindings = s->it->bindings,
      .binding_count = s->it->count,
      .heap_count = AGX_COUNT(ranges),
      .heaps = s->given,
   };
}

static struct agx_command_buffer *record(struct scene *s)
{
   const struct agx_dispatch dispatch = dispatch_of(s);
   struct agx_command_buffer *commands = fixture_begin(&s->it->fixture);
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   return commands;
}

static void run(struct scene *s, struct agx_command_buffer *commands)
{
   struct agx_semaphore *done = fixture_semaphore(&s->it->fixture);
   assert_ok(fixture_submit(&s->it->fixture, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   agx_release(done);
}

static uint32_t word(const struct scene *s, uint32_t page, uint32_t at)
{
   return s->words[256 * page + at];
}

/* moved: each descriptor of data and textures stands one place higher. */
static void check(const struct scene *s, uint32_t i, uint32_t moved)
{
   const struct request *r = &s->requests[i];
   const struct answer *a = &s->answers[i];
   const uint32_t at = (uint32_t)r->at, data = (r->which + moved) % BUFFERS,
                  texture = (r->which + moved) % 8;
   const uint32_t elements = (uint32_t)(length_of(data) - 8) / 8;
   assert_int_equal(a->data[2], elements);
   assert_int_equal(a->data[0], word(s, data, 2 + 2 * at + 1));
   assert_int_equal(a->data[1], word(s, 128 + r->which % 8, 4 + 4 * (at & 3) + 2));
   assert_int_equal(a->data[3], word(s, 136, 1 + at));
   assert_int_equal(a->numbers[0], 4 + texture);
   assert_int_equal(a->numbers[1], 9 + r->which % 4);
   assert_int_equal(a->numbers[2], 127);
   assert_int_equal(a->numbers[3], 5 + r->which % 3);
   assert_true(a->texels[0] == 1000.0f * (float)texture + (float)(10 * (at >> 2 & 3) + (at & 3)));
   assert_true(a->texels[1] == 3010.0f + (float)(at & 3));
   assert_true(a->texels[2] == (r->which % 40 & 1 ? 3004.0f : 3006.0f));
   assert_true(a->texels[3] ==
               ((at & 7) < 5 + r->which % 3 ? (float)(256 * (r->which % 3) + (at & 7)) : 0.0f));
   assert_int_equal(a->rest[0], word(s, (2 + moved) % BUFFERS, 0));
   assert_int_equal(a->rest[1], 7);
   assert_int_equal(a->rest[2], 1);
   assert_int_equal(a->rest[3], word(s, 135, 3));
   assert_int_equal(word(s, 64 + r->which, 1 + i), i + 100);
}

static void check_all(struct scene *s, uint32_t moved)
{
   static uint32_t texels[32 * 12];
   uint32_t count = 0;
   for (uint32_t i = 0; i < THREADS; i++) {
      check(s, i, moved);
      count += word(s, 64 + i % BUFFERS, 0) * (i < BUFFERS);
   }
   assert_int_equal(count, THREADS);
   const struct agx_image_region region = {.width = 32, .height = 3, .depth = 1};
   for (uint32_t e = 0; e < 5; e++) {
      assert_ok(agx_image_read(e < 4 ? s->stored[e] : s->plane, &region, texels, 0, 0));
      for (uint32_t i = 0; i < THREADS; i++) {
         if (e == 4)
            assert_int_equal(texels[i], 3 * i);
         else if (s->requests[i].which % 4 == e)
            assert_int_equal(texels[i], i + s->requests[i].which);
      }
   }
}

static void reads_each_kind(void **state, uint32_t robustness)
{
   struct scene s;
   begin(&s, state, robustness);
   struct agx_command_buffer *commands = record(&s);
   run(&s, commands);
   check_all(&s, 0);
   agx_release(commands);
   end(&s);
}

static void reads_each_kind_off(void **state)
{
   reads_each_kind(state, AGX_ROBUST_OFF);
}

static void reads_each_kind_clamp(void **state)
{
   reads_each_kind(state, AGX_ROBUST_CLAMP);
}

static void reads_each_kind_zero(void **state)
{
   reads_each_kind(state, AGX_ROBUST_ZERO);
}

/* What is written between recording and submission counts, of single descriptors, too. */
static void changes_after_recording(void **state)
{
   struct scene s;
   begin(&s, state, AGX_ROBUST_ZERO);
   struct agx_command_buffer *commands = record(&s);
   for (uint32_t i = 0; i < BUFFERS; i++)
      write_buffer(&s, DATA + i, AGX_BINDING_STORAGE, (i + 1) % BUFFERS,
                   length_of((i + 1) % BUFFERS), NULL);
   for (uint32_t i = 0; i < 8; i++)
      write_slot(&s, TEXTURES + i,
                 (struct agx_descriptor){
                    .type = AGX_BINDING_TEXTURE_SAMPLER,
                    .view = AGX_VIEW_2D,
                    .value = {.image = s.textures[(i + 1) % 8], .sampler = s.it->nearest}});
   run(&s, commands);
   check_all(&s, 1);
   write_buffer(&s, ONE, AGX_BINDING_STORAGE, 5, 256, NULL);
   write_slot(&s, PICTURE,
              (struct agx_descriptor){.type = AGX_BINDING_TEXTURE,
                                      .view = AGX_VIEW_2D,
                                      .value = {.image = s.textures[5]}});
   run(&s, commands);
   assert_int_equal(s.answers[3].data[3], word(&s, 5, 1 + 3));
   assert_int_equal(s.answers[3].numbers[2], 63);
   assert_true(s.answers[3].texels[1] == 5013.0f);
   agx_release(commands);
   end(&s);
}

/* Nothing is bound there, and indices lie beyond what is. */
static void nothing_reads_as_zero(void **state)
{
   struct scene s;
   begin(&s, state, AGX_ROBUST_ZERO);
   for (uint32_t i = 0; i < SLOTS; i++)
      for (size_t r = 0; r < AGX_COUNT(ranges); r++)
         if (i % 2 && i >= ranges[r].first && i - ranges[r].first < ranges[r].count)
            write_slot(&s, i, (struct agx_descriptor){.type = ranges[r].type, .view = AGX_VIEW_2D});
   for (uint32_t i = 0; i < THREADS; i++)
      s.requests[i].at = i % 3 == 0 ? 0x7fffffff : i % 3 == 1 ? 1000 : 3;
   struct agx_command_buffer *commands = record(&s);
   run(&s, commands);
   for (uint32_t i = 0; i < THREADS; i++) {
      const struct request *r = &s.requests[i];
      const bool is_there = (DATA + r->which) % 2 == 0;
      assert_int_equal(s.answers[i].data[0], is_there && r->at == 3 ? word(&s, r->which, 9) : 0);
      assert_int_equal(s.answers[i].data[2],
                       is_there ? (uint32_t)(length_of(r->which) - 8) / 8 : 0);
      assert_int_equal(s.answers[i].numbers[1], (STORED + r->which % 4) % 2 ? 0 : 9 + r->which % 4);
      assert_int_equal(s.answers[i].rest[3], 0);
      if ((OUTS + r->which) % 2)
         assert_int_equal(word(&s, 64 + r->which, 1 + i), 0);
   }
   agx_release(commands);
   end(&s);
}

/* Without heap_sets long arrays of buffers are in a heap all the same: the dispatch's own. */
static void long_arrays_without_a_heap(void **state)
{
   struct scene s;
   struct agx_binding bindings[2 + SLOTS];
   begin(&s, state, AGX_ROBUST_ZERO);
   agx_release(s.executable);
   s.executable = compile(&s, AGX_ROBUST_ZERO, 0);
   struct agx_dispatch dispatch = dispatch_of(&s);
   memcpy(bindings, s.it->bindings, 2 * sizeof(bindings[0]));
   dispatch.heap_count = 0;
   dispatch.bindings = bindings;
   for (size_t r = 0; r < AGX_COUNT(ranges); r++)
      for (uint32_t e = 0; e < ranges[r].count; e++) {
         struct agx_binding *binding = &bindings[dispatch.binding_count];
         const uint32_t pages[] = {[0] = 0, [1] = 128, [4] = 136, [7] = 137, [8] = 64, [9] = 0};
         const uint64_t lengths_B[] = {[0] = length_of(e),
                                       [1] = 80,
                                       [4] = 512,
                                       [7] = 4 * (5 + (uint64_t)e),
                                       [8] = 4 * (THREADS + 1)};
         const uint32_t b = ranges[r].binding;
         *binding = (struct agx_binding){.set = 1, .binding = b, .element = e};
         if (b == 0 || b == 1 || b == 4 || b == 7 || b == 8)
            binding->ref =
               (struct agx_buffer_ref){s.memory, 1024ull * (pages[b] + e), lengths_B[b], 0, 0};
         binding->format = b == 7 ? "r32f" : NULL;
         binding->image = b == 2   ? s.textures[e]
                          : b == 3 ? s.stored[e]
                          : b == 5 ? s.textures[3]
                          : b == 9 ? s.plane
                                   : NULL;
         binding->sampler = b == 2 ? s.it->nearest : b == 6 ? s.samplers[e & 1] : NULL;
         dispatch.binding_count += b != 0 || e != 63; /* one is left out */
      }
   struct agx_command_buffer *commands = fixture_begin(&s.it->fixture);
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   s.requests[9].which = 62; /* not the one that is left out: the array ends before it */
   run(&s, commands);
   for (uint32_t i = 0; i < THREADS; i++)
      if (s.requests[i].which != 63)
         check(&s, i, 0);
   agx_release(commands);
   end(&s);
}

/* Slots move as a whole, and over each other. */
static void copies(void **state)
{
   struct scene s;
   begin(&s, state, AGX_ROBUST_ZERO);
   const struct agx_descriptor_heap_desc desc = {
      .size = sizeof(desc), .slots = SLOTS + 3, .types = s.heap ? 0x63f : 0};
   struct agx_descriptor_heap *other;
   assert_ok(agx_descriptor_heap_create(s.it->fixture.device, &desc, &other));
   assert_ok(agx_descriptor_heap_copy(s.heap, 0, other, 0, SLOTS));
   assert_ok(agx_descriptor_heap_copy(other, 0, other, 3, SLOTS));
   for (size_t i = 0; i < AGX_COUNT(ranges); i++) {
      s.given[i].heap = other;
      s.given[i].first_slot += 3;
   }
   struct agx_command_buffer *commands = record(&s);
   agx_release(other); /* recordings keep it */
   run(&s, commands);
   check_all(&s, 0);
   agx_release(commands);
   end(&s);
}

static void assert_says(const char *text)
{
   char error[1024];
   (void)agx_error_text(error, sizeof(error));
   if (!strstr(error, text))
      fail_msg("\"%s\", want \"%s\"", error, text);
}

static void refuse(struct scene *s, agx_status wanted, const char *text)
{
   const struct agx_dispatch dispatch = dispatch_of(s);
   struct agx_command_buffer *commands = fixture_begin(&s->it->fixture);
   assert_int_equal(agx_cmd_dispatch(commands, &dispatch), wanted);
   assert_says(text);
   agx_release(commands);
}

static void refuses_ranges(void **state)
{
   struct scene s;
   begin(&s, state, AGX_ROBUST_ZERO);
   const struct agx_heap_range good = s.given[1];
   s.given[1].slot_count = 7;
   refuse(&s, AGX_OUT_OF_RANGE, "7 slots of heap all, for an array of 8");
   s.given[1].slot_count = SLOTS;
   refuse(&s, AGX_OUT_OF_RANGE, "194 slots from 64 of 194");
   s.given[1].slot_count = 0;
   refuse(&s, AGX_INVALID_ARGUMENT, "no slots");
   s.given[1] = good;
   s.given[1].heap = NULL;
   refuse(&s, AGX_INVALID_ARGUMENT, "the heap is NULL");
   s.given[1] = s.given[0];
   refuse(&s, AGX_INVALID_ARGUMENT, "heaps[1]: set 1 binding 0 again");
   s.given[1] = good;
   s.given[1].binding = 77;
   refuse(&s, AGX_INVALID_ARGUMENT, "declares no set 1 binding 77");
   s.given[1] = good;
   s.given[1].set = 0;
   s.given[1].binding = 0;
   refuse(&s, AGX_INVALID_ARGUMENT, "is in a heap already");
   s.given[1] = good;
   image_bind(s.it, (struct agx_binding){.set = 1, .binding = 4});
   refuse(&s, AGX_INVALID_ARGUMENT, "bindings[2]: set 1 binding 4 is in a heap already");
   s.it->count--;
   struct agx_executable *in_heap = s.executable;
   s.executable = compile(&s, AGX_ROBUST_ZERO, 0);
   refuse(&s, AGX_INVALID_ARGUMENT, "name its set in heap_sets");
   agx_release(s.executable);
   s.executable = in_heap;
   end(&s);
}

static void refuses_descriptors(void **state)
{
   struct scene s;
   begin(&s, state, AGX_ROBUST_ZERO);
   const struct {
      struct agx_descriptor descriptor;
      uint32_t slot;
      agx_status status;
      const char *text;
   } wrong[] = {
      {{.type = 99}, 5, AGX_INVALID_ARGUMENT, "descriptor heap all: slot 5: type 99"},
      {{.type = AGX_BINDING_STORAGE_TEXEL_BUFFER}, 5, AGX_INVALID_ARGUMENT, "type 10"},
      {{.type = AGX_BINDING_TEXTURE, .view = 9}, 5, AGX_INVALID_ARGUMENT, "view 9"},
      {{.type = AGX_BINDING_TEXTURE, .view = AGX_VIEW_3D, .value = {.image = s.textures[0]}},
       5,
       AGX_INVALID_ARGUMENT,
       "takes dimension 3D"},
      {{.type = AGX_BINDING_STORAGE, .value = {.ref = {s.memory, 1u << 30, 4}}},
       5,
       AGX_OUT_OF_RANGE,
       "offset 1073741824"},
      {{.type = AGX_BINDING_STORAGE, .value = {.ref = {s.memory, 2, 4}}},
       5,
       AGX_INVALID_ARGUMENT,
       "no multiple of 4"},
      {{.type = AGX_BINDING_TEXEL_BUFFER, .value = {.ref = {s.memory, 0, 64}, .format = "r99"}},
       5,
       AGX_UNIMPLEMENTED,
       "unknown format r99"},
      {{.type = AGX_BINDING_STORAGE}, SLOTS, AGX_OUT_OF_RANGE, "1 slots from 194 of 194"},
   };
   for (size_t i = 0; i < AGX_COUNT(wrong); i++) {
      assert_int_equal(agx_descriptor_heap_write(s.heap, wrong[i].slot, 1, &wrong[i].descriptor),
                       wrong[i].status);
      assert_says(wrong[i].text);
   }
   assert_int_equal(agx_descriptor_heap_copy(s.heap, 1, s.heap, 0, SLOTS), AGX_OUT_OF_RANGE);
   end(&s);
}

static void refuses_heaps(void **state)
{
   struct image_launch *it = *state;
   const struct {
      uint32_t slots, types;
   } wrong[] = {{0, 1}, {AGX_MAX_HEAP_SLOTS + 1, 1}, {1, 0}, {1, 1u << 11}, {1, 1u << 6}};
   for (size_t i = 0; i < AGX_COUNT(wrong); i++) {
      const struct agx_descriptor_heap_desc desc = {
         .size = sizeof(desc), .slots = wrong[i].slots, .types = wrong[i].types};
      struct agx_descriptor_heap *heap = (void *)it;
      assert_int_equal(agx_descriptor_heap_create(it->fixture.device, &desc, &heap),
                       AGX_INVALID_ARGUMENT);
      assert_null(heap);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(reads_each_kind_off, image_launch_open, image_launch_close),
      cmocka_unit_test_setup_teardown(reads_each_kind_clamp, image_launch_open, image_launch_close),
      cmocka_unit_test_setup_teardown(reads_each_kind_zero, image_launch_open, image_launch_close),
      cmocka_unit_test_setup_teardown(changes_after_recording, image_launch_open,
                                      image_launch_close),
      cmocka_unit_test_setup_teardown(nothing_reads_as_zero, image_launch_open, image_launch_close),
      cmocka_unit_test_setup_teardown(long_arrays_without_a_heap, image_launch_open,
                                      image_launch_close),
      cmocka_unit_test_setup_teardown(copies, image_launch_open, image_launch_close),
      cmocka_unit_test_setup_teardown(refuses_ranges, image_launch_open, image_launch_close),
      cmocka_unit_test_setup_teardown(refuses_descriptors, image_launch_open, image_launch_close),
      cmocka_unit_test_setup_teardown(refuses_heaps, image_launch_open, image_launch_close),
      cmocka_unit_test_setup_teardown(reads_each_kind_zero, image_launch_open_noopt,
                                      image_launch_close),
      cmocka_unit_test_setup_teardown(reads_each_kind_clamp, image_launch_open_bounds,
                                      image_launch_close),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
