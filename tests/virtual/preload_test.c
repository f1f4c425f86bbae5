/* SPDX-License-Identifier: MIT
 *
 * The preload library in a process of its own: a program that uses libdrm only must
 * find and use the node. Not under sanitizers: their runtime wants to be the first
 * library of a process, before any that LD_PRELOAD names.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sanitizers.h"
#include "client.h"
#include "support.h"

/* The command that starts this program as a client, see client.h. It holds until the next call. */
static const char *this_program(const char *client)
{
   static char command[1100];
   char path[1024] = "";
   assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
   snprintf(command, sizeof(command), "'%s' preload %s", path, client);
   return command;
}

/* The command that starts the statically linked client, or NULL: not every machine can link one. */
static const char *static_program(void)
{
   const char *path = getenv("AGX_TEST_STATIC_CLIENT");
   return path && *path ? path : NULL;
}

/* What the client prints under the library, with environment in front. */
static void run_client(const char *environment, char *output, size_t capacity)
{
   char command[4096];
   const char *library = getenv("AGX_TEST_PRELOAD");
   assert_non_null(library);
   snprintf(command, sizeof(command), "%s LD_PRELOAD='%s' %s 2>&1", environment, library,
            this_program("libdrm"));
   FILE *pipe = popen(command, "r");
   assert_non_null(pipe);
   size_t length = fread(output, 1, capacity - 1, pipe);
   output[length] = 0;
   if (pclose(pipe) != 0)
      fail_msg("%s: %s", command, output);
}

static void a_libdrm_program_finds_the_node(void **state)
{
   if (AGX_SANITIZED)
      skip();
   char output[4096];
   run_client("AGX_DEVICE=virtual", output, sizeof(output));
   assert_string_equal(output, "device /dev/dri/renderD128 /soc/gpu@406400000 apple,agx-g13g\n"
                               "driver asahi 0.0.0 chip 8103\n"
                               "fine\n");
}

static void the_chip_is_chosen_by_name(void **state)
{
   if (AGX_SANITIZED)
      skip();
   char output[4096];
   run_client("AGX_DEVICE=virtual:g14s", output, sizeof(output));
   assert_non_null(strstr(output, "apple,agx-g14s\n"));
   assert_non_null(strstr(output, "chip 6020\n"));
}

/* What `agx virtual` with these arguments prints; returns its exit code. */
static int run_tool(const char *environment, const char *arguments, const char *client,
                    char *output, size_t capacity)
{
   char command[4096];
   snprintf(command, sizeof(command), "%s AGX_VIRTUAL_LIBRARY='%s' '%s' virtual %s -- %s 2>&1",
            environment, getenv("AGX_TEST_PRELOAD"), getenv("AGX_TEST_TOOL"), arguments, client);
   FILE *pipe = popen(command, "r");
   assert_non_null(pipe);
   output[fread(output, 1, capacity - 1, pipe)] = 0;
   int status = pclose(pipe);
   assert_true(WIFEXITED(status));
   return WEXITSTATUS(status);
}

/* What a client may not have noticed is told when it has ended. */
static void the_end_tells_of_failures(void **state)
{
   char output[4096];
   if (AGX_SANITIZED)
      skip();
   assert_int_equal(run_tool("", "--check", this_program("draws"), output, sizeof(output)), 0);
   assert_non_null(strstr(output, "fine\n"));
   assert_non_null(strstr(output,
                          "agx virtual: 1 of 1 submissions failed (0 over the time limit, 0 "
                          "cancelled), 0 soft faults, 1 render commands not executed; the "
                          "last word: "));
   assert_non_null(strstr(output, "agx virtual: 1 requests with a padding that isn't 0, which "
                                  "kernels ignore so far"));
}

static void every_way_leads_to_the_node(void **state)
{
   char output[4096];
   if (AGX_SANITIZED)
      skip();
   assert_int_equal(run_tool("", "", this_program("ways"), output, sizeof(output)), 0);
   assert_string_equal(output, "fine\n");
}

