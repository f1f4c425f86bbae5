/* SPDX-License-Identifier: MIT
 *
 * Writes the file. Records are appended whole, so that processes that write the same file don't mix
 * them: those of one request at once, when the lock goes, so that a process that dies loses no
 * request that has returned. A file that can't be written any more keeps the errno.
 */
#include "winsys/capture/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/util.h"

#define RUN_BYTES     ((size_t)AGXW_CAPTURE_RUN_PAGES * AGXW_CAPTURE_PAGE_BYTES)
#define ZSTD_LEVEL    1
#define HASH_LOG      13    /* tables of 32 KB, not of 128, are cleared for each page */
#define FIRST_FD      210   /* programs expect the next free number when they open something */
#define MAX_ARGUMENTS 4096u /* of the program, that its PROCESS record holds */
#define PENDING_BYTES ((size_t)16 << 10)

struct agxw_capture_file {
   struct agx_link link; /* in files */
   unsigned refs;
   char *path;
   int fd;
   struct agxw_capture_options options;
   pthread_mutex_t lock;
   uint32_t process, forks, opens;
   uint64_t submits, written;
   int64_t begin_ns;
   int error;
   bool is_over;
   ZSTD_CCtx *packer;
   uint8_t *packed;  /* ZSTD_compressBound(RUN_BYTES) */
   uint8_t *pending; /* records that wait for the end of their request */
   size_t pending_bytes;
};

/* Those of this process; the lock is taken before theirs. */
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static struct agx_link files = {&files, &files};

void agxw_capture_lock(struct agxw_capture_file *file)
{
   pthread_mutex_lock(&file->lock);
}

/* ---- records ---- */

static void write_all(struct agxw_capture_file *file, struct iovec *parts, int count)
{
   while (count > 0) {
      ssize_t put = writev(file->fd, parts, count);
      if (put < 0 && errno == EINTR)
         continue;
      if (put <= 0) {
         file->error = put < 0 ? errno : EIO;
         return;
      }
      for (; count > 0 && (size_t)put >= parts->iov_len; parts++, count--)
         put -= (ssize_t)parts->iov_len;
      if (count > 0) {
         parts->iov_base = (uint8_t *)parts->iov_base + put;
         parts->iov_len -= (size_t)put;
      }
   }
}

void agxw_capture_flush(struct agxw_capture_file *file)
{
   if (file->pending_bytes > 0 && !file->error)
      write_all(file, &(struct iovec){file->pending, file->pending_bytes}, 1);
   file->pending_bytes = 0;
}

void agxw_capture_unlock(struct agxw_capture_file *file)
{
   agxw_capture_flush(file);
   pthread_mutex_unlock(&file->lock);
}

/* Writes the parts of a record, now or with those behind it. */
static void append(struct agxw_capture_file *file, struct iovec *parts, int count, uint64_t bytes)
{
   file->written += bytes;
   if (bytes > PENDING_BYTES - file->pending_bytes)
      agxw_capture_flush(file);
   if (bytes > PENDING_BYTES) {
      if (!file->error)
         write_all(file, parts, count);
      return;
   }
   for (int i = 0; i < count; i++) {
      memcpy(file->pending + file->pending_bytes, parts[i].iov_base, parts[i].iov_len);
      file->pending_bytes += parts[i].iov_len;
   }
}

static void put_record(struct agxw_capture_file *file, const struct agxw_capture_origin *origin,
                       struct agxw_capture_record_header *header, const struct iovec *parts,
                       int count)
{
   static const uint8_t zero[8];
   struct iovec all[AGXW_CAPTURE_MAX_PARTS + 2] = {{header, sizeof(*header)}};
   uint64_t bytes = 0;
   agx_assert(count <= AGXW_CAPTURE_MAX_PARTS);
   for (int i = 0; i < count; i++) {
      all[1 + i] = parts[i];
      bytes += parts[i].iov_len;
   }
   all[1 + count] = (struct iovec){(void *)zero, (8 - bytes % 8) % 8};
   header->stored_bytes = bytes;
   if (header->bytes == 0)
      header->bytes = bytes;
   header->time_ns = agx_now_ns();
   header->process = origin->process;
   header->file = origin->file;
   if (!file->error && !file->is_over)
      append(file, all, count + 2, sizeof(*header) + agx_align_up(bytes, 8));
}

void agxw_capture_put(struct agxw_capture_file *file, const struct agxw_capture_origin *origin,
                      enum agxw_capture_type type, const struct iovec *parts, int count)
{
   struct agxw_capture_record_header header = {.type = type};
   put_record(file, origin, &header, parts, count);
}

void agxw_capture_put_note(struct agxw_capture_file *file, const struct agxw_capture_origin *origin,
                           const char *format, ...)
{
   char text[200];
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(text, sizeof(text), format, arguments);
   va_end(arguments);
   const struct iovec part = {text, strlen(text)};
   agxw_capture_put(file, origin, AGXW_CAPTURE_NOTE, &part, 1);
}

