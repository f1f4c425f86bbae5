/* SPDX-License-Identifier: MIT
 *
 * The first and only process of the machine that scripts/kernel.sh boots: loads the modules
 * that it finds, looks for the two nodes that tests want, runs what /tests/list names, and
 * turns the machine off. What it says to the script begins with "@".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEST_SECONDS 60 /* then it counts as hung */

static int64_t now_ms(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

static void mount_systems(void)
{
   static const struct {
      const char *type, *path;
   } systems[] = {{"devtmpfs", "/dev"}, {"proc", "/proc"}, {"sysfs", "/sys"}, {"tmpfs", "/tmp"}};
   for (unsigned i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
      mkdir(systems[i].path, 0755);
      if (mount(systems[i].type, systems[i].path, systems[i].type, 0, NULL) != 0 && errno != EBUSY)
         printf("@trouble mount of %s: %s\n", systems[i].path, strerror(errno));
   }
   int console = open("/dev/console", O_RDWR);
   for (int fd = 0; console >= 0 && fd < 3; fd++)
      dup2(console, fd);
}

static void load_module(const char *name)
{
   char path[128];
   snprintf(path, sizeof(path), "/modules/%s.ko", name);
   int fd = open(path, O_RDONLY | O_CLOEXEC);
   if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) != 0 && errno != EEXIST))
      printf("@trouble module %s: %s\n", name, strerror(errno));
   close(fd);
}

/* Calls do_line for each line of a file. */
static void for_lines(const char *path, void (*do_line)(const char *line))
{
   char line[256];
   FILE *list = fopen(path, "r");
   if (!list)
      printf("@trouble %s: %s\n", path, strerror(errno));
   while (list && fgets(line, sizeof(line), list)) {
      line[strcspn(line, "\n")] = 0;
      if (line[0])
         do_line(line);
   }
   if (list)
      fclose(list);
}

/* A node whose name begins so, of vgem or of another driver, becomes the variable's value. */
static bool find_node(const char *prefix, bool of_vgem, const char *variable)
{
   DIR *folder = opendir("/sys/class/drm");
   char path[300], target[300], node[300] = "";
   for (struct dirent *entry; folder && (entry = readdir(folder));) {
      if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || strchr(entry->d_name, '-'))
         continue;
      snprintf(path, sizeof(path), "/sys/class/drm/%s", entry->d_name);
      ssize_t length = readlink(path, target, sizeof(target) - 1);
      target[length > 0 ? length : 0] = 0;
      if ((strstr(target, "vgem") != NULL) == of_vgem)
         snprintf(node, sizeof(node), "/dev/dri/%.200s", entry->d_name);
   }
   if (folder)
      closedir(folder);
   if (node[0])
      setenv(variable, node, 1);
   return node[0] && access(node, F_OK) == 0;
}

/* Drivers may bring up their devices in their own time. */
static void find_nodes(void)
{
   for (int64_t until = now_ms() + 5000; now_ms() < until; usleep(10000))
      if (find_node("renderD", false, "AGX_TEST_DEVICE") &&
          find_node("card", true, "AGX_TEST_VGEM"))
         return;
   printf("@trouble no render node beside vgem, or no vgem\n");
}

static volatile sig_atomic_t running;

static void on_alarm(int number)
{
   kill(-running, SIGKILL);
}

/* A line is a program's path, and perhaps the name of one of its test files. */
static void run_test(const char *line)
{
   char path[256], name[2 * sizeof(path)];
   snprintf(path, sizeof(path), "%s", line);
   char *file = strchr(path, ' ');
   if (file)
      *file++ = 0;
   const char *slash = strrchr(path, '/');
   snprintf(name, sizeof(name), "%s%s%s", slash ? slash + 1 : path, file ? "@" : "",
            file ? file : "");
   printf("@begin %s\n", name);
   fflush(stdout);
   int64_t start = now_ms();
   int status = -1;
   pid_t child = fork();
   if (child == 0) {
      setpgid(0, 0);
      execl(path, path, file, NULL);
      printf("%s: %s\n", path, strerror(errno));
      fflush(stdout);
      _exit(126);
   }
   running = child;
   alarm(TEST_SECONDS);
   while (waitpid(child, &status, 0) < 0 && errno == EINTR)
      ;
   alarm(0);
   printf("@end %s %d %lld\n", name,
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          (long long)(now_ms() - start));
   fflush(stdout);
}

int main(void)
{
   struct utsname system;
   char device[256];
   mount_systems();
   signal(SIGALRM, on_alarm);
   for_lines("/modules/order", load_module);
   find_nodes();
   uname(&system);
   printf("\n@kernel %s %lld\n", system.release, (long long)now_ms());
   setenv("AGX_TEST_SOURCE_DIR", "/tests", 1);
   const char *node = getenv("AGX_TEST_DEVICE");
   snprintf(device, sizeof(device), "syncs:%.200s", node ? node : "");
   setenv("AGX_CONFORMANCE_DEVICE", device, 1);
   for_lines("/tests/list", run_test);
   printf("@done %lld\n", (long long)now_ms());
   fflush(stdout);
   sync();
   reboot(RB_POWER_OFF);
   return 1;
}
