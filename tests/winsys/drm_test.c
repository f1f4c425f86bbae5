/* SPDX-License-Identifier: MIT
 *
 * The libdrm seam over a file that answers as a node: this program's own ioctl() takes the C
 * library's place, also for libdrm, as long as the file is there. What comes below the system call
 * is left to the tests over the preload library.
 */
#include "support.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "winsys/asahi_uapi.h"
#include "winsys/device_impl.h"

static bool stands_in; /* for the C library: this test file runs */
static struct {
   const char *driver; /* NULL: no DRM device at all */
   uint64_t timelines;
   int interruptions; /* that many calls fail with EINTR and EAGAIN in turn */
   int calls;
} node;

static int give_version(struct agx_uapi_version *version)
{
   if (version->name)
      memcpy((void *)(uintptr_t)version->name, node.driver, strlen(node.driver));
   if (version->date)
      memcpy((void *)(uintptr_t)version->date, "0", 1);
   if (version->desc)
      memcpy((void *)(uintptr_t)version->desc, "x", 1);
   version->name_len = strlen(node.driver);
   version->date_len = version->desc_len = 1; /* libdrm can't bear none */
   return 0;
}

/* Interposes; visible to libdrm because the program comes first. */
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...);
int ioctl(int fd, unsigned long request, ...)
{
   va_list args;
   va_start(args, request);
   void *argument = va_arg(args, void *);
   va_end(args);
   if (!stands_in) {
      int (*next)(int, unsigned long, ...) =
         (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
      return next(fd, request, argument);
   }
   node.calls++;
   if (node.interruptions > 0) {
      errno = node.interruptions-- % 2 ? EINTR : EAGAIN;
      return -1;
   }
   errno = ENOTTY;
   if (!node.driver)
      return -1;
   switch (AGX_UAPI_NR(request)) {
   case AGX_UAPI_NR(AGX_IOCTL_VERSION):
      return give_version(argument);
   case AGX_UAPI_NR(AGX_IOCTL_GET_CAP):
      ((struct agx_uapi_get_cap *)argument)->value = node.timelines;
      return 0;
   case AGX_UAPI_NR(AGX_IOCTL_ASAHI_VM_CREATE):
      ((struct agx_uapi_vm_create *)argument)->vm_id = 7;
      return 0;
   }
   errno = EINVAL;
   return -1;
}

static char path[64];

static int make_file(void **state)
{
   strcpy(path, "/tmp/agx-node-XXXXXX");
   int fd = mkstemp(path);
   int status = fd < 0 || ftruncate(fd, 65536) != 0;
   close(fd);
   stands_in = true;
   return status;
}

static int remove_file(void **state)
{
   stands_in = false;
   return unlink(path);
}

static void a_node_of_ours_is_opened(void **state)
{
   node.driver = "asahi";
   node.timelines = 1;
   struct agx_kmd *kmd;
   assert_ok(agx_kmd_drm_open(path, &kmd));
   assert_string_equal(kmd->name, strrchr(path, '/') + 1);
   assert_true(kmd->fd >= 0);
   assert_null(kmd->inspection->last_error);

   struct agx_uapi_vm_create create = {0};
   node.calls = 0;
   node.interruptions = 5;
   assert_int_equal(kmd->ops->ioctl(kmd, AGX_IOCTL_ASAHI_VM_CREATE, &create), 0);
   assert_int_equal(create.vm_id, 7);
   assert_int_equal(node.calls, 6);
   assert_int_equal(kmd->ops->ioctl(kmd, AGX_IOCTL_ASAHI_VM_DESTROY, &create), -EINVAL);
   node.interruptions = 2;
   assert_int_equal(kmd->ops->fd_ioctl(kmd, kmd->fd, AGX_IOCTL_ASAHI_VM_DESTROY, &create), -EINVAL);
   assert_int_equal(node.interruptions, 0);

   int error = 0;
   char *memory = kmd->ops->mmap(kmd, 0, 16384, &error);
   assert_non_null(memory);
   memory[16383] = 1;
   kmd->ops->munmap(kmd, memory, 16384);
   assert_null(kmd->ops->mmap(kmd, 0, 0, &error));
   assert_int_equal(error, EINVAL);
   kmd->ops->close(kmd);
}

static void others_are_told_apart(void **state)
{
   struct agx_kmd *kmd;
   node.driver = "i915";
   assert_fails(agx_kmd_drm_open(path, &kmd), AGX_INCOMPATIBLE, "its driver is i915, not asahi");
   node.driver = "a driver whose name is longer than anybody would ever choose for it";
   assert_fails(agx_kmd_drm_open(path, &kmd), AGX_INCOMPATIBLE, "its driver is a driver");
   node.driver = "asahi";
   node.timelines = 0;
   assert_fails(agx_kmd_drm_open(path, &kmd), AGX_INCOMPATIBLE, "no timeline syncobjs");
   node.driver = NULL;
   assert_fails(agx_kmd_drm_open(path, &kmd), AGX_INCOMPATIBLE, "not a DRM device");
   assert_null(kmd);
}

static void missing_permission_says_what_to_do(void **state)
{
   struct agx_kmd *kmd;
   bool root = geteuid() == 0;
   assert_int_equal(chmod(path, 0), 0);
   if (root)
      assert_int_equal(seteuid(65534), 0);
   agx_status status = agx_kmd_drm_open(path, &kmd);
   char text[400];
   agx_error_text(text, sizeof(text));
   if (root)
      assert_int_equal(seteuid(0), 0);
   assert_int_equal(status, AGX_PERMISSION_DENIED);
   assert_non_null(strstr(text, "usermod -aG"));
   assert_non_null(strstr(text, path));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_node_of_ours_is_opened),
      cmocka_unit_test(others_are_told_apart),
      cmocka_unit_test(missing_permission_says_what_to_do),
   };
   return cmocka_run_group_tests(tests, make_file, remove_file);
}
