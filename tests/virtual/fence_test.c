/* SPDX-License-Identifier: MIT
 *
 * Fences by themselves, where a client of the node would only see that it takes long.
 */
#include "winsys/virtual/sync/fence.h"

#include <errno.h>

#include "device.h"
#include "winsys/virtual/store/node.h"
#include "winsys/virtual/store/user.h"
#include "user_checked.h"

#define CHAIN 200
#define PARTS 16

static struct agx_virtual_node *make_node(void)
{
   struct agx_virtual_node *node;
   assert_ok(agx_virtual_node_create(agx_chip_find("g13g"), -1, &node));
   return node;
}

/* As a kernel's: see rows F4x. */
static void merges_show_what_they_were_made_of(void **state)
{
   (void)state;
   struct agx_virtual_node *node = make_node();
   uint32_t parts[PARTS];
   agxv_lock(node);
   uint32_t a = agxv_fence_create(node), b = agxv_fence_create(node);
   uint32_t both = agxv_fence_merge(node, a, b), again = agxv_fence_merge(node, both, a);
   assert_int_equal(agxv_fence_parts(node, both, parts, PARTS), 2);
   assert_int_equal(agxv_fence_parts(node, both, parts, 1), 1);
   assert_int_equal(agxv_fence_parts(node, again, parts, PARTS), 2);
   agxv_fence_signal(node, a, 0);
   assert_int_equal(agxv_fence_parts(node, both, parts, PARTS), 2);
   uint32_t rest = agxv_fence_merge(node, both, a); /* what is done is left out */
   assert_int_equal(rest, b);
   agxv_fence_signal(node, b, 0);
   assert_int_equal(agxv_fence_parts(node, both, parts, PARTS), 2);
   assert_true(agxv_fence_done(node, both));
   const uint32_t all[] = {rest, again, both, a, b};
   for (unsigned i = 0; i < AGX_COUNT(all); i++)
      agxv_fence_put(node, all[i]);
   agxv_unlock(node);
   agx_virtual_node_destroy(node);
}

/* What has failed by then is no more in it than what went well. */
static void merges_leave_out_what_failed(void **state)
{
   (void)state;
   struct agx_virtual_node *node = make_node();
   agxv_lock(node);
   uint32_t failed = agxv_fence_create(node), pending = agxv_fence_create(node);
   agxv_fence_signal(node, failed, -EIO);
   uint32_t none = agxv_fence_merge(node, failed, failed);
   uint32_t rest = agxv_fence_merge(node, failed, pending);
   assert_true(agxv_fence_done(node, none));
   assert_int_equal(AGXV_AT(node, agxv_fence, none)->error, 0);
   assert_int_equal(rest, pending);
   const uint32_t all[] = {none, rest, failed, pending};
   for (unsigned i = 0; i < AGX_COUNT(all); i++)
      agxv_fence_put(node, all[i]);
   agxv_unlock(node);
   agx_virtual_node_destroy(node);
}

/* Each merge holds the one before twice, directly and in another merge, once there are too many
 * fences to list them: 2^n ways. */
static void merges_of_merges_are_listed_in_bounds(void **state)
{
   (void)state;
   struct agx_virtual_node *node = make_node();
   uint32_t parts[PARTS], pending[CHAIN];
   agxv_lock(node);
   uint32_t last = agxv_fence_create_done(node);
   for (unsigned i = 0; i < CHAIN; i++) {
      pending[i] = agxv_fence_create(node);
      uint32_t beside = agxv_fence_merge(node, last, pending[i]);
      uint32_t next = agxv_fence_merge(node, last, beside);
      assert_int_not_equal(next, 0);
      agxv_fence_put(node, beside);
      agxv_fence_put(node, last);
      last = next;
   }
   assert_int_equal(agxv_fence_parts(node, last, parts, PARTS), PARTS);
   uint32_t many[4 * CHAIN];
   assert_in_range(agxv_fence_parts(node, last, many, 4 * CHAIN), 1, 2 * CHAIN);
   for (unsigned i = 0; i < CHAIN; i++) {
      assert_false(agxv_fence_done(node, last));
      agxv_fence_signal(node, pending[i], 0);
      agxv_fence_put(node, pending[i]);
   }
   assert_true(agxv_fence_done(node, last));
   agxv_fence_put(node, last);
   agxv_unlock(node);
   agx_virtual_node_destroy(node);
}

/* Only the last point of a timeline does. */
static void points_forget_their_errors(void **state)
{
   (void)state;
   struct agx_virtual_node *node = make_node();
   bool done;
   agxv_lock(node);
   uint32_t a = agxv_fence_create(node), b = agxv_fence_create(node);
   uint32_t one = agxv_fence_create_point(node, 0, a, 1);
   agxv_fence_signal(node, a, -EIO);
   uint32_t found = agxv_fence_at_value(node, one, 1, &done);
   assert_int_equal(found, one);
   assert_int_equal(AGXV_AT(node, agxv_fence, found)->error, -EIO);
   agxv_fence_put(node, found);
   uint32_t two = agxv_fence_create_point(node, one, b, 2);
   assert_int_equal(agxv_fence_at_value(node, two, 1, &done), 0);
   assert_true(done);
   agxv_fence_signal(node, b, -ECANCELED);
   found = agxv_fence_at_value(node, two, 2, &done);
   assert_int_equal(AGXV_AT(node, agxv_fence, found)->error, -ECANCELED);
   const uint32_t all[] = {found, one, two, a, b};
   for (unsigned i = 0; i < AGX_COUNT(all); i++)
      agxv_fence_put(node, all[i]);
   agxv_unlock(node);
   agx_virtual_node_destroy(node);
}

static int make_sync_file(struct device *device)
{
   struct agx_uapi_syncobj_handle args = {.handle = make_syncobj(device),
                                          .flags = AGX_UAPI_SYNCOBJ_SYNC_FILE};
   struct agx_uapi_syncobj_array one = {(uintptr_t)&args.handle, 1, 0};
   assert_int_equal(CALL(device, SYNCOBJ_SIGNAL, one), 0);
   assert_int_equal(CALL(device, SYNCOBJ_HANDLE_TO_FD, args), 0);
   return args.fd;
}

/* The least number that a descriptor would get. */
static int next_fd(void)
{
   int fd = dup(STDERR_FILENO);
   close(fd);
   return fd;
}

/* Else the program would have one that it doesn't know of. */
static void unwritable_arguments_leave_no_descriptor(void **state)
{
   (void)state;
   if (!user_is_checked())
      skip(); /* an emulator: it would crash */
   struct device device = device_open(NULL);
   int fd = make_sync_file(&device), before = next_fd();
   struct sync_merge_data *data =
      mmap(NULL, sizeof(*data), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   assert_true(data != MAP_FAILED);
   *data = (struct sync_merge_data){.name = "both", .fd2 = fd};
   assert_int_equal(mprotect(data, sizeof(*data), PROT_READ), 0);
   assert_int_equal(agx_virtual_fd_ioctl(device.node, fd, SYNC_IOC_MERGE, data), -EFAULT);
   assert_int_equal(next_fd(), before);
   munmap(data, sizeof(*data));
   close(fd);
   device_close(&device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(merges_show_what_they_were_made_of),
      cmocka_unit_test(merges_leave_out_what_failed),
      cmocka_unit_test(merges_of_merges_are_listed_in_bounds),
      cmocka_unit_test(points_forget_their_errors),
      cmocka_unit_test(unwritable_arguments_leave_no_descriptor),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
