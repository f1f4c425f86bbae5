/* SPDX-License-Identifier: MIT
 *
 * dma-bufs out and in: the requests that they are made of, on a fake kernel, and the memory, on
 * the virtual one.
 */
#include <stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_kmd.h"

#include "winsys/device_impl.h"

static void begin(struct fake_device *it)
{
   fake_device_begin(it);
   it->fake.dmabuf_bytes = 65536;
}

static void only_shareable_buffers_are_exported(void **state)
{
   struct fake_device it;
   struct agxw_bo *own, *shared;
   int fd = 0;
   begin(&it);
   assert_ok(agxw_bo_create(it.device, 100, 0, 0, "own", &own));
   assert_ok(agxw_bo_create(it.device, 100, 0, AGXW_BO_SHAREABLE, "shared", &shared));
   assert_fails(agxw_bo_export(own, &fd), AGX_FAILED_PRECONDITION, "own: ");
   assert_int_equal(fd, -1);
   assert_ok(agxw_bo_export(shared, &fd));
   close(fd);
   fake_kmd_fail(&it.fake, 0, AGX_UAPI_NR(AGX_IOCTL_PRIME_HANDLE_TO_FD), EMFILE);
   assert_fails(agxw_bo_export(shared, &fd), AGX_RESOURCE_EXHAUSTED, "PRIME_HANDLE_TO_FD");
   agxw_bo_destroy(own);
   agxw_bo_destroy(shared);
   fake_device_end(&it);
}

/* One handle for an object: it is closed when the last buffer goes, not before. */
static void a_handle_is_closed_once(void **state)
{
   struct fake_device it;
   struct agxw_bo *shared, *first, *second;
   begin(&it);
   assert_ok(agxw_bo_create(it.device, 65536, 0, AGXW_BO_SHAREABLE, "shared", &shared));
   int buffers = it.fake.live.buffers;
   it.fake.imported = shared->handle;
   assert_ok(agxw_bo_import(it.device, 7, 0, "first", &first));
   assert_ok(agxw_bo_import(it.device, 7, AGXW_BO_READ_ONLY, NULL, &second));
   assert_int_equal(it.fake.bind.flags, AGX_UAPI_BIND_READ);
   assert_int_not_equal(first->va, second->va);
   assert_int_equal(agxw_bo_size(first), 65536);
   struct agxw_place place;
   agxw_device_find_place(it.device, agxw_bo_va(first) + 65535, &place);
   assert_int_equal(place.kind, AGXW_PLACE_INSIDE);
   assert_string_equal(place.label, "first");
   agxw_bo_destroy(shared);
   assert_int_equal(it.fake.bind.flags, AGX_UAPI_BIND_UNBIND);
   agxw_bo_destroy(first);
   assert_int_equal(it.fake.live.buffers, buffers);
   agxw_bo_destroy(second);
   assert_int_equal(it.fake.live.buffers, buffers - 1);
   fake_device_end(&it);
}

static void every_failure_of_an_import_is_undone(void **state)
{
   for (int nth = 0;; nth++) {
      struct fake_device it;
      struct agxw_bo *bo;
      begin(&it);
      fake_kmd_fail(&it.fake, nth, 0, ENOMEM);
      agx_status status = agxw_bo_import(it.device, 7, 0, "b", &bo);
      it.fake.fail_at = -1;
      if (status == AGX_OK)
         agxw_bo_destroy(bo);
      else
         assert_int_equal(status, AGX_RESOURCE_EXHAUSTED);
      fake_device_end(&it);
      if (status == AGX_OK) {
         assert_int_equal(nth, 3); /* handle, sinks, binding */
         return;
      }
   }
}

static void odd_sizes_are_named(void **state)
{
   static const struct {
      int64_t bytes;
      agx_status status;
      const char *part;
   } cases[] = {
      {0, AGX_OUT_OF_RANGE, "0 bytes"},
      {4096, AGX_OUT_OF_RANGE, "4096 bytes"},
      {(INT64_C(1) << 37) + 16384, AGX_OUT_OF_RANGE, "up to 2^37"},
      {-EINVAL, AGX_INVALID_ARGUMENT, "size of dma-buf 7"},
   };
   struct fake_device it;
   struct agxw_bo *bo;
   begin(&it);
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      it.fake.dmabuf_bytes = cases[i].bytes;
      assert_fails(agxw_bo_import(it.device, 7, 0, "b", &bo), cases[i].status, cases[i].part);
      assert_null(bo);
   }
   fake_device_end(&it);
}

