/* SPDX-License-Identifier: MIT
 *
 * Buffers in host memory: what may be mapped, and that all mappings show one memory.
 */
#include "conformance.h"

#include <string.h>

#define SIZE_B 256u

static struct agx_buffer *create(struct fixture *f, struct agx_buffer_desc desc)
{
   struct agx_buffer *buffer;
   desc.size = sizeof(desc);
   desc.size_B = SIZE_B;
   desc.label = "numbers";
   assert_ok(agx_buffer_create(f->device, &desc, &buffer));
   return buffer;
}

static void *map_range(struct agx_buffer *buffer, uint64_t offset_B, uint64_t length_B,
                       uint32_t access)
{
   void *memory = NULL;
   assert_ok(agx_buffer_map_range(buffer, offset_B, length_B, access, &memory));
   assert_non_null(memory);
   return memory;
}

static void write_data(struct agx_buffer *buffer, uint64_t offset_B, const void *data,
                       uint64_t length_B)
{
   memcpy(map_range(buffer, offset_B, length_B, AGX_ACCESS_WRITE | AGX_ACCESS_DISCARD), data,
          length_B);
   assert_ok(agx_buffer_flush(buffer, offset_B, length_B));
   assert_ok(agx_buffer_unmap(buffer));
}

static void read_data(struct agx_buffer *buffer, uint64_t offset_B, void *data, uint64_t length_B)
{
   const void *memory = map_range(buffer, offset_B, length_B, AGX_ACCESS_READ);
   assert_ok(agx_buffer_invalidate(buffer, offset_B, length_B));
   memcpy(data, memory, length_B);
   assert_ok(agx_buffer_unmap(buffer));
}

static void allocator_supports_buffer_mapping(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_buffer_desc desc = {.size = sizeof(desc),
                                  .memory = AGX_MEMORY_DEVICE_LOCAL | AGX_MEMORY_HOST_VISIBLE,
                                  .usage = AGX_USAGE_TRANSFER | AGX_USAGE_MAPPING};
   uint64_t size_B = SIZE_B;
   assert_true(agx_buffer_compat(f->device, &desc, &size_B) & AGX_COMPAT_ALLOCATE);
   assert_true(desc.memory & AGX_MEMORY_HOST_VISIBLE);
}

static void read_and_write(struct fixture *f, uint64_t offset_B, uint64_t length_B)
{
   uint8_t data[SIZE_B], expected[SIZE_B] = {0};
   struct agx_buffer *buffer = create(f, (struct agx_buffer_desc){0});
   for (uint32_t i = 0; i < SIZE_B; i++)
      data[i] = (uint8_t)(i * 7 + 1);
   memcpy(expected + offset_B, data, length_B);
   write_data(buffer, offset_B, data, length_B);
   memset(data, 0xee, sizeof(data));
   read_data(buffer, 0, data, SIZE_B);
   assert_memory_equal(data, expected, SIZE_B);
   memset(data, 0xee, sizeof(data));
   read_data(buffer, offset_B, data, length_B);
   assert_memory_equal(data, expected + offset_B, length_B);
   assert_true(length_B == SIZE_B || data[length_B] == 0xee);
   agx_release(buffer);
}

static void read_data_whole(void **state)
{
   struct fixture *f = conformance_device(state);
   uint8_t data[SIZE_B];
   struct agx_buffer *buffer = create(f, (struct agx_buffer_desc){0});
   read_data(buffer, 0, data, SIZE_B);
   for (uint32_t i = 0; i < SIZE_B; i++)
      assert_int_equal(data[i], 0);
   agx_release(buffer);
}

static void read_data_subspan(void **state)
{
   read_and_write(conformance_device(state), 31, 77);
}

static void write_data_whole_buffer(void **state)
{
   read_and_write(conformance_device(state), 0, SIZE_B);
}

static void write_data_with_offset(void **state)
{
   read_and_write(conformance_device(state), 3, SIZE_B - 3);
}

static void write_data_subspan(void **state)
{
   read_and_write(conformance_device(state), 17, 1);
}

static void copy_data(void **state)
{
   struct fixture *f = conformance_device(state);
   uint8_t data[SIZE_B];
   struct agx_buffer *from = create(f, (struct agx_buffer_desc){.flags = AGX_BUFFER_HOST_READ});
   struct agx_buffer *to = create(f, (struct agx_buffer_desc){0});
   for (uint32_t i = 0; i < SIZE_B; i++)
      data[i] = (uint8_t)(i ^ 0x5a);
   write_data(from, 0, data, SIZE_B);
   memcpy(map_range(to, 8, 100, AGX_ACCESS_WRITE), map_range(from, 50, 100, AGX_ACCESS_READ), 100);
   assert_ok(agx_buffer_unmap(from));
   assert_ok(agx_buffer_unmap(to));
   uint8_t result[SIZE_B];
   read_data(to, 0, result, SIZE_B);
   assert_memory_equal(result + 8, data + 50, 100);
   assert_int_equal(result[7] | result[108], 0);
   agx_release(from);
   agx_release(to);
}

