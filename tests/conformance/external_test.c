/* SPDX-License-Identifier: MIT
 *
 * Memory that others have too: dma-bufs between devices and processes, and what of the host's
 * memory can and can't be had.
 */
#include "conformance.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define NO_CALLBACK ((struct agx_release_callback){0})

/* The units of memory that can be imported. */
static uint64_t page_of(struct fixture *f)
{
   uint64_t page_B, best_B;
   agx_vmem_granularity(f->device, &page_B, &best_B);
   return page_B;
}

static void count(void *user)
{
   ++*(int *)user;
}

static struct agx_buffer *shareable(struct fixture *f, uint64_t size_B, uint32_t **out_words)
{
   struct agx_buffer_desc desc = {.size = sizeof(desc),
                                  .size_B = size_B,
                                  .flags = AGX_BUFFER_HOST_READ,
                                  .usage = AGX_USAGE_TRANSFER | AGX_USAGE_DISPATCH |
                                           AGX_USAGE_MAPPING | AGX_USAGE_SHARING_EXPORT,
                                  .label = "shared"};
   struct agx_buffer *buffer;
   void *memory;
   assert_ok(agx_buffer_create(f->device, &desc, &buffer));
   assert_ok(agx_buffer_map(buffer, &memory));
   *out_words = memory;
   return buffer;
}

static int export_fd(struct agx_buffer *buffer)
{
   struct agx_external external = {.size = sizeof(external)};
   assert_ok(agx_buffer_export(buffer, AGX_EXTERNAL_DMA_BUF, &external));
   assert_int_equal(external.kind, AGX_EXTERNAL_DMA_BUF);
   assert_int_equal(external.offset_B, 0);
   assert_true(external.fd >= 0);
   return external.fd;
}

static agx_status import_fd(struct fixture *f, int fd, uint64_t offset_B, uint64_t size_B,
                            struct agx_buffer **out_buffer)
{
   const struct agx_external external = {.size = sizeof(external),
                                         .kind = AGX_EXTERNAL_DMA_BUF,
                                         .fd = fd,
                                         .offset_B = offset_B,
                                         .size_B = size_B};
   return agx_buffer_import(f->device, NULL, &external, NO_CALLBACK, out_buffer);
}

static uint32_t *map(struct agx_buffer *buffer)
{
   void *memory = NULL;
   assert_ok(agx_buffer_map(buffer, &memory));
   return memory;
}

/* 32 words of `to` become those of `from` plus push. */
static void add(struct fixture *f, struct agx_buffer *from, struct agx_buffer *to, uint32_t push)
{
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_add);
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, kernel, 1, (struct agx_buffer *[]){from, to}, 2, &push, 4);
   conformance_run(f, commands);
   agx_release(commands);
   agx_release(kernel);
}

static uint32_t open_descriptors(void)
{
   uint32_t found = 0;
   DIR *folder = opendir("/proc/self/fd");
   while (folder && readdir(folder))
      found++;
   closedir(folder);
   return found;
}

/* ---- dma-bufs --------------------------------------------------------------- */

static void devices_share_a_buffer(void **state)
{
   struct fixture *f = conformance_device(state), other;
   uint32_t *words, *own_words;
   conformance_open_another(&other);
   struct agx_buffer *buffer = shareable(f, 20000, &words), *imported;
   struct agx_buffer *own = fixture_buffer(&other, 128, &own_words);
   int fd = export_fd(buffer);
   assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
   assert_ok(import_fd(&other, fd, 0, 20000, &imported));
   close(fd);
   for (uint32_t i = 0; i < 32; i++)
      words[i] = i * i;
   add(&other, imported, own, 7);
   for (uint32_t i = 0; i < 32; i++)
      assert_int_equal(own_words[i], i * i + 7);
   add(&other, own, imported, 100);
   for (uint32_t i = 0; i < 32; i++)
      assert_int_equal(words[i], i * i + 107);
   assert_int_equal(map(imported)[31], 31 * 31 + 107);
   agx_release(buffer);
   map(imported)[5] = 55; /* the exporter is gone, its memory isn't */
   add(&other, imported, own, 1);
   assert_int_equal(own_words[5], 56);
   agx_release(own);
   agx_release(imported);
   fixture_close(&other);
}

