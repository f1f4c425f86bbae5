/* SPDX-License-Identifier: MIT
 *
 * What is compiled once: in memory, over devices and processes through the disk, and by many
 * threads at a time.
 */
#include "fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hal/device/device.h"
#include "hal/executable/disk_cache.h"
#include "hal/executable/executable.h"
#include "hal/executable/executable_cache.h"

static char folder[64];

static int make_folder(void **state)
{
   strcpy(folder, "/tmp/agx-cache-test-XXXXXX");
   setenv("AGX_CACHE_DIR", mkdtemp(folder), 1);
   unsetenv("AGX_DEBUG");
   return 0;
}

static int remove_folder(void **state)
{
   DIR *dir = opendir(folder);
   for (struct dirent *entry; (entry = readdir(dir));)
      if (entry->d_name[0] != '.')
         unlinkat(dirfd(dir), entry->d_name, 0);
   closedir(dir);
   return rmdir(folder);
}

static char *read_kernel(const char *name, struct agx_executable_desc *desc)
{
   char part[80];
   snprintf(part, sizeof(part), "corpus/%s.spv", name);
   char *path = agx_test_path(part), *spirv = agx_test_read_file(path, &desc->data_B);
   free(path);
   desc->size = sizeof(*desc);
   desc->data = spirv;
   return spirv;
}

static struct agx_executable *compile(struct fixture *f, const char *name, uint32_t robustness,
                                      uint32_t flags)
{
   struct agx_executable_desc desc = {.robustness = robustness, .flags = flags};
   struct agx_executable *executable;
   char *spirv = read_kernel(name, &desc);
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   free(spirv);
   return executable;
}

static struct agx_cache_stats stats_of(struct fixture *f)
{
   struct agx_cache_stats stats = {.size = sizeof(stats)};
   agx_device_get_cache_stats(f->device, &stats);
   return stats;
}

#define assert_stats(f, what, value) assert_int_equal(stats_of(f).what, value)

/* saxpy over 64 elements. */
static void run(struct fixture *f, struct agx_executable *saxpy)
{
   float *x, *y;
   const uint32_t push[2] = {0x40200000, 64};
   struct agx_buffer *buffers[2] = {fixture_buffer(f, 256, (uint32_t **)&x),
                                    fixture_buffer(f, 256, (uint32_t **)&y)};
   for (int i = 0; i < 64; i++)
      x[i] = (float)i, y[i] = 1;
   struct agx_semaphore *done = fixture_semaphore(f);
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, saxpy, 1, buffers, 2, push, sizeof(push));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   for (int i = 0; i < 64; i++)
      assert_true(y[i] == 2.5f * (float)i + 1);
   agx_release(commands);
   agx_release(done);
   agx_release(buffers[0]);
   agx_release(buffers[1]);
}

/* ---- */

static void memory_then_disk(void **state)
{
   struct fixture f;
   fixture_open(&f, "virtual:g13g");
   struct agx_executable *first = compile(&f, "saxpy", 0, 0);
   struct agx_executable *second = compile(&f, "saxpy", 0, 0);
   assert_ptr_equal(first->module, second->module);
   assert_stats(&f, compiles, 1);
   assert_stats(&f, memory_hits, 1);
   assert_stats(&f, disk_misses, 1);
   assert_stats(&f, disk_stored, 1);
   assert_stats(&f, memory_entries, 1);
   assert_true(stats_of(&f).memory_B > 0);
   run(&f, first);
   agx_release(first);
   run(&f, second);
   agx_release(second);
   fixture_close(&f);

   fixture_open(&f, "virtual:g13g");
   first = compile(&f, "saxpy", 0, 0);
   assert_stats(&f, compiles, 0);
   assert_stats(&f, disk_hits, 1);
   run(&f, first);
   agx_release(first);
   fixture_close(&f);

   fixture_open(&f, "virtual:g14d"); /* another chip, another key */
   agx_release(compile(&f, "saxpy", 0, 0));
   assert_stats(&f, compiles, 1);
   fixture_close(&f);
}