static void map_range_read(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_buffer *buffer = create(f, (struct agx_buffer_desc){.access = AGX_ACCESS_READ});
   void *memory = (void *)1;
   const uint8_t *bytes = map_range(buffer, 100, AGX_WHOLE_LENGTH, AGX_ACCESS_READ);
   for (uint32_t i = 0; i < SIZE_B - 100; i++)
      assert_int_equal(bytes[i], 0);
   assert_ok(agx_buffer_unmap(buffer));
   assert_fails(agx_buffer_map_range(buffer, 0, 4, AGX_ACCESS_WRITE, &memory),
                AGX_PERMISSION_DENIED, "numbers: access 0x2");
   assert_null(memory);
   assert_fails(agx_buffer_map(buffer, &memory), AGX_PERMISSION_DENIED, "numbers");
   assert_fails(agx_buffer_flush(buffer, 0, 4), AGX_PERMISSION_DENIED, "numbers");
   agx_release(buffer);
}

/* All of one buffer's mappings are one memory, and the GPU sees what was written to them. */
static void map_range_write(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *add = fixture_kernel(f, &agx_test_add);
   struct agx_buffer *buffer = create(f, (struct agx_buffer_desc){0});
   uint32_t *y_words, push = 5;
   struct agx_buffer *y = fixture_buffer(f, 128, &y_words);
   void *whole;
   assert_ok(agx_buffer_map(buffer, &whole));
   uint32_t *part = map_range(buffer, 64, 64, AGX_ACCESS_WRITE);
   assert_ptr_equal(part, (uint32_t *)whole + 16);
   for (uint32_t i = 0; i < 16; i++)
      part[i] = i + 1;
   assert_ok(agx_buffer_unmap(buffer));
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, add, 1, (struct agx_buffer *[]){buffer, y}, 2, &push, 4);
   conformance_run(f, commands);
   for (uint32_t i = 0; i < 32; i++)
      assert_int_equal(y_words[i], i < 16 ? 5 : i - 15 + 5);
   agx_release(commands);
   agx_release(y);
   agx_release(buffer);
   agx_release(add);
}

static void memory_of_the_gpu_alone_is_not_mapped(void **state)
{
   static const struct agx_buffer_desc kinds[] = {
      {.memory = AGX_MEMORY_DEVICE_LOCAL},
      {.usage = AGX_USAGE_TRANSFER | AGX_USAGE_DISPATCH},
   };
   struct fixture *f = conformance_device(state);
   for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
      struct agx_buffer *buffer = create(f, kinds[i]);
      void *memory = (void *)1;
      assert_fails(agx_buffer_map(buffer, &memory), AGX_PERMISSION_DENIED, "numbers: the host");
      assert_null(memory);
      assert_fails(agx_buffer_map_range(buffer, 0, 4, AGX_ACCESS_READ, &memory),
                   AGX_PERMISSION_DENIED, "AGX_USAGE_MAPPING");
      assert_fails(agx_buffer_invalidate(buffer, 0, 4), AGX_PERMISSION_DENIED, "numbers");
      agx_release(buffer);
   }
}

static void ranges_are_checked(void **state)
{
   static const struct {
      uint64_t offset_B, length_B;
      agx_status status;
   } cases[] = {
      {0, 256, AGX_OK},
      {256, 0, AGX_OK},
      {256, AGX_WHOLE_LENGTH, AGX_OK},
      {0, 257, AGX_OUT_OF_RANGE},
      {257, 0, AGX_OUT_OF_RANGE},
      {257, AGX_WHOLE_LENGTH, AGX_OUT_OF_RANGE},
      {1, UINT64_MAX - 1, AGX_OUT_OF_RANGE},
      {UINT64_MAX, 2, AGX_OUT_OF_RANGE},
      {255, 2, AGX_OUT_OF_RANGE},
   };
   struct fixture *f = conformance_device(state);
   struct agx_buffer *buffer = create(f, (struct agx_buffer_desc){0});
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      uint64_t offset_B = cases[i].offset_B, length_B = cases[i].length_B;
      void *memory;
      assert_int_equal(agx_buffer_map_range(buffer, offset_B, length_B, AGX_ACCESS_READ, &memory),
                       cases[i].status);
      assert_int_equal(!memory, cases[i].status != AGX_OK);
      assert_int_equal(agx_buffer_flush(buffer, offset_B, length_B), cases[i].status);
      assert_int_equal(agx_buffer_invalidate(buffer, offset_B, length_B), cases[i].status);
      if (memory)
         assert_ok(agx_buffer_unmap(buffer));
   }
   void *memory;
   assert_fails(agx_buffer_map_range(buffer, 0, 4, 0, &memory), AGX_INVALID_ARGUMENT, "access 0");
   assert_fails(agx_buffer_map_range(buffer, 0, 4, 8, &memory), AGX_INVALID_ARGUMENT, "0x8");
   agx_release(buffer);
}