static void refusals_of_udmabuf_have_reasons(void **state)
{
   static const struct {
      int error;
      const char *part;
   } cases[] = {
      {ENOENT, "no /dev/udmabuf"},
      {EACCES, "can't be opened"},
      {EBADFD, "no memory file"},
      {EINVAL, "F_SEAL_SHRINK"},
   };
   struct fake_device it;
   int fd;
   begin(&it);
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      it.fake.make_dmabuf_error = -cases[i].error;
      assert_fails(agxw_dmabuf_of_memory(it.device, 7, 0, 16384, &fd), AGX_UNAVAILABLE,
                   cases[i].part);
      assert_int_equal(fd, -1);
   }
   it.fake.make_dmabuf_error = -ENOMEM;
   assert_fails(agxw_dmabuf_of_memory(it.device, 7, 0, 16384, &fd), AGX_RESOURCE_EXHAUSTED,
                "UDMABUF_CREATE");
   assert_fails(agxw_dmabuf_of_memory(it.device, 7, 4096, 16384, &fd), AGX_UNAVAILABLE, "at 4096");
   assert_fails(agxw_dmabuf_of_memory(it.device, 7, 0, 0, &fd), AGX_UNAVAILABLE, "0 bytes");
   fake_device_end(&it);
}

/* ---- with memory ---------------------------------------------------------- */

static struct agxw_device *open_virtual(void)
{
   struct agx_kmd *kmd;
   struct agxw_device *device;
   assert_ok(agx_kmd_virtual_open(NULL, &kmd));
   assert_ok(agxw_device_create(kmd, NULL, &device));
   return device;
}

static uint32_t *map(struct agxw_bo *bo)
{
   void *memory = NULL;
   assert_ok(agxw_bo_map(bo, &memory));
   return memory;
}

static void devices_share_memory(void **state)
{
   struct agxw_device *one = open_virtual(), *two = open_virtual();
   struct agxw_bo *from, *to, *again;
   int fd;
   assert_ok(agxw_bo_create(one, 40000, 0, AGXW_BO_SHAREABLE, "from", &from));
   assert_ok(agxw_bo_export(from, &fd));
   assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
   assert_ok(agxw_bo_import(two, fd, 0, "to", &to));
   assert_ok(agxw_bo_import(one, fd, 0, "again", &again));
   close(fd);
   assert_int_equal(agxw_bo_size(to), 49152);
   map(from)[5] = 77;
   assert_int_equal(map(to)[5], 77);
   map(to)[12287] = 78;
   assert_int_equal(map(again)[12287], 78);
   agxw_bo_destroy(from);
   assert_int_equal(map(again)[5], 77);
   agxw_device_destroy((agxw_bo_destroy(again), one));
   assert_int_equal(map(to)[5], 77);
   agxw_bo_destroy(to);
   agxw_device_destroy(two);
}

static void what_is_no_dmabuf_is_refused(void **state)
{
   struct agxw_device *device = open_virtual();
   struct agxw_bo *bo;
   int memory = memfd_create("plain", MFD_CLOEXEC);
   assert_int_equal(ftruncate(memory, 16384), 0);
   assert_fails(agxw_bo_import(device, memory, 0, "b", &bo), AGX_INVALID_ARGUMENT, "no dma-buf");
   assert_fails(agxw_bo_import(device, -1, 0, "b", &bo), AGX_INVALID_ARGUMENT, "descriptor -1");
   assert_fails(agxw_bo_import(device, 9999, 0, "b", &bo), AGX_INVALID_ARGUMENT, "9999");
   close(memory);
   agxw_device_destroy(device);
}

static int memory_file(size_t bytes, int seals)
{
   int fd = memfd_create("host", MFD_CLOEXEC | MFD_ALLOW_SEALING);
   assert_true(fd >= 0);
   assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
   if (seals)
      assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
   return fd;
}

