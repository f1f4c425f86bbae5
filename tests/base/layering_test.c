/* SPDX-License-Identifier: MIT
 *
 * Includes point down only: reads every source file's #include lines and checks
 * them against what its room may know (docs/architecture.md).
 */
#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The longest matching folder decides; prefixes are separated by spaces. */
static const struct {
   const char *folder, *allowed;
} rooms[] = {
   {"src/base", "base/ agx/status.h"},
   {"src/robustness", "robustness/ base/ agx/status.h"},
   {"src/agx", "agx/chip agx/format base/ agx/status.h"},
   {"src/agx/hw", "agx/hw/ agx/chip.h base/ agx/status.h"},
   {"src/agx/layout", "agx/layout/ agx/chip.h base/ agx/status.h"},
   {"src/agx/isa", "agx/isa/ agx/chip.h base/ agx/status.h"},
   {"src/agx/sim", "agx/sim/ agx/isa/ agx/hw/ agx/layout/ agx/chip.h base/ agx/status.h"},
   {"src/program", "program/ agx/isa/ agx/chip.h base/ agx/status.h"},
   {"src/agx/compiler",
    "agx/compiler/ agx/isa/ agx/chip.h agx/format.h program/ robustness/ base/ agx/status.h"},
   {"src/winsys", "winsys/ agx/chip.h base/ agx/status.h"},
   {"src/winsys/virtual",
    "winsys/virtual/ winsys/kmd.h winsys/asahi_uapi.h agx/sim/ agx/chip.h base/ agx/status.h"},
   {"src/hal",
    "hal/ agx/buffer.h agx/command_buffer.h agx/device.h agx/executable.h agx/file.h agx/hal.h "
    "agx/host_call.h agx/image.h agx/memory.h agx/object.h agx/pool.h agx/profile.h agx/queue.h "
    "agx/semaphore.h "
    "winsys/winsys.h winsys/kmd.h robustness/ program/ agx/compiler/compiler.h "
    "agx/hw/ agx/layout/ agx/chip.h agx/format.h agx/isa/isa.h base/ agx/status.h"},
};

static const char *allowed_in(const char *path)
{
   size_t best = 0;
   const char *allowed = NULL;
   for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
      size_t length = strlen(rooms[i].folder);
      if (strncmp(path, rooms[i].folder, length) == 0 && path[length] == '/' && length > best) {
         best = length;
         allowed = rooms[i].allowed;
      }
   }
   return allowed;
}

static bool starts_with_one_of(const char *text, const char *prefixes)
{
   for (const char *at = prefixes; *at;) {
      size_t length = strcspn(at, " ");
      if (strncmp(text, at, length) == 0)
         return true;
      at += length + (at[length] == ' ');
   }
   return false;
}

/* Returns how many includes of one file point up. */
static int check_file(const char *root, const char *path, const char *allowed)
{
   char full[1024], line[512], target[256];
   snprintf(full, sizeof(full), "%s/%s", root, path);
   FILE *file = fopen(full, "r");
   assert_non_null(file);
   int wrong = 0;
   while (fgets(line, sizeof(line), file)) {
      if (sscanf(line, " # include \"%255[^\"]\"", target) != 1 || !strchr(target, '/'))
         continue;
      if (!starts_with_one_of(target, allowed)) {
         print_error("%s includes %s; its room may only know: %s\n", path, target, allowed);
         wrong++;
      }
   }
   fclose(file);
   return wrong;
}

static int check_folder(const char *root, const char *folder, int *files)
{
   char full[1024];
   snprintf(full, sizeof(full), "%s/%s", root, folder);
   DIR *directory = opendir(full);
   assert_non_null(directory);
   int wrong = 0;
   for (struct dirent *entry; (entry = readdir(directory));) {
      if (entry->d_name[0] == '.')
         continue;
      char path[512];
      snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
      snprintf(full, sizeof(full), "%s/%s", root, path);
      struct stat status;
      assert_int_equal(stat(full, &status), 0);
      const char *dot = strrchr(path, '.');
      if (S_ISDIR(status.st_mode)) {
         wrong += check_folder(root, path, files);
      } else if (dot && (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0)) {
         const char *allowed = allowed_in(path);
         if (!allowed)
            fail_msg("%s is in no room of this test's table", path);
         wrong += check_file(root, path, allowed);
         (*files)++;
      }
   }
   closedir(directory);
   return wrong;
}

static void includes_point_down(void **state)
{
   char *root = agx_test_path("..");
   int files = 0;
   assert_int_equal(check_folder(root, "src", &files), 0);
   assert_true(files > 10);
   free(root);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(includes_point_down)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