/* However often it comes in, each is a buffer of its own, and all are one memory. */
static void a_dma_buf_may_come_in_again(void **state)
{
   struct fixture *f = conformance_device(state);
   uint32_t *words, before = open_descriptors();
   struct agx_buffer *buffer = shareable(f, 65536, &words), *first, *second;
   struct agx_buffer_info infos[2] = {{.size = sizeof(infos[0])}, {.size = sizeof(infos[0])}};
   int fd = export_fd(buffer);
   assert_ok(import_fd(f, fd, 0, 0, &first));
   assert_ok(import_fd(f, fd, 32768, 128, &second));
   close(fd);
   agx_buffer_get_info(first, &infos[0]);
   agx_buffer_get_info(second, &infos[1]);
   assert_int_equal(infos[0].size_B, 65536);
   assert_int_equal(infos[1].size_B, 128);
   assert_int_equal(infos[1].offset_B, 32768);
   assert_true(infos[0].is_imported && infos[0].is_exportable);
   words[0] = 1000;
   words[8192] = 3;
   agx_release(buffer);
   add(f, first, second, 4);
   assert_int_equal(map(first)[8192], 1004);
   agx_release(first);
   assert_int_equal(map(second)[0], 1004);
   struct agx_external external = {.size = sizeof(external)};
   assert_ok(agx_buffer_export(second, AGX_EXTERNAL_DMA_BUF, &external));
   assert_int_equal(external.offset_B, 32768);
   assert_int_equal(external.size_B, 128);
   assert_ok(import_fd(f, external.fd, external.offset_B, external.size_B, &first));
   close(external.fd);
   assert_int_equal(map(first)[0], 1004);
   agx_release(first);
   agx_release(second);
   assert_int_equal(open_descriptors(), before);
}

struct importer {
   struct fixture *f;
   int fd;
   uint32_t failed;
};

static void *import_and_release(void *argument)
{
   struct importer *it = argument;
   for (uint32_t i = 0; i < 100; i++) {
      struct agx_buffer *buffer;
      void *memory;
      bool is_good = import_fd(it->f, it->fd, 0, 0, &buffer) == AGX_OK &&
                     agx_buffer_map(buffer, &memory) == AGX_OK && *(uint32_t *)memory == 77;
      it->failed += !is_good;
      agx_release(buffer);
   }
   return NULL;
}

/* The last one's end never takes the memory from another thread's beginning. */
static void threads_import_and_release(void **state)
{
   enum {
      THREADS = 4
   };
   struct fixture *f = conformance_device(state);
   struct importer importers[THREADS];
   pthread_t threads[THREADS];
   uint32_t *words;
   struct agx_buffer *buffer = shareable(f, 4096, &words);
   int fd = export_fd(buffer);
   words[0] = 77;
   agx_release(buffer); /* now each import may be the only one */
   for (uint32_t i = 0; i < THREADS; i++) {
      importers[i] = (struct importer){f, fd, 0};
      assert_int_equal(pthread_create(&threads[i], NULL, import_and_release, &importers[i]), 0);
   }
   for (uint32_t i = 0; i < THREADS; i++) {
      assert_int_equal(pthread_join(threads[i], NULL), 0);
      assert_int_equal(importers[i].failed, 0);
   }
   close(fd);
}

static void an_import_may_be_read_only(void **state)
{
   struct fixture *f = conformance_device(state);
   uint32_t *words;
   struct agx_buffer *buffer = shareable(f, 4096, &words), *imported;
   const struct agx_external external = {
      .size = sizeof(external), .kind = AGX_EXTERNAL_DMA_BUF, .fd = export_fd(buffer)};
   const struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = 4096, .access = AGX_ACCESS_READ, .label = "theirs"};
   void *memory;
   assert_ok(agx_buffer_import(f->device, &desc, &external, NO_CALLBACK, &imported));
   close(external.fd);
   words[1] = 4;
   assert_fails(agx_buffer_map(imported, &memory), AGX_PERMISSION_DENIED, "theirs");
   assert_ok(agx_buffer_map_range(imported, 4, 4, AGX_ACCESS_READ, &memory));
   assert_int_equal(*(uint32_t *)memory, 4);
   assert_ok(agx_buffer_unmap(imported));
   agx_release(imported);
   agx_release(buffer);
}

