/* SPDX-License-Identifier: MIT
 *
 * dma-bufs of memory files, alike from the virtual device (in process, and as the preload
 * library's /dev/udmabuf) and from a kernel's own. AGX_TEST_DEVICE as in timeline_bed.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "timeline_bed.h"

#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/kmd.h"
#include "winsys/winsys.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define PAGE  16384u /* of every host */
#define PAGES 4u

static struct agx_kmd *open_kmd(void)
{
   struct agx_kmd *kmd;
   assert_ok(bed_open_kmd(&kmd));
   return kmd;
}

static int memory_file(int seals)
{
   int fd = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
   assert_true(fd >= 0);
   assert_int_equal(ftruncate(fd, PAGES * PAGE), 0);
   if (seals)
      assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
   return fd;
}

static void ranges_and_seals_are_checked(void **state)
{
   static const struct {
      int seals;
      uint64_t offset, bytes;
      int result; /* 0, or the negative errno */
   } rows[] = {
      {F_SEAL_SHRINK, 0, PAGES * PAGE, 0},
      {F_SEAL_SHRINK | F_SEAL_GROW, PAGE, 2 * PAGE, 0},
      {F_SEAL_SHRINK | F_SEAL_SEAL, 3 * PAGE, PAGE, 0},
      {F_SEAL_SHRINK, 1, PAGE, -EINVAL},
      {F_SEAL_SHRINK, 0, PAGE + 1, -EINVAL},
      {F_SEAL_SHRINK, 0, 0, -EINVAL},
      {F_SEAL_SHRINK, PAGES * PAGE, PAGE, -EINVAL},
      {F_SEAL_SHRINK, 3 * PAGE, 2 * PAGE, -EINVAL},
      {F_SEAL_SHRINK, 0, (64u << 20) + PAGE, -EINVAL},
      {0, 0, PAGE, -EINVAL},
      {F_SEAL_GROW, 0, PAGE, -EINVAL},
      {F_SEAL_SHRINK | F_SEAL_WRITE, 0, PAGE, -EINVAL},
      {F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE, 0, PAGE, -EINVAL},
   };
   struct agx_kmd *kmd = open_kmd();
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      int file = memory_file(rows[i].seals);
      int fd = kmd->ops->make_dmabuf(kmd, file, rows[i].offset, rows[i].bytes);
      close(file);
      if (fd == -ENOENT)
         fail_msg("this kernel has no /dev/udmabuf");
      if (rows[i].result != (fd < 0 ? fd : 0))
         fail_msg("row %zu: %d instead of %d", i, fd, rows[i].result);
      if (fd < 0)
         continue;
      assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
      assert_int_equal(kmd->ops->dmabuf_bytes(kmd, fd), rows[i].bytes);
      close(fd);
   }
   kmd->ops->close(kmd);
}

static void other_files_are_refused(void **state)
{
   struct agx_kmd *kmd = open_kmd();
   int other = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
   assert_true(other >= 0);
   assert_int_equal(kmd->ops->make_dmabuf(kmd, other, 0, PAGE), -EBADFD);
   close(other);
   assert_int_equal(kmd->ops->make_dmabuf(kmd, -1, 0, PAGE), -EBADFD);
   assert_int_equal(kmd->ops->make_dmabuf(kmd, 9999, 0, PAGE), -EBADFD);
   assert_true(kmd->ops->dmabuf_bytes(kmd, 9999) < 0);
   kmd->ops->close(kmd);
}

/* The dma-buf shows its part of the file, whether the test writes through the one or the other. In
 * process its descriptor is one of the whole file. */
static void memory_is_one(void **state)
{
   if (strcmp(bed_device_name(), "virtual") == 0)
      skip();
   struct agx_kmd *kmd = open_kmd();
   int file = memory_file(F_SEAL_SHRINK);
   int fd = kmd->ops->make_dmabuf(kmd, file, PAGE, 2 * PAGE);
   assert_true(fd >= 0);
   uint32_t *whole = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
   uint32_t *part = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
   assert_ptr_not_equal(whole, MAP_FAILED);
   assert_ptr_not_equal(part, MAP_FAILED);
   close(file);
   close(fd);
   whole[PAGE / 4] = 11;
   whole[3 * PAGE / 4 - 1] = 12;
   assert_int_equal(part[0], 11);
   assert_int_equal(part[2 * PAGE / 4 - 1], 12);
   part[1] = 13;
   assert_int_equal(whole[PAGE / 4 + 1], 13);
   munmap(whole, PAGES * PAGE);
   munmap(part, 2 * PAGE);
   kmd->ops->close(kmd);
}

/* A driver takes it: the same one twice is one handle. On a real kernel the driver is vgem. */
static void drivers_import_it(void **state)
{
   struct agx_kmd *kmd = open_kmd();
   const char *vgem = strchr(bed_device_name(), '/') ? getenv("AGX_TEST_VGEM") : NULL;
   int card = vgem ? open(vgem, O_RDWR | O_CLOEXEC) : -1, file = memory_file(F_SEAL_SHRINK);
   int fd = kmd->ops->make_dmabuf(kmd, file, 0, 2 * PAGE);
   uint32_t handles[2];
   assert_true(fd >= 0 && (!vgem || card >= 0));
   for (int i = 0; i < 2; i++) {
      struct agx_uapi_prime_handle args = {.fd = fd};
      int error = vgem ? ioctl(card, AGX_IOCTL_PRIME_FD_TO_HANDLE, &args)
                       : kmd->ops->ioctl(kmd, AGX_IOCTL_PRIME_FD_TO_HANDLE, &args);
      assert_int_equal(error, 0);
      handles[i] = args.handle;
   }
   assert_int_equal(handles[0], handles[1]);
   close(fd);
   close(file);
   if (card >= 0)
      close(card);
   kmd->ops->close(kmd);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_and_seals_are_checked),
      cmocka_unit_test(other_files_are_refused),
      cmocka_unit_test(memory_is_one),
      cmocka_unit_test(drivers_import_it),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