static bool has_seccomp(void)
{
   uint32_t action = SECCOMP_RET_USER_NOTIF;
   return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

#define REFUSES_PRIME                                                                              \
   "agx virtual: PRIME: a program that goes past the C library can't share buffers on the "        \
   "virtual AGX\n"

static void a_static_program_is_served(void **state)
{
   char output[4096];
   if (AGX_SANITIZED || !has_seccomp() || !static_program())
      skip();
   int code = run_tool("", "", static_program(), output, sizeof(output));
   assert_string_equal(output, REFUSES_PRIME "fine\n");
   assert_int_equal(code, 0);
}

static void system_calls_of_its_own_are_served(void **state)
{
   char output[4096];
   if (AGX_SANITIZED || !has_seccomp())
      skip();
   int code = run_tool("", "--seccomp", this_program("calls"), output, sizeof(output));
   assert_string_equal(output, REFUSES_PRIME "fine\n");
   assert_int_equal(code, 0);
}

/* Started by another program, with nothing in its environment. */
static void a_static_child_is_served(void **state)
{
   char output[4096];
   if (AGX_SANITIZED || !has_seccomp() || !static_program())
      skip();
   int code = run_tool("", "-- env -i", static_program(), output, sizeof(output));
   assert_string_equal(output, REFUSES_PRIME "fine\n");
   assert_int_equal(code, 0);
   code = run_tool("", "-- env -i", this_program("calls"), output, sizeof(output));
   assert_non_null(strstr(output, "errno == EOPNOTSUPP")); /* it can share buffers */
}

/* The inner one has a device of its own. */
static void one_runs_inside_another(void **state)
{
   char output[4096], arguments[1024];
   if (AGX_SANITIZED || !has_seccomp() || !static_program())
      skip();
   snprintf(arguments, sizeof(arguments), "-- '%s' virtual", getenv("AGX_TEST_TOOL"));
   int code = run_tool("", arguments, static_program(), output, sizeof(output));
   assert_string_equal(output, REFUSES_PRIME "fine\n");
   assert_int_equal(code, 0);
   snprintf(arguments, sizeof(arguments), "--seccomp -- '%s' virtual --seccomp",
            getenv("AGX_TEST_TOOL"));
   assert_int_equal(run_tool("", arguments, "true", output, sizeof(output)), 126);
   assert_non_null(strstr(output, "another agx virtual serves these programs already"));
}

/* A program that can't be served must not see the machine's own nodes. */
static void what_cant_be_served_is_refused(void **state)
{
   char output[4096];
   if (AGX_SANITIZED || !static_program())
      skip();
   int code = run_tool("AGX_VIRTUAL_SECCOMP=0", "", static_program(), output, sizeof(output));
   assert_int_equal(code, 126);
   assert_non_null(strstr(output, "a statically linked program needs seccomp user notification of "
                                  "Linux 5.9 and later; it is switched off"));
   assert_null(strstr(output, "line"));
   code = run_tool("AGX_VIRTUAL_SECCOMP=0", "-- env", static_program(), output, sizeof(output));
   assert_int_equal(code, 126);
   assert_non_null(strstr(output, "a statically linked program needs"));
}

/* As containers do: from now on the system call is not permitted. */
static bool forbid(unsigned number)
{
   struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
   };
   const struct sock_fprog filter = {sizeof(steps) / sizeof(steps[0]), steps};
   return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
          prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static void who_is_not_let_in_says_so(void **state)
{
   static const unsigned numbers[] = {SYS_pidfd_getfd, SYS_process_vm_readv};
   char output[4096];
   if (AGX_SANITIZED || !has_seccomp() || !static_program())
      skip();
   for (size_t i = 0; i < 2; i++) {
      int status;
      pid_t child = fork();
      if (child == 0) {
         if (!forbid(numbers[i]))
            _exit(2);
         run_tool("", "", static_program(), output, sizeof(output));
         const char *words = strstr(output, "can't be reached (Operation not permitted)");
         fprintf(stderr, "%s", words ? "" : output);
         _exit(!words || strstr(words + 1, "can't be reached") || strstr(output, "fine"));
      }
      assert_true(waitpid(child, &status, 0) == child && status == 0);
   }
}

/* A program may use agxhal itself: its own functions must not be taken over. */
static void only_the_c_librarys_names_are_shown(void **state)
{
   static const char *const ours[] = {"agx_error_text", "agx_status_name", "agx_virtual_ioctl"};
   void *library = dlopen(getenv("AGX_TEST_PRELOAD"), RTLD_NOW | RTLD_LOCAL);
   assert_non_null(library);
   for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
      assert_null(dlsym(library, ours[i]));
   assert_non_null(dlsym(library, "ioctl"));
}

/* This process is a client, if the command line says so. */
static int run_as_client(void)
{
   if (strcmp(agx_test_arguments[0], "libdrm") == 0)
      return client_libdrm();
   if (strcmp(agx_test_arguments[0], "draws") == 0)
      return client_draws();
   if (strcmp(agx_test_arguments[0], "ways") == 0)
      return client_ways(agx_test_arguments + 1);
   return strcmp(agx_test_arguments[0], "calls") == 0 ? client_calls() : 2;
}

AGX_TEST_FILE(void)
{
   if (agx_test_arguments[0])
      return run_as_client();
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_libdrm_program_finds_the_node),
      cmocka_unit_test(the_chip_is_chosen_by_name),
      cmocka_unit_test(the_end_tells_of_failures),
      cmocka_unit_test(every_way_leads_to_the_node),
      cmocka_unit_test(a_static_program_is_served),
      cmocka_unit_test(a_static_child_is_served),
      cmocka_unit_test(system_calls_of_its_own_are_served),
      cmocka_unit_test(one_runs_inside_another),
      cmocka_unit_test(what_cant_be_served_is_refused),
      cmocka_unit_test(who_is_not_let_in_says_so),
      cmocka_unit_test(only_the_c_librarys_names_are_shown),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