static void only_what_is_shareable_is_exported(void **state)
{
   struct fixture *f = conformance_device(state);
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 64, &words);
   struct agx_buffer_info info = {.size = sizeof(info)};
   struct agx_external external = {.size = sizeof(external)};
   assert_fails(agx_buffer_export(buffer, AGX_EXTERNAL_DMA_BUF, &external), AGX_FAILED_PRECONDITION,
                "AGX_USAGE_SHARING_EXPORT");
   assert_int_equal(external.fd, -1);
   assert_fails(agx_buffer_export(buffer, AGX_EXTERNAL_MEMFD, &external), AGX_UNAVAILABLE,
                "dma-buf");
   assert_fails(agx_buffer_export(buffer, 77, &external), AGX_INVALID_ARGUMENT, "kind 77");
   agx_buffer_get_info(buffer, &info);
   assert_ok(agx_buffer_export(buffer, AGX_EXTERNAL_ADDRESS, &external));
   assert_int_equal(external.address, info.address);
   assert_int_equal(external.size_B, 64);
   assert_ok(agx_buffer_export(buffer, AGX_EXTERNAL_HOST_POINTER, &external));
   assert_ptr_equal(external.pointer, words);
   agx_release(buffer);
}

/* A descriptor that there is no room for would be lost. */
static void an_export_needs_room_for_what_it_gives(void **state)
{
   struct fixture *f = conformance_device(state);
   const struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = 64, .usage = AGX_USAGE_DISPATCH | AGX_USAGE_SHARING_EXPORT};
   struct agx_external external = {.fd = -2};
   struct agx_buffer *buffer;
   assert_ok(agx_buffer_create(f->device, &desc, &buffer));
   for (uint32_t size = 0; size <= 8; size += 4) {
      external.size = size;
      assert_fails(agx_buffer_export(buffer, AGX_EXTERNAL_DMA_BUF, &external), AGX_INVALID_ARGUMENT,
                   "sizeof(struct agx_external)");
      assert_int_equal(external.fd, -2);
   }
   close(export_fd(buffer));
   agx_release(buffer);
}

/* ---- another process ---------------------------------------------------------- */

/* Adds 3 to the first 32 words of what it is given, into the next 32, and 4 into itself. */
static int be_the_other_process(int fd)
{
   void *state;
   struct agx_buffer *whole, *first, *second;
   if (conformance_open(&state) || !state)
      return 2;
   struct fixture *f = state;
   assert_ok(import_fd(f, fd, 0, 0, &whole));
   assert_ok(import_fd(f, fd, 0, 128, &first));
   assert_ok(import_fd(f, fd, 128, 128, &second));
   if (map(whole)[31] != 31000)
      return 3;
   add(f, first, second, 3);
   add(f, second, first, 4);
   agx_release(first);
   agx_release(second);
   agx_release(whole);
   conformance_close(&state);
   return 0;
}

static void processes_share_a_buffer(void **state)
{
   struct fixture *f = conformance_device(state);
   uint32_t *words;
   struct agx_buffer *buffer = shareable(f, 65536, &words);
   char number[16];
   char *arguments[] = {"system_test", "conformance/external", NULL};
   int fd = export_fd(buffer), status;
   pid_t child;
   for (uint32_t i = 0; i < 32; i++)
      words[i] = i * 1000;
   assert_int_equal(fcntl(fd, F_SETFD, 0), 0);
   snprintf(number, sizeof(number), "%d", fd);
   setenv("AGX_TEST_OTHER_PROCESS", number, 1);
   assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ), 0);
   unsetenv("AGX_TEST_OTHER_PROCESS");
   close(fd);
   while (waitpid(child, &status, 0) < 0)
      ;
   assert_int_equal(status, 0);
   for (uint32_t i = 0; i < 32; i++) {
      assert_int_equal(words[32 + i], i * 1000 + 3);
      assert_int_equal(words[i], i * 1000 + 7);
   }
   agx_release(buffer);
}

