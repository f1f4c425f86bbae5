/* SPDX-License-Identifier: MIT
 *
 * A program whose system calls must be served: linked statically, so that nothing can be preloaded
 * into it, and as a part of virtual_preloaded_test, for `agx virtual --seccomp`.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "winsys/asahi_uapi.h"

static uint32_t create_syncobj(int fd)
{
   struct agx_uapi_syncobj_create create = {0};
   return ioctl(fd, AGX_IOCTL_SYNCOBJ_CREATE, &create) ? 0 : create.handle;
}

static void look(void)
{
   struct stat by_path, by_fd;
   struct statx extended;
   char link[64] = "", path[64], text[256] = "";
   CHECK(stat(NODE, &by_path) == 0 && S_ISCHR(by_path.st_mode));
   CHECK(by_path.st_rdev == makedev(226, 128) && access(NODE, R_OK | W_OK) == 0);
   CHECK(lstat("/dev//dri/./renderD128", &by_path) == 0 && S_ISCHR(by_path.st_mode));
   CHECK(access("/dev/dri/card0", F_OK) == -1 && errno == ENOENT);
   CHECK(access("/dev/null", R_OK) == 0 && open("/dev/dri/renderD129", O_RDWR) == -1);
   CHECK(open("/dev/dri/new", O_RDWR | O_CREAT, 0600) == -1 && errno == EACCES);
   CHECK(access("/dev/dri/new", F_OK) == -1 && errno == ENOENT);
   CHECK(open(NODE, O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
   CHECK(open("/sys/class/drm/renderD128/dev", O_WRONLY | O_TRUNC) == -1 && errno == EACCES);
   CHECK(close(open(NODE, O_RDWR | O_CREAT | O_TRUNC, 0600)) == 0);
   struct statfs system;
   CHECK(statfs(NODE, &system) == 0 && statfs("/dev/dri/new", &system) == -1 && errno == ENOENT);
   CHECK(getxattr(NODE, "user.none", NULL, 0) == -1 && errno != ENOENT);
   CHECK(listxattr("/dev/dri", NULL, 0) >= 0 || errno != ENOENT);
   DIR *folder = opendir("/dev/dri");
   CHECK(folder);
   unsigned entries = 0;
   for (struct dirent *entry; (entry = readdir(folder));)
      entries += strcmp(entry->d_name, "renderD128") == 0;
   int fd = openat(dirfd(folder), "renderD128", O_RDWR | O_CLOEXEC);
   CHECK(entries == 1 && fd >= 0 && create_syncobj(fd) == 1 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
   closedir(folder);
   CHECK(fstat(fd, &by_fd) == 0 && S_ISCHR(by_fd.st_mode) && by_fd.st_ino == by_path.st_ino);
   CHECK(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &extended) == 0);
   CHECK(S_ISCHR(extended.stx_mode) && extended.stx_rdev_minor == 128);
   snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
   CHECK(readlink(path, link, sizeof(link) - 1) > 0 && strcmp(link, NODE) == 0);
   CHECK(readlink("/sys/dev/char/226:128/device/subsystem", text, sizeof(text) - 1) > 0);
   CHECK(strstr(text, "bus/platform"));
   int file = open("/sys/dev/char/226:128/device/uevent", O_RDONLY);
   CHECK(file >= 0 && read(file, text, sizeof(text) - 1) > 20 && strstr(text, "DRIVER=asahi"));
   close(file), close(fd);
}

static void ask(int fd)
{
   char name[16] = "";
   struct agx_uapi_version version = {.name = (uintptr_t)name, .name_len = sizeof(name) - 1};
   struct agx_uapi_params_global params = {0};
   struct agx_uapi_get_params get = {0, 0, (uintptr_t)&params, sizeof(params)};
   CHECK(syscall(SYS_ioctl, fd, AGX_IOCTL_VERSION, &version) == 0 && strcmp(name, "asahi") == 0);
   CHECK(ioctl(fd, AGX_IOCTL_ASAHI_GET_PARAMS, &get) == 0 && params.gpu_generation == 13);
   get.pointer = 16; /* not mapped */
   CHECK(ioctl(fd, AGX_IOCTL_ASAHI_GET_PARAMS, &get) == -1 && errno == EFAULT);
   CHECK(ioctl(fd, AGX_IOCTL_ASAHI_GET_PARAMS, NULL) == -1 && errno == EFAULT);
   CHECK(ioctl(fd, AGX_UAPI_INOUT(0x3f, uint64_t), &get) == -1 && errno == EINVAL);
}