/* Bytes of the frame in file->packed; 0: contents stay as they are. Many programs never need the
 * library's tables. */
static size_t pack(struct agxw_capture_file *file, const void *contents, size_t bytes)
{
   size_t packed = agxw_capture_pack_sparse(contents, bytes, file->packed);
   if (packed > 0)
      return packed;
   if (!file->packer) {
      file->packer = ZSTD_createCCtx();
      if (!file->packer)
         return 0;
      (void)ZSTD_CCtx_setParameter(file->packer, ZSTD_c_compressionLevel, ZSTD_LEVEL);
      (void)ZSTD_CCtx_setParameter(file->packer, ZSTD_c_hashLog, HASH_LOG);
   }
   packed =
      ZSTD_compress2(file->packer, file->packed, ZSTD_compressBound(RUN_BYTES), contents, bytes);
   return ZSTD_isError(packed) ? 0 : packed;
}

void agxw_capture_put_pages(struct agxw_capture_file *file,
                            const struct agxw_capture_origin *origin,
                            const struct agxw_capture_pages *pages, const void *contents,
                            size_t bytes)
{
   struct agxw_capture_record_header header = {.type = AGXW_CAPTURE_PAGES,
                                               .bytes = sizeof(*pages) + bytes};
   size_t packed = pack(file, contents, bytes);
   bool is_packed = packed > 0 && packed < bytes;
   if (is_packed)
      header.flags = AGXW_CAPTURE_ZSTD;
   const struct iovec parts[] = {
      {(void *)pages, sizeof(*pages)},
      {is_packed ? file->packed : (void *)contents, is_packed ? packed : bytes},
   };
   put_record(file, origin, &header, parts, 2);
}

void agxw_capture_end(struct agxw_capture_file *file, const char *why)
{
   const struct agxw_capture_origin origin = {.process = file->process};
   if (file->is_over)
      return;
   agxw_capture_put_note(file, &origin, "the recording ends: %s", why);
   file->is_over = true;
}

bool agxw_capture_is_over(struct agxw_capture_file *file)
{
   const struct agxw_capture_options *options = &file->options;
   char why[80];
   if (options->max_bytes && file->written >= options->max_bytes) {
      snprintf(why, sizeof(why), "%llu bytes are written, the limit is %llu",
               (unsigned long long)file->written, (unsigned long long)options->max_bytes);
      agxw_capture_end(file, why);
   }
   if (options->max_seconds &&
       (agx_now_ns() - file->begin_ns) / 1000000000 >= (int64_t)options->max_seconds) {
      snprintf(why, sizeof(why), "its limit of %llu seconds is over",
               (unsigned long long)options->max_seconds);
      agxw_capture_end(file, why);
   }
   return file->is_over;
}

/* ---- counts ---- */

const struct agxw_capture_options *agxw_capture_file_options(const struct agxw_capture_file *file)
{
   return &file->options;
}

int agxw_capture_error(const struct agxw_capture_file *file)
{
   return file->error;
}

uint64_t agxw_capture_count_submit(struct agxw_capture_file *file)
{
   return ++file->submits;
}

uint32_t agxw_capture_count_open(struct agxw_capture_file *file)
{
   return ++file->opens;
}

uint32_t agxw_capture_forks(const struct agxw_capture_file *file)
{
   return file->forks;
}

uint32_t agxw_capture_process_id(const struct agxw_capture_file *file)
{
   return file->process;
}

int agxw_capture_file_fd(struct agxw_capture_file *file)
{
   return file->fd;
}

bool agxw_capture_file_move(struct agxw_capture_file *file)
{
   agxw_capture_lock(file);
   int moved = fcntl(file->fd, F_DUPFD_CLOEXEC, file->fd + 1);
   if (moved >= 0) {
      close(file->fd);
      file->fd = moved;
   }
   agxw_capture_unlock(file);
   return moved >= 0;
}

/* ---- forks ---- */

/* Afterwards the child holds no lock that was taken by a thread that it lacks. */
static void before_fork(void)
{
   pthread_mutex_lock(&files_lock);
   agx_list_for_each (struct agxw_capture_file, file, &files, link)
      pthread_mutex_lock(&file->lock);
}

static void after_fork(void)
{
   agx_list_for_each (struct agxw_capture_file, file, &files, link) {
      file->forks++;
      pthread_mutex_unlock(&file->lock);
   }
   pthread_mutex_unlock(&files_lock);
}

static void after_fork_child(void)
{
   agx_list_for_each (struct agxw_capture_file, file, &files, link)
      file->process = (uint32_t)getpid();
   after_fork();
}

static void watch_forks(void)
{
   pthread_atfork(before_fork, after_fork, after_fork_child);
}

/* ---- opening ---- */

