/* SPDX-License-Identifier: MIT
 *
 * A program that shares its device with children, which agxdump_test records: a child goes on with
 * the device, another closes whatever it has, and the last outlives its parent's use of it. Alone,
 * without a node, it fails.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "small_capture.h"
#include "support.h"
#include "winsys/winsys.h"

#define MAX_FDS 1024

static void check_exit(pid_t child)
{
   int status;
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_int_equal(status, 0);
}

/* Runs the dispatch, with `first` in its data before. */
static void run(struct small_device *small, uint64_t value, uint8_t first)
{
   small->data[0] = first;
   small_device_submit(small, agxw_bo_va(small->bos[1]), value);
   assert_int_equal(small->data[0], first + 10);
}

static void close_all(void)
{
   for (int fd = 3; fd < MAX_FDS; fd++)
      close(fd);
}

AGX_TEST_FILE(void)
{
   struct small_device small;
   int parent_is_done[2];
   char byte;
   small_device_open(&small, "drm", NULL);
   run(&small, 1, 1);
   pid_t child = fork();
   if (child == 0) {
      run(&small, 2, 2);
      _exit(0);
   }
   check_exit(child);
   run(&small, 3, 1); /* as it left its data, but not as the child did */
   child = fork();
   if (child == 0) {
      close_all();
      _exit(0);
   }
   check_exit(child);
   run(&small, 4, 1);
   assert_int_equal(pipe(parent_is_done), 0);
   child = fork();
   if (child == 0) {
      close(parent_is_done[1]);
      assert_int_equal(read(parent_is_done[0], &byte, 1), 0);
      run(&small, 5, 1);
      _exit(0);
   }
   close_all();
   check_exit(child);
   return 0;
}
