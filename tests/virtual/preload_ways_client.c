/* SPDX-License-Identifier: MIT
 *
 * A program that reaches the node in every way that programs
 * have: odd paths, walks, system calls, descriptors closed wholesale, inherited and
 * passed on, threads. preload_test.c runs it under `agx virtual`. Says "fine" when all
 * went well.
 */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "winsys/asahi_uapi.h"

extern char **environ;

/* The program itself, as virtual_preloaded_test takes its arguments. */
#define SELF  "/proc/self/exe"
#define AGAIN SELF, "preload", "ways"

static uint32_t create_syncobj(int fd)
{
   struct agx_uapi_syncobj_create create = {0};
   return ioctl(fd, AGX_IOCTL_SYNCOBJ_CREATE, &create) ? 0 : create.handle;
}

static bool is_node(const char *path)
{
   struct stat info;
   return stat(path, &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == makedev(226, 128);
}

static void odd_paths(void)
{
   char path[PATH_MAX], start[PATH_MAX];
   struct stat by_path, by_fd;
   struct statx extended;
   CHECK(getcwd(start, sizeof(start)));
   CHECK(is_node("//dev///dri/./renderD128") && is_node("/dev/shm/../dri/renderD128"));
   CHECK(is_node("/dev/char/226:128") && is_node("/dev/dri/../char/226:128"));
   CHECK(!is_node("/dev/dri/../null") && access("/dev/dri/../null", W_OK) == 0);
   CHECK(chdir("/dev") == 0 && is_node("dri/renderD128") && is_node("../dev/dri/renderD128"));
   CHECK(chdir("dri") == 0 && is_node("renderD128") && access("../null", W_OK) == 0);
   CHECK(getcwd(path, sizeof(path)) && strcmp(path, "/dev/dri") == 0);
   CHECK(chdir("..") == 0 && getcwd(path, sizeof(path)) && strcmp(path, "/dev") == 0);
   CHECK(access("null", W_OK) == 0 && chdir(start) == 0);
   int folder = open("/dev", O_RDONLY | O_DIRECTORY);
   int fd = openat(folder, "dri/renderD128", O_RDWR);
   CHECK(fd >= 0 && create_syncobj(fd) == 1);
   CHECK(stat(NODE, &by_path) == 0 && fstat(fd, &by_fd) == 0);
   CHECK(by_path.st_ino == by_fd.st_ino && by_path.st_dev == by_fd.st_dev && by_fd.st_size == 0);
   CHECK(S_ISCHR(by_fd.st_mode) && by_fd.st_rdev == makedev(226, 128));
   CHECK(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &extended) == 0);
   CHECK(S_ISCHR(extended.stx_mode) && extended.stx_ino == by_path.st_ino);
   snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
   char link[64] = "";
   CHECK(readlink(path, link, sizeof(link) - 1) > 0 && strcmp(link, NODE) == 0);
   int again = open(path, O_RDWR);
   CHECK(again >= 0 && create_syncobj(again) == 1); /* a new file, as on a real node */
   int bare = open(NODE, O_PATH);
   CHECK(bare >= 0 && create_syncobj(bare) == 0 && errno == EBADF);
   FILE *stream = fopen(NODE, "r+");
   CHECK(stream && create_syncobj(fileno(stream)) == 1);
   CHECK((stream = freopen(NODE, "r+", stream)) && create_syncobj(fileno(stream)) == 1);
   fclose(stream);
   close(bare), close(again), close(fd), close(folder);
}

