/* SPDX-License-Identifier: MIT
 *
 * Rows A: the node itself, and what a render node refuses.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "rows/rows.h"

static int raw(uint32_t code)
{
   uint64_t argument[16] = {0};
   return door_ioctl(file, code, argument);
}

static int ask_capability(uint64_t capability, struct agx_uapi_get_cap *args)
{
   *args = (struct agx_uapi_get_cap){capability, 0xdead};
   return REQUEST(GET_CAP, *args);
}

static void capabilities(void)
{
   static const struct {
      const char *row;
      uint64_t capability;
   } asked[] = {{"A3.1", AGX_UAPI_CAP_PRIME},
                {"A3.2", AGX_UAPI_CAP_TIMESTAMP_MONOTONIC},
                {"A3.3", AGX_UAPI_CAP_SYNCOBJ},
                {"A3.4", AGX_UAPI_CAP_SYNCOBJ_TIMELINE}};
   struct agx_uapi_get_cap args;
   for (unsigned i = 0; i < AGX_COUNT(asked); i++)
      ROW(asked[i].row, ask_capability(asked[i].capability, &args), "value=%#llx",
          (unsigned long long)args.value);
   if (door_is_real) {
      ROW("A3.0", ask_capability(1, &args), "value=%#llx", (unsigned long long)args.value);
      ROW("A3.5", ask_capability(0x77, &args), "value=%llx", (unsigned long long)args.value);
      return;
   }
   /* As on a driver without a display; source: docs/hw/kernel.md 7. */
   assert_int_equal(ask_capability(1, &args), -EOPNOTSUPP);
   assert_int_equal(ask_capability(0x77, &args), -EOPNOTSUPP);
   rows_aside("A3.0", "dumb buffers: the recorded driver has a display, this one has none");
   rows_aside("A3.5", "unknown capabilities: EINVAL with a display, EOPNOTSUPP without");
}

static void version(void)
{
   char whole[16] = "", part[4] = "???";
   struct agx_uapi_version all = {.name = (uintptr_t)whole, .name_len = sizeof(whole)};
   struct agx_uapi_version two = {.name = (uintptr_t)part, .name_len = 2};
   if (door_is_real) {
      /* The driver that they were recorded on. */
      ROW("A1", REQUEST(VERSION, all), "name=%s len=%llu %d.%d", whole,
          (unsigned long long)all.name_len, all.version_major, all.version_minor);
      ROW("A2", REQUEST(VERSION, two), "buf=%.2s full_len_ret=%d date_len_ret>0=%d", part,
          two.name_len == all.name_len, two.date_len > 0);
      two.name_len = 2;
   } else {
      assert_int_equal(REQUEST(VERSION, all), 0);
      assert_string_equal(whole, "asahi");
      rows_aside("A1", "names the recorded driver; on its kernel the row is had");
      rows_aside("A2", "the same");
   }
   assert_int_equal(REQUEST(VERSION, two), 0);
   assert_memory_equal(part, whole, 2);
   assert_int_equal(part[2], '?');
   assert_int_equal(two.name_len, all.name_len);
   assert_int_equal(two.date_len, all.date_len);
}

static void through_the_descriptor(void)
{
   static const char *const here[] = {"A16", "A17", "A18", "A19", "A20"};
   int fd = door_fd(file);
   for (unsigned i = 0; fd < 0 && i < AGX_COUNT(here); i++)
      rows_aside(here[i], "no descriptor in process; the preloaded run has the row");
   if (fd < 0)
      return;
   char bytes[8] = "";
   struct stat info;
   assert_int_equal(fstat(fd, &info), 0);
   ROW("A16", 0, "chr=%d major=%u minor>=128=%d", S_ISCHR(info.st_mode), major(info.st_rdev),
       minor(info.st_rdev) >= 128);
   fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK); /* without it the kernel waits for events */
   ROW("A17", read(fd, bytes, sizeof(bytes)) < 0 ? -errno : 0);
   ROW("A18", write(fd, bytes, sizeof(bytes)) < 0 ? -errno : 0);
   struct pollfd poller = {.fd = fd, .events = POLLIN | POLLOUT};
   int ready = poll(&poller, 1, 0);
   ROW("A19", 0, "n=%d revents=%#x", ready, poller.revents);
   ROW("A20", 0, "off=%lld", (long long)lseek(fd, 4, SEEK_SET));
}

void rows_of_node(void **state)
{
   void *memory;
   version();
   capabilities();
   ROW("A5", raw(0x64fe));
   ROW("A5b", raw(0x641f));
   ROW("A6", raw(0x649f));
   ROW("A7", raw(0x7801));
   ROW("A8", REQUEST(GEM_CLOSE, (struct agx_uapi_gem_close){12345, 0}));
   ROW("A9", raw(0xc008640a));
   ROW("A10", REQUEST(PRIME_HANDLE_TO_FD, (struct agx_uapi_prime_handle){777, 0, -1}));
   ROW("A11", REQUEST(PRIME_FD_TO_HANDLE, (struct agx_uapi_prime_handle){0, 0, 1}));
   ROW("A12", REQUEST(PRIME_FD_TO_HANDLE, (struct agx_uapi_prime_handle){0, 0, -1}));
   ROW("A13", raw(0x4010640d));
   ROW("A14", raw(0xc0106401));
   ROW("A15", raw(0x80046402));
   through_the_descriptor();
   ROW("A21", door_mmap(file, 4096, PROT_READ, MAP_SHARED, 0, &memory));
   if (door_is_real) {
      ROW("A22", door_mmap(file, 4096, PROT_READ, MAP_SHARED, 1ull << 32, &memory));
      return;
   }
   assert_int_equal(door_mmap(file, 4096, PROT_READ, MAP_SHARED, 1ull << 32, &memory), -EINVAL);
   rows_aside("A22", "offsets of buffers are the driver's own: 4G holds one there, none here");
}