/* With everything that belongs to it: the unchecked variant, and its guards. */
static void variants_are_kept(void **state)
{
   struct fixture f;
   struct agx_executable *kept[2];
   for (int i = 0; i < 2; i++) {
      fixture_open(&f, "virtual:g13g");
      kept[i] = compile(&f, "saxpy", AGX_ROBUST_ZERO, 0);
      assert_stats(&f, compiles, i == 0);
      assert_non_null(kept[i]->unchecked);
      run(&f, kept[i]);
      const struct agx_program *program = kept[i]->program;
      if (i) {
         const struct agx_program *before = kept[0]->program;
         assert_int_equal(program->guard_count, before->guard_count);
         assert_int_equal(program->unchecked->code_B, before->unchecked->code_B);
         assert_memory_equal(program->unchecked->code, before->unchecked->code,
                             before->unchecked->code_B);
         assert_memory_equal(program->code, before->code, before->code_B);
      }
      agx_release(f.device);
      agx_release(f.instance);
   }
   agx_release(kept[0]);
   agx_release(kept[1]);
}

static void options_are_keys(void **state)
{
   struct fixture f;
   fixture_open(&f, "virtual:g13g");
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_specialization specialization = {0, 4, 32};
   char *spirv = read_kernel("spec_wg", &desc);
   struct agx_executable *executables[4];
   desc.specializations = &specialization;
   for (uint32_t i = 0; i < 4; i++) {
      desc.specialization_count = i > 0;
      specialization.value = 16u << i;
      assert_ok(agx_executable_create(f.device, &desc, &executables[i]));
      assert_stats(&f, compiles, i + 1);
   }
   for (uint32_t i = 0; i < 4; i++)
      agx_release(executables[i]);
   free(spirv);
   fixture_close(&f);
}

static void transient_ones_leave_no_trace(void **state)
{
   struct fixture f;
   fixture_open(&f, "virtual:g13g");
   struct agx_executable *executable = compile(&f, "saxpy", 0, AGX_EXECUTABLE_TRANSIENT);
   run(&f, executable);
   agx_release(executable);
   assert_stats(&f, memory_misses, 0);
   assert_stats(&f, disk_misses, 0);
   assert_stats(&f, disk_stored, 0);
   fixture_close(&f);
}

static void caches_can_be_turned_off(void **state)
{
   struct fixture f;
   setenv("AGX_DEBUG", "nocache", 1);
   fixture_open(&f, "virtual:g13g");
   agx_release(compile(&f, "saxpy", 0, 0));
   agx_release(compile(&f, "saxpy", 0, 0));
   assert_stats(&f, compiles, 2);
   assert_stats(&f, disk_stored, 0);
   fixture_close(&f);
   unsetenv("AGX_DEBUG");
   setenv("AGX_CACHE_DIR", "", 1);
   fixture_open(&f, "virtual:g13g");
   agx_release(compile(&f, "saxpy", 0, 0));
   agx_release(compile(&f, "saxpy", 0, 0));
   assert_stats(&f, compiles, 1);
   assert_stats(&f, disk_stored, 0);
   fixture_close(&f);
   setenv("AGX_CACHE_DIR", folder, 1);
   setenv("AGX_CACHE_MAX_B", "much", 1);
   struct agx_instance *instance;
   struct agx_device *device;
   struct agx_device_desc desc = {.size = sizeof(desc), .name = "virtual:g13g"};
   assert_ok(agx_instance_create(NULL, &instance));
   assert_fails(agx_device_open(instance, &desc, &device), AGX_INVALID_ARGUMENT, "much");
   agx_release(instance);
   unsetenv("AGX_CACHE_MAX_B");
}

static bool find_file(char *path, size_t capacity)
{
   bool found = false;
   DIR *dir = opendir(folder);
   for (struct dirent *entry; !found && (entry = readdir(dir));)
      if (strstr(entry->d_name, ".agx")) {
         snprintf(path, capacity, "%s/%s", folder, entry->d_name);
         found = true;
      }
   closedir(dir);
   return found;
}

