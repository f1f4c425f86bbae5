/* SPDX-License-Identifier: MIT
 *
 * Buffers: memory, addresses, kinds.
 */
#include "conformance.h"

static void memory_is_zero_and_whole(void **state)
{
   static const uint64_t sizes[] = {1, 3, 4, 4095, 16383, 16384, 16385, 1 << 20};
   struct fixture *f = conformance_device(state);
   for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
      uint32_t *words;
      struct agx_buffer_info info = {.size = sizeof(info)};
      struct agx_buffer *buffer = fixture_buffer(f, sizes[i], &words);
      uint8_t *bytes = (uint8_t *)words;
      agx_buffer_get_info(buffer, &info);
      assert_true(info.size_B == sizes[i]);
      assert_int_equal(info.address % f->info.page_B, 0);
      for (uint64_t at = 0; at < sizes[i]; at++)
         assert_int_equal(bytes[at], 0);
      bytes[0] = bytes[sizes[i] - 1] = 0xee; /* the next one must not see it */
      agx_release(buffer);
   }
}

static void map_gives_the_same_memory(void **state)
{
   struct fixture *f = conformance_device(state);
   uint32_t *words;
   void *again = NULL;
   struct agx_buffer *buffer = fixture_buffer(f, 64, &words);
   assert_ok(agx_buffer_map(buffer, &again));
   assert_ptr_equal(again, words);
   agx_release(buffer);
}

static void buffers_do_not_overlap(void **state)
{
   enum {
      COUNT = 40
   };
   struct fixture *f = conformance_device(state);
   struct agx_buffer *buffers[COUNT];
   struct agx_buffer_info infos[COUNT];
   uint32_t *words[COUNT];
   for (uint32_t i = 0; i < COUNT; i++) {
      buffers[i] = fixture_buffer(f, 16384 * (1 + i % 3), &words[i]);
      infos[i].size = sizeof(infos[i]);
      agx_buffer_get_info(buffers[i], &infos[i]);
      words[i][0] = i;
   }
   for (uint32_t i = 0; i < COUNT; i++) {
      assert_int_equal(words[i][0], i);
      for (uint32_t j = 0; j < i; j++)
         assert_true(infos[i].address + infos[i].size_B <= infos[j].address ||
                     infos[j].address + infos[j].size_B <= infos[i].address);
   }
   for (uint32_t i = 0; i < COUNT; i++)
      agx_release(buffers[i]);
}

static struct agx_buffer *create(struct fixture *f, uint32_t flags, uint32_t **out_words)
{
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = 4096, .flags = flags, .label = "numbers"};
   struct agx_buffer *buffer = NULL;
   void *memory = NULL;
   assert_ok(agx_buffer_create(f->device, &desc, &buffer));
   assert_ok(agx_buffer_map(buffer, &memory));
   *out_words = memory;
   return buffer;
}

/* Kernels see what the host wrote and the other way round, whatever the caching. */
static void every_kind_is_coherent(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *add = fixture_kernel(f, &agx_test_add);
   for (uint32_t kind = 0; kind < 4; kind++) {
      uint32_t *x_words, *y_words, push = 1000;
      struct agx_buffer *x = create(f, kind, &x_words);
      struct agx_buffer *y = create(f, kind & AGX_BUFFER_HOST_READ, &y_words);
      struct agx_command_buffer *commands = fixture_begin(f);
      for (uint32_t i = 0; i < 32; i++)
         x_words[i] = i * i;
      fixture_dispatch(commands, add, 1, (struct agx_buffer *[]){x, y}, 2, &push, 4);
      conformance_run(f, commands);
      for (uint32_t i = 0; i < 32; i++)
         assert_int_equal(y_words[i], i * i + 1000);
      agx_release(commands);
      agx_release(x);
      agx_release(y);
   }
   agx_release(add);
}

static void a_failed_create_gives_null(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = (1ull << 37) + 1};
   struct agx_buffer *buffer = (void *)1;
   assert_fails(agx_buffer_create(f->device, &desc, &buffer), AGX_INVALID_ARGUMENT, "137438953473");
   assert_null(buffer);
   desc.size_B = 4;
   desc.next = &desc;
   assert_fails(agx_buffer_create(f->device, &desc, &buffer), AGX_UNIMPLEMENTED, "next");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_zero_and_whole),   cmocka_unit_test(map_gives_the_same_memory),
      cmocka_unit_test(buffers_do_not_overlap),     cmocka_unit_test(every_kind_is_coherent),
      cmocka_unit_test(a_failed_create_gives_null),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
