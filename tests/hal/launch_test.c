/* SPDX-License-Identifier: MIT
 *
 * What a launch looks like in memory: the short and the general path write the same, and that is
 * what the writers of src/agx/hw would.
 */
#include "fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "failing_alloc.h"
#include "base/util.h"
#include "failing_kmd.h"
#include "hal/device/device.h"
#include "hal/record/command_buffer.h"
#include "stream.h"

/* One dispatch of two buffers and a push word. */
struct add_launch {
   struct fixture f;
   struct agx_executable *add;
   struct agx_buffer *buffers[2];
   struct agx_binding bindings[2];
   struct agx_dispatch dispatch;
   uint32_t push;
};

static void fill_add_launch(struct add_launch *it)
{
   uint32_t *words;
   for (uint32_t i = 0; i < 2; i++) {
      it->buffers[i] = fixture_buffer(&it->f, 512, &words);
      it->bindings[i] =
         (struct agx_binding){.binding = i, .ref = {it->buffers[i], 16 * i, AGX_WHOLE_LENGTH}};
   }
   it->dispatch = (struct agx_dispatch){.size = sizeof(it->dispatch),
                                        .executable = it->add,
                                        .workgroups = {3, 2, 1},
                                        .binding_count = 2,
                                        .bindings = it->bindings,
                                        .push = &it->push,
                                        .push_B = 4};
}

static void open_add_launch(struct add_launch *it, const char *device)
{
   memset(it, 0, sizeof(*it));
   fixture_open(&it->f, device);
   it->add = fixture_kernel(&it->f, &agx_test_add);
   it->push = 0x12345678;
   fill_add_launch(it);
}

static void close_add_launch(struct add_launch *it)
{
   agx_release(it->add);
   agx_release(it->buffers[0]);
   agx_release(it->buffers[1]);
   fixture_close(&it->f);
}

static const uint8_t *block_of(const struct agx_command_buffer *commands, uint32_t number)
{
   const uint32_t *launch = stream_launch(commands, number);
   const uint8_t *block = stream_memory(commands, commands->usc_base + launch[1]);
   assert_non_null(block);
   return block;
}

/* The contents are what the Uniform word of the block says; words is where they begin. */
static void check_block(const struct add_launch *it, const struct agx_command_buffer *commands,
                        uint32_t number)
{
   const uint32_t *launch = stream_launch(commands, number);
   const struct agx_program *program = it->add->program;
   const uint64_t block_va = commands->usc_base + launch[1], contents_va = block_va + 32;
   const uint64_t contents[3] = {it->buffers[0]->address, it->buffers[1]->address + 16, it->push};
   uint8_t expected[64] = {0};
   struct agx_hw_buffer words = {expected, sizeof(expected), 0};
   const struct agx_hw_usc_program usc = {.code_offset = it->add->code_offset_B,
                                          .gpr_halves = program->gpr_halves};
   assert_ok(agx_hw_usc_uniforms(&words, 0, 10, contents_va));
   assert_ok(agx_hw_usc_compute(&words, &usc));
   memcpy(expected + 32, contents, sizeof(contents));
   assert_memory_equal(block_of(commands, number), expected, 32 + sizeof(contents));
}

static void check_words(const struct add_launch *it, const struct agx_command_buffer *commands,
                        uint32_t number)
{
   const struct agx_chip *chip = agxw_device_info(agx_context_of(commands->device)->winsys)->chip;
   const uint32_t *launch = stream_launch(commands, number);
   const struct agx_hw_launch expected = {.uniform_halves = it->add->program->uniform_halves,
                                          .usc_offset = launch[1],
                                          .global = {96, 2, 1},
                                          .local = {32, 1, 1}};
   uint8_t memory[64];
   struct agx_hw_buffer words = {memory, sizeof(memory), 0};
   assert_ok(agx_hw_cdm_launch(&words, chip, &expected));
   assert_memory_equal(launch, memory, words.used);
   words.used = 0;
   assert_ok(agx_hw_cdm_barrier(&words));
   assert_memory_equal((const uint8_t *)launch + it->add->plan.stream_B, memory, 4);
}

static void both_ways_write_the_same(void **state)
{
   static const char *const devices[] = {"virtual:g13g", "virtual:g14d"};
   for (size_t i = 0; i < AGX_COUNT(devices); i++) {
      struct add_launch it;
      open_add_launch(&it, devices[i]);
      assert_true(it.add->template.is_plain);
      struct agx_command_buffer *commands = fixture_begin(&it.f);
      const struct agx_binding turned[2] = {it.bindings[1], it.bindings[0]};
      assert_ok(agx_cmd_dispatch(commands, &it.dispatch));
      assert_ok(agx_cmd_barrier(commands, NULL));
      it.dispatch.bindings = turned; /* out of order: the general path */
      assert_ok(agx_cmd_dispatch(commands, &it.dispatch));
      assert_ok(agx_command_buffer_end(commands));
      assert_string_equal(stream_text(commands), "LBL");
      for (uint32_t number = 0; number < 2; number++) {
         check_block(&it, commands, number);
         check_words(&it, commands, number);
      }
      agx_release(commands);
      close_add_launch(&it);
   }
}