/* Whole files of the cache whose contents are no program, or damaged ones: compiled anew. */
static void what_makes_no_sense_is_compiled(void **state)
{
   struct fixture f;
   char path[400];
   fixture_open(&f, "virtual:g13g");
   agx_release(compile(&f, "saxpy", 0, 0));
   struct agx_disk_cache *disk = &f.device->executable.cache->disk;
   struct agx_cache_key key;
   struct agx_executable_desc desc = {0};
   char *spirv = read_kernel("saxpy", &desc);
   const struct agxc_options options = {.chip = agx_chip_find("g13g")};
   agx_cache_key_make(spirv, desc.data_B, &options, NULL, &key);
   void *image;
   size_t size;
   assert_true(agx_disk_cache_find(disk, &key, &image, &size));
   for (uint32_t round = 0; round < 3; round++) {
      if (round == 0) {
         agx_disk_cache_put(disk, &key, "no program", 10);
      } else if (round == 1) {
         ((uint8_t *)image)[size / 2] ^= 0xff;
         agx_disk_cache_put(disk, &key, image, size / 2 + 1);
      } else {
         assert_true(find_file(path, sizeof(path)));
         assert_int_equal(truncate(path, 300), 0);
      }
      struct fixture other;
      fixture_open(&other, "virtual:g13g");
      struct agx_executable *saxpy = compile(&other, "saxpy", 0, 0);
      assert_stats(&other, compiles, 1);
      assert_stats(&other, disk_dropped, 1);
      assert_stats(&other, disk_hits, 0);
      assert_stats(&other, disk_stored, 1);
      run(&other, saxpy);
      agx_release(saxpy);
      fixture_close(&other);
   }
   agx_host_free(NULL, image, size);
   free(spirv);
   fixture_close(&f);
}

/* ---- files of several entry points ---- */

static void files_hold_all_entry_points(void **state)
{
   struct fixture f;
   struct agx_executable_desc desc = {0};
   struct agx_executable *executable;
   struct agx_module *module;
   void *image;
   uint32_t entry;
   fixture_open(&f, "virtual:g13g");
   char *path = agx_test_path("kernels/entries.spv");
   char *spirv = agx_test_read_file(path, &desc.data_B);
   const struct agxc_options options = {.chip = agx_chip_find("g13g")};
   assert_ok(agxc_compile_module(spirv, desc.data_B, &options, &module));
   assert_ok(agx_module_write_elf(module, NULL, &image, &desc.data_B));
   agx_module_release(module);
   free(path);
   free(spirv);
   desc.size = sizeof(desc);
   desc.data = image;
   assert_ok(agx_executable_create(f.device, &desc, &executable));
   assert_int_equal(agx_executable_get_entry_count(executable), 3);
   assert_ok(agx_executable_find_entry(executable, "nothing", &entry));
   assert_int_equal(entry, 2);
   agx_release(executable);
   desc.entry = "double_it";
   assert_ok(agx_executable_create(f.device, &desc, &executable));
   struct agx_parameter_info info = {.size = sizeof(info)};
   assert_ok(agx_executable_get_parameter(executable, 0, 2, &info));
   assert_string_equal(info.name, "bias");
   agx_release(executable);
   desc.entry = "nobody";
   assert_fails(agx_executable_create(f.device, &desc, &executable), AGX_NOT_FOUND, "nobody");
   desc.entry = NULL;
   desc.flags = AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE;
   assert_fails(agx_executable_create(f.device, &desc, &executable), AGX_INCOMPATIBLE,
                "DYNAMIC_LOCAL_SIZE");
   agx_host_free(NULL, image, desc.data_B);
   assert_stats(&f, compiles, 0);
   fixture_close(&f);
}

/* ---- threads ---- */

enum {
   THREADS = 8
};

struct worker {
   pthread_t thread;
   struct fixture *f;
   const struct agx_executable_desc *desc;
   pthread_barrier_t *start;
   struct agx_executable *executable;
   agx_status status;
   char text[200];
};

static void *create(void *user)
{
   struct worker *worker = user;
   pthread_barrier_wait(worker->start);
   worker->status = agx_executable_create(worker->f->device, worker->desc, &worker->executable);
   if (worker->status != AGX_OK)
      agx_error_text(worker->text, sizeof(worker->text));
   return NULL;
}