/* A part of a memory file is seen at its place, by more than one buffer, and on. */
static void memory_files_are_imported(void **state)
{
   struct agxw_device *device = open_virtual(), *other = open_virtual();
   struct agxw_bo *bo, *same, *beside, *on;
   int fd, out, file = memory_file(6 * 16384, F_SEAL_SHRINK);
   uint32_t *memory = mmap(NULL, 6 * 16384, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
   assert_ptr_not_equal(memory, MAP_FAILED);
   assert_ok(agxw_dmabuf_of_memory(device, file, 2 * 16384, 3 * 16384, &fd));
   assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
   assert_ok(agxw_bo_import(device, fd, 0, "part", &bo));
   assert_ok(agxw_bo_import(device, fd, 0, "same", &same));
   close(fd);
   assert_ok(agxw_dmabuf_of_memory(device, file, 3 * 16384, 16384, &fd));
   assert_ok(agxw_bo_import(device, fd, 0, "beside", &beside));
   close(fd);
   close(file);
   assert_int_equal(agxw_bo_size(bo), 3 * 16384);
   memory[2 * 4096 + 1] = 11;
   memory[3 * 4096] = 12;
   assert_int_equal(map(bo)[1], 11);
   assert_int_equal(map(same)[4096], 12);
   assert_int_equal(map(beside)[0], 12);
   map(bo)[8191] = 13;
   assert_int_equal(memory[4 * 4096 - 1], 13);
   assert_ok(agxw_bo_export(bo, &out));
   assert_ok(agxw_bo_import(other, out, 0, "on", &on));
   close(out);
   assert_int_equal(map(on)[1], 11);
   assert_int_equal(agxw_bo_size(on), 3 * 16384);
   agxw_bo_destroy(bo);
   agxw_bo_destroy(beside);
   assert_int_equal(map(same)[1], 11);
   agxw_bo_destroy(same);
   agxw_device_destroy(device);
   assert_int_equal(map(on)[1], 11);
   agxw_bo_destroy(on);
   agxw_device_destroy(other);
   munmap(memory, 6 * 16384);
}

static void refuse(struct agxw_device *device, int file, uint64_t offset, uint64_t bytes,
                   const char *part)
{
   int fd = 0;
   assert_fails(agxw_dmabuf_of_memory(device, file, offset, bytes, &fd), AGX_UNAVAILABLE, part);
   assert_int_equal(fd, -1);
}

static void other_memory_is_refused(void **state)
{
   struct agxw_device *device = open_virtual();
   int unsealed = memory_file(65536, 0), good = memory_file(65536, F_SEAL_SHRINK);
   int closed = memory_file(65536, F_SEAL_SHRINK | F_SEAL_WRITE);
   int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
   refuse(device, unsealed, 0, 16384, "F_SEAL_SHRINK");
   refuse(device, closed, 0, 16384, "not against writing");
   refuse(device, file, 0, 16384, "no memory file");
   refuse(device, -1, 0, 16384, "no memory file");
   refuse(device, good, 65536, 16384, "the whole range");
   refuse(device, good, 49152, 32768, "the whole range");
   refuse(device, good, UINT64_MAX - 16383, 16384, "the whole range");
   refuse(device, good, 0, 65 << 20, "size_limit_mb");
   refuse(device, good, 0, 16385, "16385 bytes");
   close(unsealed);
   close(closed);
   close(good);
   close(file);
   agxw_device_destroy(device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_shareable_buffers_are_exported),
      cmocka_unit_test(a_handle_is_closed_once),
      cmocka_unit_test(every_failure_of_an_import_is_undone),
      cmocka_unit_test(odd_sizes_are_named),
      cmocka_unit_test(refusals_of_udmabuf_have_reasons),
      cmocka_unit_test(devices_share_memory),
      cmocka_unit_test(what_is_no_dmabuf_is_refused),
      cmocka_unit_test(memory_files_are_imported),
      cmocka_unit_test(other_memory_is_refused),
   };
   setenv("AGX_HOST_PAGE", "16384", true);
   return cmocka_run_group_tests(tests, NULL, NULL);
}