/* ---- memory files -------------------------------------------------------------- */

static int memory_file(uint64_t size_B, int seals)
{
   int fd = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
   assert_true(fd >= 0);
   assert_int_equal(ftruncate(fd, (off_t)size_B), 0);
   if (seals)
      assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
   return fd;
}

static agx_status import_memory(struct fixture *f, struct agx_external external, int *calls,
                                struct agx_buffer **out_buffer)
{
   external.size = sizeof(external);
   return agx_buffer_import(f->device, NULL, &external, (struct agx_release_callback){count, calls},
                            out_buffer);
}

/* Skips where this machine has no /dev/udmabuf. */
static void need_udmabuf(struct fixture *f)
{
   int calls = 0, fd = memory_file(page_of(f), F_SEAL_SHRINK);
   struct agx_buffer *buffer;
   agx_status status = import_memory(
      f, (struct agx_external){.kind = AGX_EXTERNAL_MEMFD, .fd = fd, .size_B = page_of(f)}, &calls,
      &buffer);
   close(fd);
   if (status == AGX_UNAVAILABLE) {
      assert_fails(status, AGX_UNAVAILABLE, "/dev/udmabuf");
      assert_int_equal(calls, 0);
      skip();
   }
   assert_ok(status);
   agx_release(buffer);
   assert_int_equal(calls, 1);
}

static void memory_files_come_in(void **state)
{
   struct fixture *f = conformance_device(state);
   uint64_t page_B = page_of(f);
   need_udmabuf(f);
   uint32_t *own_words, before = open_descriptors();
   int calls = 0, fd = memory_file(8 * page_B, F_SEAL_SHRINK);
   uint32_t *memory = mmap(NULL, 8 * page_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
            *part = NULL;
   struct agx_buffer *buffer, *own = fixture_buffer(f, 128, &own_words);
   assert_ptr_not_equal(memory, MAP_FAILED);
   part = memory + 3 * page_B / 4;
   assert_ok(import_memory(
      f,
      (struct agx_external){
         .kind = AGX_EXTERNAL_MEMFD, .fd = fd, .offset_B = 3 * page_B, .size_B = 2 * page_B},
      &calls, &buffer));
   close(fd);
   for (uint32_t i = 0; i < 32; i++)
      part[i] = i + 40;
   add(f, buffer, own, 2);
   assert_int_equal(own_words[31], 73);
   add(f, own, buffer, 0);
   assert_int_equal(part[31], 73);
   assert_int_equal(map(buffer)[31], 73);
   assert_int_equal(part[-1] | part[2 * page_B / 4], 0);
   struct agx_command_buffer *commands = fixture_begin(f); /* keeps it too */
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_add);
   uint32_t push = 1;
   fixture_dispatch(commands, kernel, 1, (struct agx_buffer *[]){buffer, own}, 2, &push, 4);
   agx_release(buffer);
   assert_int_equal(calls, 0);
   agx_release(commands);
   assert_int_equal(calls, 1);
   agx_release(kernel);
   agx_release(own);
   munmap(memory, 8 * page_B);
   assert_int_equal(open_descriptors(), before);
}

