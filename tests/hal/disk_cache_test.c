/* SPDX-License-Identifier: MIT
 *
 * The disk cache: what is put comes back to the byte or not at all, whatever happens to the files,
 * which other processes write, and however little room there is.
 */
#include "disk_cache_scene.h"

/* ---- */

static void what_is_put_comes_back(void **state)
{
   struct folder f;
   uint64_t bytes;
   make_folder(&f, 1 << 20);
   assert_false(has(&f, 1));
   put(&f, 1);
   put(&f, 2);
   assert_true(has(&f, 1));
   assert_true(has(&f, 2));
   assert_false(has(&f, 3));
   agx_disk_cache_fini(&f.cache);
   open_cache(&f, 1 << 20);
   assert_true(has(&f, 2)); /* also for the next process */
   assert_int_equal(stats_of(&f).hits, 1);
   assert_int_equal(count_files(&f, "tmp.", &bytes), 0);
   struct stat stat;
   assert_int_equal(lstat(path_of(&f, 1), &stat), 0);
   assert_int_equal(stat.st_mode & 0777, 0600);
   remove_folder(&f);
}

/* The same name with another length of what was hashed is another key. */
static void a_key_is_its_digest_and_its_length(void **state)
{
   struct folder f;
   void *got;
   size_t size;
   make_folder(&f, 1 << 20);
   put(&f, 1);
   struct agx_cache_key key = make_key(1);
   key.material_B++;
   assert_false(agx_disk_cache_find(&f.cache, &key, &got, &size));
   assert_int_equal(stats_of(&f).dropped, 1);
   remove_folder(&f);
}

/* Each byte of a file, changed; and each shorter and a longer file. */
static void damaged_files_are_dropped(void **state)
{
   struct folder f;
   size_t size;
   make_folder(&f, 1 << 20);
   put(&f, 5);
   char *whole = agx_test_read_file(path_of(&f, 5), &size);
   assert_int_equal(size, AGX_DISK_HEAD_B + BYTES);
   uint8_t changed[AGX_DISK_HEAD_B + BYTES + 1] = {0};
   uint64_t dropped = 0;
   for (size_t at = 0; at < size; at++) {
      memcpy(changed, whole, size);
      changed[at] ^= (uint8_t)(1u << at % 8);
      write_file(path_of(&f, 5), changed, size);
      assert_false(has(&f, 5));
      assert_int_equal(access(path_of(&f, 5), F_OK), -1);
      write_file(path_of(&f, 5), whole, at);
      assert_false(has(&f, 5));
      dropped += 2;
   }
   memcpy(changed, whole, size);
   write_file(path_of(&f, 5), changed, size + 1);
   assert_false(has(&f, 5));
   assert_int_equal(stats_of(&f).dropped, dropped + 1);
   write_file(path_of(&f, 5), whole, size);
   assert_true(has(&f, 5));
   free(whole);
   remove_folder(&f);
}

/* A whole file in the place of another one. */
static void files_belong_to_their_names(void **state)
{
   struct folder f;
   size_t size;
   make_folder(&f, 1 << 20);
   put(&f, 1);
   char *whole = agx_test_read_file(path_of(&f, 1), &size);
   write_file(path_of(&f, 2), whole, size);
   assert_false(has(&f, 2));
   assert_true(has(&f, 1));
   free(whole);
   remove_folder(&f);
}

static void links_pipes_and_open_files_are_not_read(void **state)
{
   struct folder f;
   make_folder(&f, 1 << 20);
   put(&f, 1);
   char one[256];
   strcpy(one, path_of(&f, 1));
   assert_int_equal(rename(one, in_folder(&f, "elsewhere")), 0);
   assert_int_equal(symlink("elsewhere", one), 0);
   assert_false(has(&f, 1));
   assert_int_equal(mkfifo(one, 0600), 0);
   assert_false(has(&f, 1));
   put(&f, 1);
   assert_int_equal(chmod(one, 0622), 0); /* any user can have written it */
   assert_false(has(&f, 1));
   assert_int_equal(stats_of(&f).dropped, 3);
   remove_folder(&f);
}