/* What the program was called with, as /proc has it. */
static void put_process(struct agxw_capture_file *file)
{
   const struct agxw_capture_process head = {.parent = (uint32_t)getppid()};
   const struct agxw_capture_origin origin = {.process = file->process};
   char arguments[MAX_ARGUMENTS];
   int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
   ssize_t bytes = fd >= 0 ? read(fd, arguments, sizeof(arguments)) : 0;
   if (fd >= 0)
      close(fd);
   const struct iovec parts[] = {{(void *)&head, sizeof(head)},
                                 {arguments, (size_t)AGX_MAX(bytes, 0)}};
   agxw_capture_put(file, &origin, AGXW_CAPTURE_PROCESS, parts, 2);
}

static void put_header(struct agxw_capture_file *file, const char *node)
{
   struct agxw_capture_header header = {.version = AGXW_CAPTURE_VERSION,
                                        .header_bytes = sizeof(header),
                                        .page_bytes = AGXW_CAPTURE_PAGE_BYTES};
   memcpy(header.magic, AGXW_CAPTURE_MAGIC, sizeof(header.magic));
   snprintf(header.node, sizeof(header.node), "%s", node);
   append(file, &(struct iovec){&header, sizeof(header)}, 1, sizeof(header));
}

int agxw_capture_make_private(int fd)
{
   struct stat info;
   if (fstat(fd, &info) != 0)
      return errno;
   bool is_open = S_ISREG(info.st_mode) && info.st_mode & (S_IRWXG | S_IRWXO);
   bool is_foreign = info.st_uid != geteuid();
   return is_open && fchmod(fd, S_IRUSR | S_IWUSR) != 0 && is_foreign ? errno : 0;
}

static agx_status open_file(struct agxw_capture_file *file)
{
   int flags = O_WRONLY | O_APPEND | O_CLOEXEC | (file->options.joins ? 0 : O_CREAT | O_TRUNC);
   int fd = open(file->path, flags, 0600);
   int error = fd < 0 ? errno : file->options.joins ? 0 : agxw_capture_make_private(fd);
   if (error && fd >= 0)
      close(fd);
   if (error)
      return agx_status_fail_errno(error, "capture: %s can't be written", file->path);
   file->fd = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
   if (file->fd < 0)
      file->fd = fd; /* few are allowed */
   else
      close(fd);
   return AGX_OK;
}

static void free_file(struct agxw_capture_file *file)
{
   if (file->fd >= 0)
      close(file->fd);
   ZSTD_freeCCtx(file->packer);
   free(file->packed);
   free(file->pending);
   free(file->path);
   free(file);
}

static agx_status make_file(const char *path, const char *node,
                            const struct agxw_capture_options *options,
                            struct agxw_capture_file **out_file)
{
   struct agxw_capture_file *file = calloc(1, sizeof(*file));
   if (!file)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "capture: no memory for its recorder");
   file->fd = -1;
   file->path = strdup(path);
   file->packed = malloc(ZSTD_compressBound(RUN_BYTES));
   file->pending = malloc(PENDING_BYTES);
   file->options = *options;
   file->process = (uint32_t)getpid();
   file->begin_ns = agx_now_ns();
   agx_status status = file->path && file->packed && file->pending
                          ? open_file(file)
                          : AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "capture: no memory for its recorder");
   if (status != AGX_OK) {
      free_file(file);
      return status;
   }
   pthread_mutex_init(&file->lock, NULL);
   if (!options->joins)
      put_header(file, node);
   put_process(file);
   agxw_capture_flush(file);
   *out_file = file;
   return AGX_OK;
}

agx_status agxw_capture_file_open(const char *path, const char *node,
                                  const struct agxw_capture_options *options,
                                  struct agxw_capture_file **out_file)
{
   static pthread_once_t once = PTHREAD_ONCE_INIT;
   pthread_once(&once, watch_forks);
   *out_file = NULL;
   pthread_mutex_lock(&files_lock);
   agx_list_for_each (struct agxw_capture_file, it, &files, link)
      if (strcmp(it->path, path) == 0)
         *out_file = it;
   agx_status status = *out_file ? AGX_OK : make_file(path, node, options, out_file);
   if (status == AGX_OK) {
      if ((*out_file)->refs++ == 0)
         agx_list_append(&files, &(*out_file)->link);
   }
   pthread_mutex_unlock(&files_lock);
   return status;
}

agx_status agxw_capture_file_join(bool is_at_nodes, struct agxw_capture_file **out_file)
{
   struct agxw_capture_options options;
   const char *path = getenv("AGX_CAPTURE");
   *out_file = NULL;
   if (!path || !*path)
      return AGX_OK;
   AGX_TRY(agxw_capture_options_parse(getenv("AGX_CAPTURE_OPTIONS"), &options));
   if (!options.joins || options.is_at_nodes != is_at_nodes)
      return AGX_OK;
   return agxw_capture_file_open(path, "", &options, out_file);
}

void agxw_capture_file_release(struct agxw_capture_file *file)
{
   pthread_mutex_lock(&files_lock);
   bool is_last = --file->refs == 0;
   if (is_last)
      agx_list_remove(&file->link);
   pthread_mutex_unlock(&files_lock);
   if (!is_last)
      return;
   pthread_mutex_destroy(&file->lock);
   free_file(file);
}