/* A mapped range keeps its buffer; what was not mapped can't be unmapped. */
static void mappings_keep_their_buffer(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_buffer *buffer = create(f, (struct agx_buffer_desc){0});
   uint32_t *words = map_range(buffer, 0, 4, AGX_ACCESS_READ | AGX_ACCESS_WRITE);
   uint32_t *again = map_range(buffer, 4, 4, AGX_ACCESS_READ);
   assert_ptr_equal(again, words + 1);
   agx_release(buffer);
   words[1] = 12;
   assert_int_equal(again[0], 12);
   assert_ok(agx_buffer_unmap(buffer));
   words[1] = 13;
   agx_retain(buffer);
   assert_ok(agx_buffer_unmap(buffer));
   assert_fails(agx_buffer_unmap(buffer), AGX_FAILED_PRECONDITION, "numbers: not mapped");
   agx_release(buffer);
}

/* ---- filling, writing and reading by the library ---------------------------- */

static void check_fill(void **state, uint64_t offset, uint64_t length, uint64_t really,
                       uint32_t pattern, uint32_t pattern_B)
{
   struct fixture *f = conformance_device(state);
   struct agx_buffer *buffer = create(f, (struct agx_buffer_desc){0});
   uint8_t bytes[SIZE_B], model[SIZE_B];
   memset(model, 0x77, sizeof(model));
   assert_ok(agx_buffer_write(buffer, 0, sizeof(model), model));
   assert_ok(agx_buffer_fill(buffer, offset, length, &pattern, pattern_B));
   for (uint64_t i = 0; i < really; i++)
      model[offset + i] = (uint8_t)(pattern >> i % pattern_B * 8);
   assert_ok(agx_buffer_read(buffer, 0, AGX_WHOLE_LENGTH, bytes));
   assert_memory_equal(bytes, model, sizeof(model));
   agx_release(buffer);
}

#define FILL_CASE(name, ...)                                                                       \
   static void name(void **state)                                                                  \
   {                                                                                               \
      check_fill(state, __VA_ARGS__);                                                              \
   }
FILL_CASE(zero_whole_buffer, 0, AGX_WHOLE_LENGTH, SIZE_B, 0, 1)
FILL_CASE(zero_with_offset, 16, AGX_WHOLE_LENGTH, SIZE_B - 16, 0, 1)
FILL_CASE(zero_subspan, 4, 8, 8, 0, 1)
FILL_CASE(fill_empty, 32, 0, 0, 0xbf, 1)
FILL_CASE(fill_whole_buffer, 0, AGX_WHOLE_LENGTH, SIZE_B, 0xbadf00d5, 4)
FILL_CASE(fill_with_offset, 6, AGX_WHOLE_LENGTH, SIZE_B - 6, 0xbadf, 2)
FILL_CASE(fill_subspan, 5, 7, 7, 0xbf, 1)

static void library_accesses_are_checked(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_buffer *buffer = create(f, (struct agx_buffer_desc){0});
   uint32_t word = 0;
   assert_fails(agx_buffer_read(buffer, 253, 4, &word), AGX_OUT_OF_RANGE, "253");
   assert_fails(agx_buffer_read(buffer, 0, 4, NULL), AGX_INVALID_ARGUMENT, "NULL");
   assert_fails(agx_buffer_write(buffer, 253, 4, &word), AGX_OUT_OF_RANGE, "253");
   assert_fails(agx_buffer_write(buffer, 0, 4, NULL), AGX_INVALID_ARGUMENT, "NULL");
   assert_fails(agx_buffer_fill(buffer, 253, 4, &word, 1), AGX_OUT_OF_RANGE, "253");
   assert_fails(agx_buffer_fill(buffer, 2, 4, &word, 4), AGX_INVALID_ARGUMENT, "offset 2");
   assert_ok(agx_buffer_read(buffer, SIZE_B, 0, NULL));
   agx_release(buffer);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(allocator_supports_buffer_mapping),
      cmocka_unit_test(zero_whole_buffer),
      cmocka_unit_test(zero_with_offset),
      cmocka_unit_test(zero_subspan),
      cmocka_unit_test(fill_empty),
      cmocka_unit_test(fill_whole_buffer),
      cmocka_unit_test(fill_with_offset),
      cmocka_unit_test(fill_subspan),
      cmocka_unit_test(library_accesses_are_checked),
      cmocka_unit_test(read_data_whole),
      cmocka_unit_test(read_data_subspan),
      cmocka_unit_test(write_data_whole_buffer),
      cmocka_unit_test(write_data_with_offset),
      cmocka_unit_test(write_data_subspan),
      cmocka_unit_test(copy_data),
      cmocka_unit_test(map_range_read),
      cmocka_unit_test(map_range_write),
      cmocka_unit_test(memory_of_the_gpu_alone_is_not_mapped),
      cmocka_unit_test(ranges_are_checked),
      cmocka_unit_test(mappings_keep_their_buffer),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