static void others_folders_are_not_used(void **state)
{
   struct folder f;
   make_folder(&f, 1 << 20);
   agx_disk_cache_fini(&f.cache);
   assert_int_equal(chmod(f.path, 0777), 0);
   open_cache(&f, 1 << 20);
   put(&f, 1);
   assert_false(has(&f, 1));
   uint64_t bytes;
   assert_int_equal(count_files(&f, ".agx", &bytes), 0);
   remove_folder(&f);
}

static void folders_are_made(void **state)
{
   struct folder f, deep;
   make_folder(&f, 1 << 20);
   strcpy(deep.path, in_folder(&f, "a"));
   char first[80];
   strcpy(first, deep.path);
   strcat(deep.path, "/b");
   open_cache(&deep, 1 << 20);
   put(&deep, 1);
   assert_true(has(&deep, 1));
   struct stat stat;
   assert_int_equal(lstat(first, &stat), 0);
   assert_int_equal(stat.st_mode & 0777, 0700);
   remove_folder(&deep);
   remove_folder(&f);
}

static void no_folder_no_cache(void **state)
{
   static const char *const paths[] = {"/proc/agxhal", "/dev/null/agxhal", "/dev/null"};
   for (size_t i = 0; i < AGX_COUNT(paths); i++) {
      struct folder f;
      strcpy(f.path, paths[i]);
      open_cache(&f, 1 << 20);
      put(&f, 1);
      assert_false(has(&f, 1));
      assert_int_equal(stats_of(&f).stored, 0);
      agx_disk_cache_fini(&f.cache);
   }
}

/* Root may write everywhere; then a file in the way of the index does. */
static void what_cannot_be_written_is_read(void **state)
{
   struct folder f;
   make_folder(&f, 1 << 20);
   put(&f, 1);
   if (geteuid() == 0) {
      unlink(in_folder(&f, "index"));
      assert_int_equal(mkdir(in_folder(&f, "index"), 0700), 0);
   } else {
      assert_int_equal(chmod(f.path, 0500), 0);
   }
   put(&f, 2);
   assert_true(has(&f, 1));
   assert_false(has(&f, 2));
   assert_int_equal(stats_of(&f).store_failures, 1);
   uint64_t bytes;
   assert_int_equal(count_files(&f, "tmp.", &bytes), 0);
   remove_folder(&f);
}

/* ---- the environment ---- */

static void the_environment_says_where(void **state)
{
   static const struct {
      const char *dir, *xdg, *home, *limit, *path;
      uint64_t max_B;
   } rows[] = {
      {"/a/b", "/xdg", "/home/me", NULL, "/a/b", AGX_DISK_CACHE_MAX_B},
      {"", "/xdg", "/home/me", NULL, NULL, AGX_DISK_CACHE_MAX_B},
      {NULL, "/xdg", "/home/me", "", "/xdg/agxhal", AGX_DISK_CACHE_MAX_B},
      {NULL, "relative", "/home/me", "77", "/home/me/.cache/agxhal", 77},
      {NULL, NULL, "/home/me", "3M", "/home/me/.cache/agxhal", 3 << 20},
      {NULL, NULL, NULL, "2G", NULL, 2ull << 30},
      {"/a", NULL, NULL, "0", NULL, 0},
   };
   static const char *const wrong[] = {"lots",           "-1", "3T", "3MB", "99999999999999999999",
                                       "99999999999999G"};
   static const char *const names[] = {"AGX_CACHE_DIR", "XDG_CACHE_HOME", "HOME",
                                       "AGX_CACHE_MAX_B"};
   struct agx_disk_cache cache;
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      const char *const values[] = {rows[i].dir, rows[i].xdg, rows[i].home, rows[i].limit};
      for (size_t k = 0; k < AGX_COUNT(names); k++)
         values[k] ? setenv(names[k], values[k], 1) : unsetenv(names[k]);
      assert_ok(agx_disk_cache_init(&cache, agx_host_alloc_default(), false));
      assert_int_equal(cache.max_B, rows[i].max_B);
      assert_true(!cache.path == !rows[i].path);
      if (cache.path)
         assert_string_equal(cache.path, rows[i].path);
      agx_disk_cache_fini(&cache);
   }
   for (size_t i = 0; i < AGX_COUNT(wrong); i++) {
      setenv("AGX_CACHE_MAX_B", wrong[i], 1);
      assert_fails(agx_disk_cache_init(&cache, agx_host_alloc_default(), false),
                   AGX_INVALID_ARGUMENT, wrong[i]);
   }
   unsetenv("AGX_CACHE_MAX_B");
}