static void create_together(struct fixture *f, const struct agx_executable_desc *desc,
                            struct worker workers[THREADS])
{
   pthread_barrier_t start;
   pthread_barrier_init(&start, NULL, THREADS);
   for (int i = 0; i < THREADS; i++) {
      workers[i] = (struct worker){.f = f, .desc = desc, .start = &start};
      assert_int_equal(pthread_create(&workers[i].thread, NULL, create, &workers[i]), 0);
   }
   for (int i = 0; i < THREADS; i++)
      pthread_join(workers[i].thread, NULL);
   pthread_barrier_destroy(&start);
}

static void threads_compile_once(void **state)
{
   struct fixture f;
   struct worker workers[THREADS];
   struct agx_executable_desc desc = {0};
   fixture_open(&f, "virtual:g13g");
   char *spirv = read_kernel("saxpy", &desc);
   create_together(&f, &desc, workers);
   assert_stats(&f, compiles, 1);
   assert_stats(&f, memory_hits, THREADS - 1);
   for (int i = 0; i < THREADS; i++) {
      assert_int_equal(workers[i].status, AGX_OK);
      run(&f, workers[i].executable);
      agx_release(workers[i].executable);
   }
   free(spirv);
   fixture_close(&f);
}

/* All get the text, and nothing of it stays. */
static void threads_fail_together(void **state)
{
   struct fixture f;
   struct worker workers[THREADS];
   struct agx_executable_desc desc = {.entry = "nobody"};
   fixture_open(&f, "virtual:g13g");
   char *spirv = read_kernel("saxpy", &desc);
   for (uint32_t round = 0; round < 2; round++) {
      create_together(&f, &desc, workers);
      for (int i = 0; i < THREADS; i++) {
         assert_int_equal(workers[i].status, AGX_INVALID_ARGUMENT);
         assert_non_null(strstr(workers[i].text, "nobody"));
      }
      assert_stats(&f, memory_entries, 0);
   }
   assert_true(stats_of(&f).compiles >= 2);
   assert_stats(&f, disk_stored, 0);
   free(spirv);
   fixture_close(&f);
}

/* ---- the limit in memory ---- */

static agx_status make_module(void *user, struct agx_module **out_module)
{
   const struct agx_program *program = user;
   struct agx_program *copy;
   AGX_TRY(agx_program_copy(program, NULL, &copy));
   return agx_module_create(&copy, 1, NULL, out_module);
}

static void the_oldest_leave_memory(void **state)
{
   struct fixture f;
   struct agx_executable_cache *cache;
   struct agx_executable_cache_stats stats;
   fixture_open(&f, "virtual:g13g");
   struct agx_executable *executable = compile(&f, "saxpy", 0, 0);
   setenv("AGX_CACHE_DIR", "", 1);
   assert_ok(agx_executable_cache_create(agx_host_alloc_default(), 0, &cache));
   setenv("AGX_CACHE_DIR", folder, 1);
   cache->max_B = 4 * executable->module->bytes + 100;
   for (uint32_t i = 0; i < 12; i++) {
      /* Key 0 is asked for again and again. */
      for (uint32_t k = 0; k < 2; k++) {
         struct agx_module *module;
         struct agx_cache_key key = {.digest = {(uint8_t)(k ? 0 : i)}, .material_B = 1};
         assert_ok(agx_executable_cache_find_or_make(
            cache, &key, (struct agx_module_maker){make_module, (void *)executable->program},
            &module));
         agx_module_release(module);
      }
   }
   agx_executable_cache_query_stats(cache, &stats);
   assert_int_equal(stats.compiles, 12);
   assert_int_equal(stats.entries, 4);
   assert_true(stats.bytes <= cache->max_B);
   agx_executable_cache_destroy(cache);
   agx_release(executable);
   fixture_close(&f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(memory_then_disk, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(variants_are_kept, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(options_are_keys, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(transient_ones_leave_no_trace, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(caches_can_be_turned_off, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(what_makes_no_sense_is_compiled, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(files_hold_all_entry_points, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(threads_compile_once, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(threads_fail_together, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(the_oldest_leave_memory, make_folder, remove_folder),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