/* Links lead from chunk to chunk, and each dispatch takes under 256 bytes. */
static void chunks_are_linked(void **state)
{
   enum {
      COUNT = 5000
   };
   struct add_launch it;
   open_add_launch(&it, "virtual:g13g");
   struct agx_command_buffer *commands = fixture_begin(&it.f);
   for (uint32_t i = 0; i < COUNT; i++) {
      assert_ok(agx_cmd_dispatch(commands, &it.dispatch));
      assert_ok(agx_cmd_barrier(commands, NULL));
   }
   assert_ok(agx_command_buffer_end(commands));
   uint64_t bytes = 0, chunks = 0;
   for (const struct agx_chunk *chunk = commands->first; chunk; chunk = chunk->next, chunks++)
      bytes += chunk->usable_B + AGX_CHUNK_PREFETCH_B;
   assert_true(chunks > 3);
   assert_true(bytes + commands->runs.capacity * sizeof(struct agx_run) < 256 * COUNT);
   assert_int_equal(strlen(stream_text(commands)), 2 * COUNT - 1);
   check_block(&it, commands, 0);
   check_block(&it, commands, COUNT - 1);
   agx_release(commands);
   close_add_launch(&it);
}

/* The last launch of many runs, and the breadcrumb. */
static void long_streams_run(void **state)
{
   enum {
      COUNT = 33000
   };
   struct add_launch it;
   open_add_launch(&it, "virtual:g13g");
   struct agx_semaphore *done = fixture_semaphore(&it.f);
   struct agx_command_buffer *commands = fixture_begin(&it.f);
   void *memory;
   assert_ok(agx_buffer_map(it.buffers[1], &memory));
   it.dispatch.workgroups[0] = it.dispatch.workgroups[1] = 1;
   for (uint32_t i = 0; i < COUNT; i++) {
      it.push = i;
      assert_ok(agx_cmd_dispatch(commands, &it.dispatch));
      assert_ok(agx_cmd_barrier(commands, NULL));
   }
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&it.f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   assert_int_equal(((uint32_t *)memory)[4], COUNT - 1);
   assert_int_equal(atomic_load(&agx_command_buffer_breadcrumb(commands)->words->counts[0]), 1);
   agx_release(commands);
   agx_release(done);
   close_add_launch(&it);
}

/* Recording again makes no request and no allocation: each would fail. */
static void recording_again_needs_nothing(void **state)
{
   enum {
      COUNT = 3000
   };
   struct failing_alloc alloc;
   struct failing_kmd kmd;
   size_t image_B;
   void *image = agx_test_kernel_elf(&agx_test_add, "g13g", &image_B);
   failing_alloc_init(&alloc, SIZE_MAX / 2);
   failing_kmd_open(&kmd);
   const struct agx_alloc_callbacks callbacks = {alloc.alloc.user, alloc.alloc.alloc,
                                                 alloc.alloc.free};
   const struct agx_instance_desc desc = {.size = sizeof(desc), .alloc = &callbacks};
   const struct agx_executable_desc kernel = {
      .size = sizeof(kernel), .data = image, .data_B = image_B};
   struct add_launch it = {.push = 1};
   assert_ok(agx_instance_create(&desc, &it.f.instance));
   assert_ok(agx_device_open_kmd(it.f.instance, &kmd.base, &it.f.device));
   assert_ok(agx_executable_create(it.f.device, &kernel, &it.add));
   free(image);
   fill_add_launch(&it);
   struct agx_command_buffer *commands = fixture_begin(&it.f);
   for (int round = 0; round < 3; round++) {
      size_t left = atomic_load(&alloc.remaining);
      if (round == 2) {
         atomic_store(&alloc.remaining, 0);
         failing_kmd_arm(&kmd, 0, 0, ENOMEM);
      }
      assert_ok(agx_command_buffer_begin(commands));
      for (uint32_t i = 0; i < COUNT; i++) {
         assert_ok(agx_cmd_dispatch(commands, &it.dispatch));
         assert_ok(agx_cmd_barrier(commands, NULL));
      }
      assert_ok(agx_command_buffer_end(commands));
      failing_kmd_disarm(&kmd);
      atomic_store(&alloc.remaining, left);
   }
   assert_int_equal(strlen(stream_text(commands)), 2 * COUNT - 1);
   agx_release(commands);
   close_add_launch(&it);
   failing_kmd_await_close(&kmd);
   failing_alloc_await_end(&alloc);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_ways_write_the_same),
      cmocka_unit_test(chunks_are_linked),
      cmocka_unit_test(long_streams_run),
      cmocka_unit_test(recording_again_needs_nothing),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
