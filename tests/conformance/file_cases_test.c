/* SPDX-License-Identifier: MIT
 *
 * The cases of the reference for files: read and write, whole and in part.
 */
#include "file_scene.h"

/* ---- the five cases ------------------------------------------------------- */

static void read_entire_file(void **state)
{
   struct fixture *f = conformance_device(state);
   for (int is_memory = 0; is_memory < 2; is_memory++) {
      struct medium medium;
      uint32_t *words;
      struct agx_buffer *buffer = fixture_buffer(f, 4097, &words);
      medium_open(f, &medium, is_memory, 4097);
      medium_fill(&medium);
      assert_ok(run(f, file_op(AGX_OP_READ, medium.file, 0, buffer, 0, AGX_WHOLE_LENGTH)));
      for (unsigned i = 0; i < 4097; i++)
         assert_int_equal(((uint8_t *)words)[i], pattern(i));
      agx_release(buffer);
      medium_close(&medium);
   }
}

static void read_subrange_with_offsets(void **state)
{
   struct fixture *f = conformance_device(state);
   for (int is_memory = 0; is_memory < 2; is_memory++) {
      struct medium medium;
      uint32_t *words;
      struct agx_buffer *buffer = fixture_buffer(f, 512, &words);
      medium_open(f, &medium, is_memory, 1000);
      medium_fill(&medium);
      memset(words, 0xee, 512);
      assert_ok(run(f, file_op(AGX_OP_READ, medium.file, 123, buffer, 45, 301)));
      for (unsigned i = 0; i < 512; i++)
         assert_int_equal(((uint8_t *)words)[i],
                          i >= 45 && i < 45 + 301 ? pattern(123 + i - 45) : 0xee);
      agx_release(buffer);
      medium_close(&medium);
   }
}

static void write_subrange_with_offsets(void **state)
{
   struct fixture *f = conformance_device(state);
   for (int is_memory = 0; is_memory < 2; is_memory++) {
      struct medium medium;
      uint32_t *words;
      struct agx_buffer *buffer = fixture_buffer(f, 512, &words);
      medium_open(f, &medium, is_memory, 1000);
      medium_fill(&medium);
      for (unsigned i = 0; i < 512; i++)
         ((uint8_t *)words)[i] = (uint8_t)~i;
      assert_ok(run(f, file_op(AGX_OP_WRITE, medium.file, 77, buffer, 3, 299)));
      for (unsigned i = 0; i < 1000; i++)
         assert_int_equal(medium_byte(&medium, i),
                          i >= 77 && i < 77 + 299 ? (uint8_t) ~(i - 77 + 3) : pattern(i));
      agx_release(buffer);
      medium_close(&medium);
   }
}

/* The reader comes first; a failure of the writer is the reader's. */
static void chained_write_then_read_with_semaphores(void **state)
{
   struct fixture *f = conformance_device(state);
   for (int is_memory = 0; is_memory < 2; is_memory++) {
      struct medium medium;
      uint32_t *from, *to;
      struct agx_buffer *source = fixture_buffer(f, 256, &from);
      struct agx_buffer *target = fixture_buffer(f, 256, &to);
      struct agx_semaphore *go = fixture_semaphore(f), *line = fixture_semaphore(f);
      uint64_t value;
      medium_open(f, &medium, is_memory, 600);
      assert_ok(submit(f, file_op(AGX_OP_READ, medium.file, 300, target, 0, 256),
                       conformance_point(line, 1), conformance_point(line, 2)));
      assert_ok(submit(f, file_op(AGX_OP_WRITE, medium.file, 300, source, 0, 256),
                       conformance_point(go, 1), conformance_point(line, 1)));
      for (unsigned i = 0; i < 64; i++)
         from[i] = 0x01010101 * i;
      assert_ok(agx_semaphore_query(line, &value));
      assert_int_equal(value, 0);
      assert_ok(agx_semaphore_signal(go, 1));
      assert_ok(fixture_wait(line, 2));
      for (unsigned i = 0; i < 64; i++)
         assert_int_equal(to[i], 0x01010101 * i);
      agx_release(source);
      agx_release(target);
      agx_release(go);
      agx_release(line);
      medium_close(&medium);
   }
}

/* More than a piece, and no whole number of them. */
static void large_range_round_trip(void **state)
{
   enum {
      SIZE = (9 << 20) + 4321
   };
   struct fixture *f = conformance_device(state);
   for (int is_memory = 0; is_memory < 2; is_memory++) {
      struct medium medium;
      struct agx_file_info info = {.size = sizeof(info)};
      uint32_t *from, *to;
      struct agx_buffer *source = fixture_buffer(f, SIZE, &from);
      struct agx_buffer *target = fixture_buffer(f, SIZE, &to);
      medium_open(f, &medium, is_memory, SIZE + 100);
      for (unsigned i = 0; i < SIZE; i++)
         ((uint8_t *)from)[i] = pattern(i);
      assert_ok(run(f, file_op(AGX_OP_WRITE, medium.file, 99, source, 0, SIZE)));
      assert_ok(run(f, file_op(AGX_OP_READ, medium.file, 99, target, 0, SIZE)));
      assert_memory_equal(from, to, SIZE);
      assert_ok(agx_file_get_info(medium.file, &info));
      assert_int_equal(info.length_B, SIZE + 100);
      assert_int_equal(info.read_B, SIZE);
      assert_int_equal(info.written_B, SIZE);
      agx_release(source);
      agx_release(target);
      medium_close(&medium);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(read_entire_file),
      cmocka_unit_test(read_subrange_with_offsets),
      cmocka_unit_test(write_subrange_with_offsets),
      cmocka_unit_test(chained_write_then_read_with_semaphores),
      cmocka_unit_test(large_range_round_trip),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
