/* SPDX-License-Identifier: MIT
 *
 * The cache on disk at its limit, and used by many processes.
 */
#include "disk_cache_scene.h"

/* ---- the limit ---- */

static void set_age(const struct folder *f, uint32_t number, time_t seconds)
{
   const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
   assert_int_equal(utimensat(AT_FDCWD, path_of(f, number), times, 0), 0);
}

static void the_oldest_make_room(void **state)
{
   enum {
      FILE_B = AGX_DISK_HEAD_B + BYTES
   };
   struct folder f;
   uint64_t bytes;
   make_folder(&f, 8 * FILE_B);
   for (uint32_t i = 0; i < 8; i++) {
      put(&f, i);
      set_age(&f, i, 1000 + i);
   }
   assert_int_equal(count_files(&f, ".agx", &bytes), 8);
   assert_true(has(&f, 0)); /* used: now the newest */
   put(&f, 8);
   assert_int_equal(count_files(&f, ".agx", &bytes), 6);
   assert_true(bytes <= f.cache.max_B);
   assert_int_equal(stats_of(&f).evicted, 3);
   assert_true(has(&f, 0));
   for (uint32_t i = 1; i < 4; i++)
      assert_false(has(&f, i));
   for (uint32_t i = 4; i < 9; i++)
      assert_true(has(&f, i));
   remove_folder(&f);
}

static void what_is_too_large_is_not_kept(void **state)
{
   struct folder f;
   make_folder(&f, AGX_DISK_HEAD_B + BYTES - 1);
   put(&f, 1);
   assert_false(has(&f, 1));
   remove_folder(&f);
   make_folder(&f, AGX_DISK_HEAD_B + BYTES);
   put(&f, 1);
   assert_true(has(&f, 1));
   put(&f, 2);
   assert_false(has(&f, 1));
   assert_true(has(&f, 2));
   remove_folder(&f);
}

/* A lost or damaged sum is counted anew; nothing but the cache's own files goes. */
static void the_index_mends_itself(void **state)
{
   static const uint8_t zeros[16] = {0};
   struct folder f;
   uint64_t bytes;
   make_folder(&f, 4 * (AGX_DISK_HEAD_B + BYTES));
   write_file(in_folder(&f, "precious.agx"), "mine", 4);
   write_file(in_folder(&f, "tmp.of.the.dead"), "gone", 4);
   const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
   assert_int_equal(utimensat(AT_FDCWD, in_folder(&f, "tmp.of.the.dead"), old, 0), 0);
   for (uint32_t i = 0; i < 40; i++) {
      if (i % 3 == 0)
         unlink(in_folder(&f, "index"));
      if (i % 3 == 1)
         write_file(in_folder(&f, "index"), zeros, i % sizeof(zeros));
      put(&f, i);
      assert_true(has(&f, i));
      count_files(&f, "0.agx", &bytes);
      assert_true(bytes <= f.cache.max_B);
   }
   assert_int_equal(access(in_folder(&f, "precious.agx"), F_OK), 0);
   assert_int_equal(access(in_folder(&f, "tmp.of.the.dead"), F_OK), -1);
   remove_folder(&f);
}

/* A process that stands still with the lock costs others their entry, not their time. */
static void a_held_lock_stops_nobody(void **state)
{
   struct folder f;
   uint64_t bytes;
   make_folder(&f, 1 << 20);
   put(&f, 1);
   int index = open(in_folder(&f, "index"), O_RDWR | O_CLOEXEC);
   assert_int_equal(flock(index, LOCK_EX), 0);
   put(&f, 2);
   assert_false(has(&f, 2));
   assert_int_equal(stats_of(&f).store_failures, 1);
   assert_int_equal(count_files(&f, "tmp.", &bytes), 0);
   close(index);
   put(&f, 2);
   assert_true(has(&f, 2));
   remove_folder(&f);
}

/* ---- processes ---- */

enum {
   PROCESSES = 6,
   KEYS = 40,
   ROUNDS = 150
};

/* Files of a size that lets them stay a moment: each get is right or nothing. */
static void work(struct folder *f, uint32_t seed)
{
   struct agx_test_rng rng = {0x1234567 + seed};
   for (int i = 0; i < ROUNDS; i++) {
      uint32_t number = (uint32_t)agx_test_random_below(&rng, KEYS);
      if (!has(f, number))
         put(f, number);
      if (agx_test_random_below(&rng, 10) == 0)
         unlink(path_of(f, (uint32_t)agx_test_random_below(&rng, KEYS)));
      if (agx_test_random_below(&rng, 10) == 0)
         (void)!truncate(path_of(f, (uint32_t)agx_test_random_below(&rng, KEYS)), (off_t)(i % 400));
   }
}

static void processes_share_a_folder(void **state)
{
   struct folder f;
   pid_t children[PROCESSES];
   make_folder(&f, 20 * (AGX_DISK_HEAD_B + BYTES));
   put(&f, 0); /* the children inherit an open cache, as after a program's own fork */
   for (uint32_t i = 0; i < PROCESSES; i++) {
      children[i] = fork();
      assert_true(children[i] >= 0);
      if (children[i] == 0) {
         work(&f, i);
         _exit(0);
      }
   }
   for (uint32_t i = 0; i < PROCESSES; i++) {
      int status;
      assert_int_equal(waitpid(children[i], &status, 0), children[i]);
      assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
   }
   uint64_t bytes;
   put(&f, 1000);
   assert_int_equal(count_files(&f, "tmp.", &bytes), 0);
   count_files(&f, ".agx", &bytes);
   assert_true(bytes <= f.cache.max_B);
   remove_folder(&f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_oldest_make_room),     cmocka_unit_test(what_is_too_large_is_not_kept),
      cmocka_unit_test(the_index_mends_itself),   cmocka_unit_test(a_held_lock_stops_nobody),
      cmocka_unit_test(processes_share_a_folder),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