static int *map(int fd, uint64_t offset)
{
   int *memory =
      mmap(NULL, AGX_UAPI_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
   CHECK(memory != MAP_FAILED);
   return memory;
}

static void use_memory(int fd)
{
   struct agx_uapi_gem_create create = {.size = 2 * AGX_UAPI_PAGE_BYTES};
   CHECK(ioctl(fd, AGX_IOCTL_ASAHI_GEM_CREATE, &create) == 0 && create.handle == 1);
   struct agx_uapi_gem_mmap_offset offset = {.handle = 1};
   CHECK(ioctl(fd, AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET, &offset) == 0);
   int *one = map(fd, offset.offset), *two = map(fd, offset.offset);
   one[17] = 42;
   CHECK(two[17] == 42 && two[18] == 0 && one != two);
   pid_t child = fork();
   if (child == 0) {
      two[18] = 43;
      _exit(create_syncobj(fd) == 0);
   }
   int status;
   CHECK(waitpid(child, &status, 0) == child && status == 0 && one[18] == 43);
   struct agx_uapi_prime_handle buffer = {.handle = 1, .flags = AGX_UAPI_PRIME_CLOEXEC};
   CHECK(ioctl(fd, AGX_IOCTL_PRIME_HANDLE_TO_FD, &buffer) == -1 && errno == EOPNOTSUPP);
}

static void use_queue(int fd)
{
   struct agx_uapi_vm_create vm = {.kernel_start = 1ull << 32, .kernel_end = 2ull << 32};
   CHECK(ioctl(fd, AGX_IOCTL_ASAHI_VM_CREATE, &vm) == 0);
   struct agx_uapi_gem_bind_op op = {.flags = AGX_UAPI_BIND_READ | AGX_UAPI_BIND_WRITE,
                                     .handle = 1,
                                     .range = AGX_UAPI_PAGE_BYTES,
                                     .addr = 3ull << 32};
   struct agx_uapi_vm_bind bind = {
      .vm_id = vm.vm_id, .num_binds = 1, .stride = sizeof(op), .userptr = (uintptr_t)&op};
   CHECK(ioctl(fd, AGX_IOCTL_ASAHI_VM_BIND, &bind) == 0);
   struct agx_uapi_queue_create queue = {.vm_id = vm.vm_id, .usc_exec_base = 1ull << 32};
   CHECK(ioctl(fd, AGX_IOCTL_ASAHI_QUEUE_CREATE, &queue) == 0);
}

static int shared_fd;
static uint32_t shared_handle;

static void *signal_later(void *argument)
{
   struct agx_uapi_syncobj_array signal = {.handles = (uintptr_t)&shared_handle,
                                           .count_handles = 1};
   usleep(20000);
   CHECK(ioctl(shared_fd, AGX_IOCTL_SYNCOBJ_SIGNAL, &signal) == 0);
   return argument;
}

static void use_syncobjs(int fd)
{
   pthread_t thread;
   shared_fd = fd;
   shared_handle = create_syncobj(fd);
   struct agx_uapi_syncobj_wait wait = {
      .handles = (uintptr_t)&shared_handle, .timeout_nsec = 1, .count_handles = 1};
   CHECK(ioctl(fd, AGX_IOCTL_SYNCOBJ_WAIT, &wait) == -1 && errno == EINVAL);
   wait.flags = AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT;
   CHECK(ioctl(fd, AGX_IOCTL_SYNCOBJ_WAIT, &wait) == -1 && errno == ETIME);
   int event = eventfd(0, 0);
   struct agx_uapi_syncobj_eventfd watch = {.handle = shared_handle, .fd = event};
   CHECK(ioctl(fd, AGX_IOCTL_SYNCOBJ_EVENTFD, &watch) == 0);
   wait.timeout_nsec = INT64_MAX;
   CHECK(pthread_create(&thread, NULL, signal_later, NULL) == 0);
   CHECK(ioctl(fd, AGX_IOCTL_SYNCOBJ_WAIT, &wait) == 0);
   pthread_join(thread, NULL);
   uint64_t count = 0;
   CHECK(read(event, &count, sizeof(count)) == sizeof(count) && count == 1);
   struct agx_uapi_syncobj_handle handle = {.handle = shared_handle};
   CHECK(ioctl(fd, AGX_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle) == 0 && handle.fd >= 0);
   handle.handle = 0;
   CHECK(ioctl(fd, AGX_IOCTL_SYNCOBJ_FD_TO_HANDLE, &handle) == 0);
   wait = (struct agx_uapi_syncobj_wait){.handles = (uintptr_t)&handle.handle, .count_handles = 1};
   CHECK(handle.handle != shared_handle && ioctl(fd, AGX_IOCTL_SYNCOBJ_WAIT, &wait) == 0);
   handle.fd = 999;
   CHECK(ioctl(fd, AGX_IOCTL_SYNCOBJ_FD_TO_HANDLE, &handle) == -1 && errno == EINVAL);
}

static void on_alarm(int number)
{
   (void)number;
}

static void set_alarm(int flags, int first_us, int interval_us)
{
   const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
   const struct itimerval timer = {{0, interval_us}, {0, first_us}};
   CHECK(sigaction(SIGALRM, &action, NULL) == 0);
   CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

/* Before Linux 5.19 the kernel starts calls over that a signal meets while they are served. */
static bool calls_are_whole(void)
{
   struct utsname host;
   int major = 0, minor = 0;
   CHECK(uname(&host) == 0 && sscanf(host.release, "%d.%d", &major, &minor) == 2);
   return major > 5 || (major == 5 && minor >= 19);
}

/* Nothing is done twice under them, and waits end by them. */
static void take_signals(void)
{
   int fd = open(NODE, O_RDWR);
   CHECK(fd >= 0);
   if (calls_are_whole()) {
      set_alarm(SA_RESTART, 200, 200);
      for (uint32_t i = 1; i <= 1000; i++)
         CHECK(create_syncobj(fd) == i);
   }
   uint32_t handle = create_syncobj(fd);
   set_alarm(0, 20000, 20000);
   struct agx_uapi_syncobj_wait wait = {.handles = (uintptr_t)&handle,
                                        .count_handles = 1,
                                        .timeout_nsec = INT64_MAX,
                                        .flags = AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT};
   CHECK(ioctl(fd, AGX_IOCTL_SYNCOBJ_WAIT, &wait) == -1 && errno == EINTR);
   pthread_t thread;
   set_alarm(SA_RESTART, 3000, 3000);
   shared_fd = fd;
   shared_handle = handle;
   CHECK(pthread_create(&thread, NULL, signal_later, NULL) == 0);
   CHECK(ioctl(fd, AGX_IOCTL_SYNCOBJ_WAIT, &wait) == 0);
   set_alarm(SA_RESTART, 0, 0);
   pthread_join(thread, NULL);
   close(fd);
}

int client_calls(void)
{
   look();
   take_signals();
   int fd = open(NODE, O_RDWR), other = open(NODE, O_RDWR);
   CHECK(fd >= 0 && other >= 0 && create_syncobj(other) == 1);
   ask(fd);
   use_memory(fd);
   use_queue(fd);
   use_syncobjs(fd);
   int copy = dup(fd);
   close(fd);
   CHECK(create_syncobj(copy) > 2 && create_syncobj(fd) == 0 && errno == EBADF);
   CHECK(system("test -c " NODE " && test `ls /dev/dri` = renderD128") == 0);
   printf("fine\n");
   return 0;
}