/* To users a folder of devices is read-only. */
static void nothing_new(void)
{
   struct statvfs system;
   CHECK(open("/dev/dri/new", O_WRONLY | O_CREAT, 0600) == -1 && errno == EACCES);
   CHECK(creat("/dev/dri/new", 0600) == -1 && errno == EACCES);
   CHECK(!fopen("/dev/dri/new", "we") && errno == EACCES);
   CHECK(!fopen("/dev/dri/new", "r+") && errno == ENOENT);
   CHECK(open("/dev/dri", O_RDWR | O_TMPFILE, 0600) == -1);
   int folder = open("/dev/dri", O_RDONLY | O_DIRECTORY);
   CHECK(openat(folder, "new", O_WRONLY | O_CREAT, 0600) == -1 && errno == EACCES);
   CHECK(syscall(SYS_openat, folder, "new", O_WRONLY | O_CREAT, 0600) == -1 && errno == EACCES);
   CHECK(faccessat(folder, "new", F_OK, 0) == -1 && errno == ENOENT);
   CHECK(open(NODE, O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
   CHECK(open("/dev/char/226:128", O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
   CHECK(open("/sys/class/drm/renderD128/dev", O_WRONLY | O_TRUNC) == -1 && errno == EACCES);
   CHECK(close(open(NODE, O_RDWR | O_CREAT | O_TRUNC, 0600)) == 0);
   CHECK(close(open("/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600)) == 0);
   CHECK(statvfs(NODE, &system) == 0 && statvfs("/dev/dri/new", &system) == -1);
   close(folder);
}

static unsigned seen;

static int count_nodes(const char *path, const struct stat *info, int kind, struct FTW *where)
{
   CHECK(strncmp(path, "/dev/dri", 8) == 0 && where && kind >= 0);
   seen += S_ISCHR(info->st_mode) && strcmp(path, NODE) == 0;
   return 0;
}

static void walks(void)
{
   glob_t found;
   CHECK(glob("/dev/dri/*", 0, NULL, &found) == 0 && found.gl_pathc == 1);
   CHECK(strcmp(found.gl_pathv[0], NODE) == 0);
   globfree(&found);
   CHECK(glob("/sys/class/drm/render*/device/uevent", 0, NULL, &found) == 0);
   CHECK(found.gl_pathc == 1);
   globfree(&found);
   CHECK(nftw("/dev/dri", count_nodes, 8, FTW_PHYS) == 0 && seen == 1);
   CHECK(access("/dev/dri/card0", F_OK) != 0 && access("/sys/class/drm/card0", F_OK) != 0);
}

static void system_calls(void)
{
   struct open_how how = {.flags = O_RDWR};
   struct agx_uapi_syncobj_create create = {0};
   int fd = (int)syscall(SYS_openat, AT_FDCWD, NODE, O_RDWR | O_CLOEXEC, 0);
   CHECK(fd >= 0 && syscall(SYS_ioctl, fd, AGX_IOCTL_SYNCOBJ_CREATE, &create) == 0);
   CHECK(create.handle == 1);
   int copy = (int)syscall(SYS_dup, fd);
   CHECK(create_syncobj(copy) == 2 && syscall(SYS_close, copy) == 0);
   CHECK(create_syncobj(copy) == 0 && errno == EBADF && create_syncobj(fd) == 3);
   int other = (int)syscall(SYS_openat2, AT_FDCWD, NODE, &how, sizeof(how));
   CHECK(other >= 0 && create_syncobj(other) == 1);
   close(other), close(fd);
}

static void waiting(void)
{
   int fd = open(NODE, O_RDWR), epoll = epoll_create1(0);
   struct epoll_event event = {.events = EPOLLIN};
   fd_set set;
   FD_ZERO(&set);
   FD_SET(fd, &set);
   CHECK(select(fd + 1, &set, NULL, NULL, &(struct timeval){0}) == 0 && !FD_ISSET(fd, &set));
   CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
   CHECK(epoll_wait(epoll, &event, 1, 0) == 0);
   CHECK(ftruncate(fd, 0) == -1 && pwrite(fd, "x", 1, 0) == -1 && errno == EINVAL);
   CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && fcntl(fd, F_GETFL) & O_NONBLOCK);
   close(epoll), close(fd);
}

/* More than fit on a stack; nothing ever happens on the node, wherever it stands. */
static void polling_many(void)
{
   static struct pollfd fds[1000];
   int fd = open(NODE, O_RDWR), pipes[2];
   CHECK(pipe(pipes) == 0 && write(pipes[1], "x", 1) == 1);
   for (int i = 0; i < 1000; i++)
      fds[i] = (struct pollfd){i == 500 ? pipes[0] : i % 3 ? fd : -1, POLLIN, 0};
   CHECK(poll(fds, 1000, -1) == 1 && fds[500].revents == POLLIN && fds[1].fd == fd);
   CHECK(read(pipes[0], &(char){0}, 1) == 1 && poll(fds, 1000, 0) == 0 && !fds[500].revents);
   CHECK(ppoll(fds, 70, &(struct timespec){0}, NULL) == 0);
   close(pipes[0]), close(pipes[1]), close(fd);
}

/* Programs close what they don't know before they start others; the node keeps its own. */
static void closing_wholesale(void)
{
   int fd = open(NODE, O_RDWR);
   CHECK(create_syncobj(fd) == 1 && close_range(3, ~0u, 0) == 0);
   CHECK(create_syncobj(fd) == 0 && errno == EBADF);
   fd = open(NODE, O_RDWR);
   CHECK(create_syncobj(fd) == 1);
   closefrom(3);
   for (int i = 3; i < 1024; i++)
      close(i);
   fd = open(NODE, O_RDWR);
   CHECK(fd == 3 && create_syncobj(fd) == 1);
   for (int i = 4; i < 1024; i++)
      CHECK(dup2(fd, i) == i);
   CHECK(create_syncobj(1023) == 2 && close_range(4, ~0u, 0) == 0 && create_syncobj(fd) == 3);
   close(fd);
   fd = open(NODE, O_RDWR);
   CHECK(create_syncobj(fd) == 1);
   pid_t child = vfork(); /* borrows our memory: its close is not ours */
   if (child == 0) {
      close(fd);
      _exit(0);
   }
   CHECK(waitpid(child, NULL, 0) == child && create_syncobj(fd) == 2);
   close(fd);
}

static int wait_for(pid_t child)
{
   int status;
   CHECK(waitpid(child, &status, 0) == child);
   return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* An inherited descriptor is the same open file in a program that was executed. */
static void executed(void)
{
   char number[16];
   int fd = open(NODE, O_RDWR);
   CHECK(create_syncobj(fd) == 1);
   snprintf(number, sizeof(number), "%d", fd);
   pid_t child = fork();
   if (child == 0) {
      execl(SELF, AGAIN, "inherited", number, NULL);
      _exit(9);
   }
   CHECK(wait_for(child) == 0 && create_syncobj(fd) == 3);
   char *arguments[] = {AGAIN, "spawned", NULL};
   posix_spawn_file_actions_t actions;
   CHECK(posix_spawn_file_actions_init(&actions) == 0);
   CHECK(posix_spawn_file_actions_addopen(&actions, 7, NODE, O_RDWR, 0) == 0);
   CHECK(posix_spawn(&child, SELF, &actions, NULL, arguments, environ) == 0);
   CHECK(wait_for(child) == 0);
   close(fd);
}

static void send_fds(int socket, const int *fds, int count)
{
   char control[CMSG_SPACE(4 * sizeof(int))] = {0}, byte = 0;
   struct iovec part = {&byte, 1};
   struct msghdr message = {
      .msg_iov = &part,
      .msg_iovlen = 1,
      .msg_control = control,
      .msg_controllen = CMSG_SPACE((size_t)count * sizeof(int)),
   };
   struct cmsghdr *header = CMSG_FIRSTHDR(&message);
   *header = (struct cmsghdr){.cmsg_len = CMSG_LEN((size_t)count * sizeof(int)),
                              .cmsg_level = SOL_SOCKET,
                              .cmsg_type = SCM_RIGHTS};
   memcpy(CMSG_DATA(header), fds, (size_t)count * sizeof(int));
   CHECK(sendmsg(socket, &message, 0) == 1);
}

static void receive_fds(int socket, int *fds, int count)
{
   char control[CMSG_SPACE(4 * sizeof(int))], byte;
   struct iovec part = {&byte, 1};
   struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
   CHECK(recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message));
   memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), (size_t)count * sizeof(int));
}

static int *map_handle(int fd, uint32_t handle)
{
   struct agx_uapi_gem_mmap_offset offset = {.handle = handle};
   CHECK(ioctl(fd, AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET, &offset) == 0);
   int *memory =
      mmap(NULL, AGX_UAPI_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset.offset);
   CHECK(memory != MAP_FAILED);
   return memory;
}

/* The other program: opens the node itself, takes a syncobj, a buffer and an open file. */
static void peer(int socket)
{
   int fds[3], fd = open(NODE, O_RDWR);
   CHECK(fd >= 0);
   receive_fds(socket, fds, 3);
   struct agx_uapi_syncobj_handle syncobj = {.fd = fds[0]};
   struct agx_uapi_prime_handle buffer = {.fd = fds[1]};
   CHECK(ioctl(fd, AGX_IOCTL_SYNCOBJ_FD_TO_HANDLE, &syncobj) == 0);
   CHECK(ioctl(fd, AGX_IOCTL_PRIME_FD_TO_HANDLE, &buffer) == 0);
   CHECK(map_handle(fd, buffer.handle)[5] == 55);
   map_handle(fd, buffer.handle)[6] = 66;
   CHECK(create_syncobj(fds[2]) == 2); /* the file of the sender, who closed it by now */
   struct agx_uapi_syncobj_array signal = {.handles = (uintptr_t)&syncobj.handle,
                                           .count_handles = 1};
   CHECK(ioctl(fd, AGX_IOCTL_SYNCOBJ_SIGNAL, &signal) == 0);
}

static void shared_by_programs(void)
{
   int pair[2], fd = open(NODE, O_RDWR), passed = open(NODE, O_RDWR);
   char number[16];
   CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
   snprintf(number, sizeof(number), "%d", pair[1]);
   fcntl(pair[0], F_SETFD, FD_CLOEXEC);
   fcntl(fd, F_SETFD, FD_CLOEXEC);
   fcntl(passed, F_SETFD, FD_CLOEXEC);
   pid_t child = fork();
   if (child == 0) {
      execl(SELF, AGAIN, "peer", number, NULL);
      _exit(9);
   }
   uint32_t handle = create_syncobj(fd);
   struct agx_uapi_syncobj_handle syncobj = {.handle = handle};
   struct agx_uapi_gem_create create = {.size = AGX_UAPI_PAGE_BYTES};
   CHECK(ioctl(fd, AGX_IOCTL_ASAHI_GEM_CREATE, &create) == 0);
   struct agx_uapi_prime_handle buffer = {.handle = create.handle,
                                          .flags = AGX_UAPI_PRIME_CLOEXEC | AGX_UAPI_PRIME_RDWR};
   CHECK(ioctl(fd, AGX_IOCTL_SYNCOBJ_HANDLE_TO_FD, &syncobj) == 0);
   CHECK(ioctl(fd, AGX_IOCTL_PRIME_HANDLE_TO_FD, &buffer) == 0);
   int *memory = map_handle(fd, create.handle);
   memory[5] = 55;
   CHECK(create_syncobj(passed) == 1);
   send_fds(pair[0], (int[]){syncobj.fd, buffer.fd, passed}, 3);
   close(passed), close(syncobj.fd), close(buffer.fd);
   struct agx_uapi_syncobj_wait wait = {.handles = (uintptr_t)&handle,
                                        .timeout_nsec = INT64_MAX,
                                        .count_handles = 1,
                                        .flags = AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT};
   CHECK(ioctl(fd, AGX_IOCTL_SYNCOBJ_WAIT, &wait) == 0 && memory[6] == 66);
   CHECK(wait_for(child) == 0);
   close(fd), close(pair[0]), close(pair[1]);
}

static void *open_and_close(void *argument)
{
   for (int i = 0; i < 200; i++) {
      int fd = open(NODE, O_RDWR | O_CLOEXEC), copy = dup(fd);
      CHECK(fd >= 0 && copy >= 0 && create_syncobj(copy) == 1);
      close(fd);
      CHECK(create_syncobj(copy) == 2);
      close(copy);
   }
   return argument;
}

static void by_threads(void)
{
   pthread_t threads[4];
   for (int i = 0; i < 4; i++)
      CHECK(pthread_create(&threads[i], NULL, open_and_close, NULL) == 0);
   for (int i = 0; i < 20; i++) {
      pid_t child = fork();
      if (child == 0) {
         int fd = open(NODE, O_RDWR);
         _exit(create_syncobj(fd) != 1);
      }
      CHECK(wait_for(child) == 0);
   }
   for (int i = 0; i < 4; i++)
      pthread_join(threads[i], NULL);
}

int client_ways(char **arguments)
{
   const char *child = arguments[0] ? arguments[0] : "";
   if (strcmp(child, "inherited") == 0)
      return create_syncobj(atoi(arguments[1])) != 2;
   if (strcmp(child, "spawned") == 0)
      return create_syncobj(7) != 1;
   if (strcmp(child, "peer") == 0) {
      peer(atoi(arguments[1]));
      return 0;
   }
   odd_paths();
   walks();
   system_calls();
   waiting();
   polling_many();
   nothing_new();
   executed();
   shared_by_programs();
   by_threads();
   closing_wholesale();
   printf("fine\n");
   return 0;
}