/* ---- keys ---- */

static void all_that_changes_code_is_in_the_key(void **state)
{
   static const uint32_t words[] = {0x07230203, 0x10000, 0, 8, 0}, others[] = {1, 0x10000, 0, 8, 0};
   const struct agxc_spec specs[2] = {{1, 4, 2}, {1, 4, 3}};
   const struct agxc_robust_binding robust[2] = {{0, 1, AGXC_ROBUST_ZERO},
                                                 {1, 0, AGXC_ROBUST_ZERO}};
   const struct agxc_attribute attributes[2] = {
      {.location = 1, .format = agx_vertex_format_at(0), .stride_B = 4},
      {.location = 1, .format = agx_vertex_format_at(1), .stride_B = 4}};
   const struct agx_chip *chip = agx_chip_find("g13g"), *chip2 = agx_chip_find("g14d");
   const struct agxc_options rows[] = {
      {.chip = chip},
      {.chip = chip2},
      {.chip = chip, .entry = ""},
      {.chip = chip, .entry = "main"},
      {.chip = chip, .specs = specs, .spec_count = 1},
      {.chip = chip, .specs = specs + 1, .spec_count = 1},
      {.chip = chip, .specs = specs, .spec_count = 2},
      {.chip = chip, .robustness = AGXC_ROBUST_CLAMP},
      {.chip = chip, .robustness = AGXC_ROBUST_ZERO},
      {.chip = chip, .robust_bindings = robust, .robust_binding_count = 1},
      {.chip = chip, .robust_bindings = robust + 1, .robust_binding_count = 1},
      {.chip = chip, .attributes = attributes, .attribute_count = 1},
      {.chip = chip, .attributes = attributes + 1, .attribute_count = 1},
      {.chip = chip, .index_B = 2},
      {.chip = chip, .debug = AGXC_DEBUG_NO_OPT},
      {.chip = chip, .most_halves = 64},
      {.chip = chip, .has_dynamic_local_size = true},
      {.chip = chip, .has_dynamic_shared = true},
   };
   struct agx_cache_key keys[AGX_COUNT(rows) + 3], again;
   uint32_t count = 0;
   for (; count < AGX_COUNT(rows); count++)
      agx_cache_key_make(words, sizeof(words), &rows[count], NULL, &keys[count]);
   agx_cache_key_make(words, sizeof(words) - 4, &rows[0], NULL, &keys[count++]);
   agx_cache_key_make(others, sizeof(others), &rows[0], NULL, &keys[count++]);
   agx_cache_key_make(words, sizeof(words), &rows[0], "a compiler of tomorrow", &keys[count++]);
   for (uint32_t i = 0; i < count; i++)
      for (uint32_t j = 0; j < i; j++)
         assert_memory_not_equal(keys[i].digest, keys[j].digest, AGX_DIGEST_B);
   agx_cache_key_make(words, sizeof(words), &rows[0], NULL, &again);
   assert_memory_equal(again.digest, keys[0].digest, AGX_DIGEST_B);
   assert_int_equal(again.material_B, keys[0].material_B);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_put_comes_back),
      cmocka_unit_test(a_key_is_its_digest_and_its_length),
      cmocka_unit_test(damaged_files_are_dropped),
      cmocka_unit_test(files_belong_to_their_names),
      cmocka_unit_test(links_pipes_and_open_files_are_not_read),
      cmocka_unit_test(others_folders_are_not_used),
      cmocka_unit_test(folders_are_made),
      cmocka_unit_test(no_folder_no_cache),
      cmocka_unit_test(what_cannot_be_written_is_read),
      cmocka_unit_test(the_environment_says_where),
      cmocka_unit_test(all_that_changes_code_is_in_the_key),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