/* A mapping made of several areas is as good as one. */
static void pointers_into_memory_files_come_in(void **state)
{
   struct fixture *f = conformance_device(state);
   uint64_t page_B = page_of(f);
   need_udmabuf(f);
   int calls = 0, fd = memory_file(4 * page_B, F_SEAL_SHRINK);
   char *memory = mmap(NULL, 4 * page_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
   struct agx_buffer *buffer;
   assert_ptr_not_equal(memory, MAP_FAILED);
   assert_int_equal(madvise(memory + page_B, page_B, MADV_DONTDUMP), 0); /* divides it */
   const struct agx_external external = {
      .kind = AGX_EXTERNAL_HOST_POINTER, .pointer = memory + page_B, .size_B = 3 * page_B};
   assert_ok(import_memory(f, external, &calls, &buffer));
   assert_ptr_equal(map(buffer), memory + page_B);
   struct agx_external out = {.size = sizeof(out)};
   assert_ok(agx_buffer_export(buffer, AGX_EXTERNAL_HOST_POINTER, &out));
   assert_ptr_equal(out.pointer, memory + page_B);
   agx_release(buffer);
   assert_int_equal(calls, 1);
   close(fd);
   munmap(memory, 4 * page_B);
}

static void *map_memory(int fd, uint64_t size_B, int protection, int flags)
{
   void *memory = mmap(NULL, size_B, protection, flags, fd, 0);
   assert_ptr_not_equal(memory, MAP_FAILED);
   return memory;
}

struct refused {
   struct agx_external external;
   agx_status status;
   const char *part;
};

static void assert_refused(struct fixture *f, const struct refused *it, int *calls)
{
   struct agx_buffer *buffer = (void *)1;
   assert_fails(import_memory(f, it->external, calls, &buffer), it->status, it->part);
   assert_null(buffer);
}

/* What can't be had is refused with the reason, not copied, and nothing is kept of it. */
static void other_memory_is_refused(void **state)
{
   struct fixture *f = conformance_device(state);
   uint64_t page_B = page_of(f), size_B = 2 * page_B;
   need_udmabuf(f);
   uint32_t before = open_descriptors();
   int calls = 0, good = memory_file(size_B, F_SEAL_SHRINK), bare = memory_file(size_B, 0);
   int gone = memory_file(size_B, F_SEAL_SHRINK), plain = open("/proc/self/exe", O_RDONLY);
   char *own = map_memory(-1, size_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
   char *copied = map_memory(good, size_B, PROT_READ | PROT_WRITE, MAP_PRIVATE);
   char *constant = map_memory(good, size_B, PROT_READ, MAP_SHARED);
   char *shared = map_memory(good, size_B, PROT_READ | PROT_WRITE, MAP_SHARED);
   char *unsealed = map_memory(bare, size_B, PROT_READ | PROT_WRITE, MAP_SHARED);
   char *closed = map_memory(gone, size_B, PROT_READ | PROT_WRITE, MAP_SHARED);
   close(gone);
#define POINTER(memory, bytes)                                                                     \
   {                                                                                               \
      .kind = AGX_EXTERNAL_HOST_POINTER, .pointer = (memory), .size_B = (bytes)                    \
   }
   const struct refused cases[] = {
      {POINTER(own, page_B), AGX_UNAVAILABLE, "anonymous"},
      {POINTER(copied, page_B), AGX_UNAVAILABLE, "private mapping"},
      {POINTER(constant, page_B), AGX_UNAVAILABLE, "read-only"},
      {POINTER(unsealed, page_B), AGX_UNAVAILABLE, "F_SEAL_SHRINK"},
      {POINTER(shared + 16, page_B), AGX_UNAVAILABLE, "whole pages"},
      {POINTER(shared, page_B + 4), AGX_UNAVAILABLE, "whole pages"},
      {POINTER(NULL, page_B), AGX_INVALID_ARGUMENT, "host memory"},
      {POINTER(shared, 0), AGX_INVALID_ARGUMENT, "size 0"},
      {POINTER(shared, -page_B), AGX_INVALID_ARGUMENT, "host memory"},
      {POINTER((void *)(uintptr_t)page_B, page_B), AGX_UNAVAILABLE, "nothing is mapped"},
      {{.kind = AGX_EXTERNAL_MEMFD, .fd = bare, .size_B = page_B},
       AGX_UNAVAILABLE,
       "F_SEAL_SHRINK"},
      {{.kind = AGX_EXTERNAL_MEMFD, .fd = plain, .size_B = page_B},
       AGX_UNAVAILABLE,
       "no memory file"},
      {{.kind = AGX_EXTERNAL_MEMFD, .fd = -1, .size_B = page_B}, AGX_UNAVAILABLE, "no memory file"},
      {{.kind = AGX_EXTERNAL_MEMFD, .fd = good, .size_B = size_B + page_B},
       AGX_UNAVAILABLE,
       "the whole range"},
      {{.kind = AGX_EXTERNAL_MEMFD, .fd = good, .offset_B = 4, .size_B = page_B},
       AGX_UNAVAILABLE,
       "at 4"},
      {{.kind = AGX_EXTERNAL_MEMFD, .fd = good}, AGX_INVALID_ARGUMENT, "size 0"},
      {{.kind = AGX_EXTERNAL_DMA_BUF, .fd = good}, AGX_INVALID_ARGUMENT, "no dma-buf"},
      {{.kind = AGX_EXTERNAL_DMA_BUF, .fd = -1}, AGX_INVALID_ARGUMENT, "descriptor -1"},
      {{.kind = AGX_EXTERNAL_ADDRESS, .address = 1 << 20, .size_B = page_B},
       AGX_UNAVAILABLE,
       "address"},
      {{.kind = 0}, AGX_INVALID_ARGUMENT, "kind 0"},
      {{.kind = 99, .size_B = 1}, AGX_INVALID_ARGUMENT, "kind 99"},
   };
#undef POINTER
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
      assert_refused(f, &cases[i], &calls);
   struct agx_buffer *buffer; /* a process that may read /proc/self/map_files needs no descriptor */
   agx_status status = import_memory(
      f,
      (struct agx_external){.kind = AGX_EXTERNAL_HOST_POINTER, .pointer = closed, .size_B = page_B},
      &calls, &buffer);
   if (status == AGX_OK)
      agx_release(buffer);
   else
      assert_fails(status, AGX_UNAVAILABLE, "no descriptor");
   assert_int_equal(calls, status == AGX_OK);
   char *maps[] = {own, copied, constant, shared, unsealed, closed};
   for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
      munmap(maps[i], size_B);
   close(good);
   close(bare);
   close(plain);
   assert_int_equal(open_descriptors(), before);
}

static void parts_of_dma_bufs_are_checked(void **state)
{
   static const struct {
      uint64_t offset_B, size_B;
      agx_status status;
   } cases[] = {
      {0, 65536, AGX_OK},
      {65520, 16, AGX_OK},
      {65536, 0, AGX_OUT_OF_RANGE},
      {0, 65537, AGX_OUT_OF_RANGE},
      {8, 16, AGX_OUT_OF_RANGE},
      {16, UINT64_MAX - 15, AGX_INVALID_ARGUMENT},
      {1 << 20, 4, AGX_OUT_OF_RANGE},
      {1 << 20, 0, AGX_OUT_OF_RANGE},
   };
   struct fixture *f = conformance_device(state);
   uint32_t *words;
   struct agx_buffer *buffer = shareable(f, 65536, &words), *imported;
   int fd = export_fd(buffer);
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      agx_status status = import_fd(f, fd, cases[i].offset_B, cases[i].size_B, &imported);
      if (cases[i].status == AGX_OK)
         assert_ok(status);
      else
         assert_int_not_equal(status, AGX_OK);
      agx_release(imported);
   }
   close(fd);
   agx_release(buffer);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices_share_a_buffer),
      cmocka_unit_test(a_dma_buf_may_come_in_again),
      cmocka_unit_test(threads_import_and_release),
      cmocka_unit_test(an_import_may_be_read_only),
      cmocka_unit_test(only_what_is_shareable_is_exported),
      cmocka_unit_test(an_export_needs_room_for_what_it_gives),
      cmocka_unit_test(processes_share_a_buffer),
      cmocka_unit_test(memory_files_come_in),
      cmocka_unit_test(pointers_into_memory_files_come_in),
      cmocka_unit_test(other_memory_is_refused),
      cmocka_unit_test(parts_of_dma_bufs_are_checked),
   };
   const char *other = getenv("AGX_TEST_OTHER_PROCESS");
   if (other)
      return be_the_other_process(atoi(other));
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
