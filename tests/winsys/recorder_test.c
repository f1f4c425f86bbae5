/* SPDX-License-Identifier: MIT
 *
 * Recorders over a device of this test's own: whatever the host and the GPU do to buffers, the file
 * tells the contents that each submission found and left; and what it holds when the program dies.
 */
#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/capture/capture.h"
#include "winsys/capture/file.h"

#define PAGE        ((uint64_t)AGXW_CAPTURE_PAGE_BYTES)
#define SLOTS       6
#define SUBMITS     24
#define FILL_HANDLE 100
#define FILL_BYTES  (UINT64_C(64) << 20) /* as many as recorders keep copies of */

/* ---- the device ---- */

/* A buffer, with handle 1 + its slot. */
struct buffer {
   int fd; /* its memory; -1: there is none */
   uint64_t bytes;
   uint8_t *mapped;   /* the program's */
   bool is_gpu_write; /* the GPU may write it */
};

/* What a submission found and left of one. */
struct truth {
   uint8_t *before, *after;
   bool is_gpu_write;
   uint64_t bytes;
};

struct machine {
   struct buffer buffers[SLOTS];
   struct buffer fill; /* takes all copies */
   struct truth truths[SUBMITS][SLOTS];
   int submits;
   bool dies; /* at the next submission */
   struct agx_test_rng rng;
};

static uint64_t below(struct machine *machine, uint64_t bound)
{
   return agx_test_random_below(&machine->rng, bound);
}

static struct buffer *buffer_of(struct machine *machine, uint32_t handle)
{
   return handle == FILL_HANDLE ? &machine->fill : &machine->buffers[handle - 1];
}

/* Past every mapping, as another process or the GPU does. */
static void write_past(struct machine *machine, const struct buffer *buffer)
{
   uint8_t bytes[300];
   uint64_t count = 1 + below(machine, sizeof(bytes));
   uint64_t at = below(machine, buffer->bytes - count + 1);
   memset(bytes, (int)below(machine, 4), sizeof(bytes));
   assert_int_equal(pwrite(buffer->fd, bytes, count, (off_t)at), count);
}

static void keep(const struct machine *machine, struct truth *truths, bool is_after)
{
   for (int i = 0; i < SLOTS; i++) {
      const struct buffer *buffer = &machine->buffers[i];
      if (buffer->fd < 0)
         continue;
      uint8_t *copy = malloc(buffer->bytes);
      assert_int_equal(pread(buffer->fd, copy, buffer->bytes, 0), buffer->bytes);
      truths[i].is_gpu_write = buffer->is_gpu_write;
      truths[i].bytes = buffer->bytes;
      *(is_after ? &truths[i].after : &truths[i].before) = copy;
   }
}

/* The GPU writes what it may; meanwhile the program writes what the GPU may not. */
static void execute(struct machine *machine)
{
   struct truth *truths = machine->truths[machine->submits++];
   if (machine->dies)
      raise(SIGKILL);
   keep(machine, truths, false);
   for (int i = 0; i < SLOTS; i++)
      if (machine->buffers[i].fd >= 0 && below(machine, 2))
         write_past(machine, &machine->buffers[i]);
   keep(machine, truths, true);
}

static int machine_ioctl(void *user, unsigned long request, void *argument)
{
   if (request == AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET) {
      struct agx_uapi_gem_mmap_offset *get = argument;
      get->offset = (uint64_t)get->handle << 40;
   }
   if (request == AGX_IOCTL_SYNCOBJ_CREATE)
      ((struct agx_uapi_syncobj_create *)argument)->handle = 1;
   if (request == AGX_IOCTL_ASAHI_SUBMIT)
      execute(user);
   return 0;
}

static void *machine_mmap(void *user, uint64_t offset, size_t length, int *out_errno)
{
   const struct buffer *buffer = buffer_of(user, (uint32_t)(offset >> 40));
   void *memory = mmap(NULL, length, PROT_READ, MAP_SHARED, buffer->fd, 0);
   assert_ptr_not_equal(memory, MAP_FAILED);
   return memory;
}

static void machine_munmap(void *user, void *memory, size_t length)
{
   assert_int_equal(munmap(memory, length), 0);
}

static int64_t machine_dmabuf_bytes(void *user, int fd)
{
   const struct machine *machine = user;
   return (int64_t)machine->buffers[fd].bytes;
}

static bool machine_find_memory(void *user, uint64_t offset, uint64_t from, uint64_t *out_begin,
                                uint64_t *out_end)
{
   const struct buffer *buffer = buffer_of(user, (uint32_t)(offset >> 40));
   off_t begin = lseek(buffer->fd, (off_t)from, SEEK_DATA);
   off_t end = begin < 0 ? begin : lseek(buffer->fd, begin, SEEK_HOLE);
   *out_begin = begin < 0 ? buffer->bytes : (uint64_t)begin;
   *out_end = begin < 0 ? buffer->bytes : (uint64_t)end;
   return true;
}

/* Of every third object it can't tell. */
static bool machine_find_some(void *user, uint64_t offset, uint64_t from, uint64_t *out_begin,
                              uint64_t *out_end)
{
   return (offset >> 40) % 3 != 0 && machine_find_memory(user, offset, from, out_begin, out_end);
}

static const struct agxw_recorded_ops dense_ops = {
   .ioctl = machine_ioctl,
   .mmap = machine_mmap,
   .munmap = machine_munmap,
   .dmabuf_bytes = machine_dmabuf_bytes,
};

static const struct agxw_recorded_ops sparse_ops = {
   .ioctl = machine_ioctl,
   .mmap = machine_mmap,
   .munmap = machine_munmap,
   .dmabuf_bytes = machine_dmabuf_bytes,
   .find_memory = machine_find_memory,
};

static const struct agxw_recorded_ops some_ops = {
   .ioctl = machine_ioctl,
   .mmap = machine_mmap,
   .munmap = machine_munmap,
   .dmabuf_bytes = machine_dmabuf_bytes,
   .find_memory = machine_find_some,
};

/* ---- programs ---- */

static uint64_t va_of(int slot)
{
   return (uint64_t)(slot + 1) << 32;
}

static void bind(struct agxw_recorder *recorder, uint32_t handle, uint64_t va, uint64_t bytes,
                 bool is_gpu_write)
{
   const struct agx_uapi_gem_bind_op op = {.flags = AGX_UAPI_BIND_READ |
                                                    (is_gpu_write ? AGX_UAPI_BIND_WRITE : 0u),
                                           .handle = handle,
                                           .range = bytes,
                                           .addr = va};
   struct agx_uapi_vm_bind vm_bind = {
      .vm_id = 1, .num_binds = 1, .stride = sizeof(op), .userptr = (uintptr_t)&op};
   assert_int_equal(agxw_recorder_ioctl(recorder, AGX_IOCTL_ASAHI_VM_BIND, &vm_bind), 0);
}

static void give_memory(struct buffer *buffer, uint64_t bytes)
{
   buffer->bytes = bytes;
   buffer->fd = memfd_create("buffer", MFD_CLOEXEC);
   assert_int_equal(ftruncate(buffer->fd, (off_t)bytes), 0);
   buffer->mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fd, 0);
   assert_ptr_not_equal(buffer->mapped, MAP_FAILED);
}

static void drop_memory(struct buffer *buffer)
{
   if (buffer->fd < 0)
      return;
   munmap(buffer->mapped, buffer->bytes);
   close(buffer->fd);
   buffer->fd = -1;
}

/* Made here, or by somebody else; bound for the GPU to write, to read, or to read with timestamps
 * written there. */
static void make_buffer(struct machine *machine, struct agxw_recorder *recorder, int slot)
{
   static const uint64_t pages[SLOTS] = {1, 2, 4, 9, 70, 5};
   struct buffer *buffer = &machine->buffers[slot];
   uint32_t handle = (uint32_t)slot + 1;
   give_memory(buffer, pages[slot] * PAGE);
   struct agx_uapi_gem_create create = {.size = buffer->bytes, .handle = handle};
   struct agx_uapi_prime_handle import = {.handle = handle, .fd = slot};
   assert_int_equal(slot == SLOTS - 1
                       ? agxw_recorder_ioctl(recorder, AGX_IOCTL_PRIME_FD_TO_HANDLE, &import)
                       : agxw_recorder_ioctl(recorder, AGX_IOCTL_ASAHI_GEM_CREATE, &create),
                    0);
   uint64_t how = below(machine, 3);
   buffer->is_gpu_write = how > 0;
   bind(recorder, handle, va_of(slot), buffer->bytes, how == 1);
   struct agx_uapi_gem_bind_object object = {.handle = handle, .range = buffer->bytes};
   if (how == 2)
      assert_int_equal(agxw_recorder_ioctl(recorder, AGX_IOCTL_ASAHI_GEM_BIND_OBJECT, &object), 0);
}

static void close_buffer(struct machine *machine, struct agxw_recorder *recorder, int slot)
{
   struct agx_uapi_gem_close close = {.handle = (uint32_t)slot + 1};
   assert_int_equal(agxw_recorder_ioctl(recorder, AGX_IOCTL_GEM_CLOSE, &close), 0);
   drop_memory(&machine->buffers[slot]);
}

static void change(struct machine *machine, struct agxw_recorder *recorder)
{
   int slot = (int)below(machine, SLOTS);
   struct buffer *buffer = &machine->buffers[slot];
   if (buffer->fd < 0) {
      make_buffer(machine, recorder, slot);
      return;
   }
   uint64_t page = below(machine, buffer->bytes / PAGE) * PAGE;
   switch (below(machine, 8)) {
   case 0:
      close_buffer(machine, recorder, slot);
      break;
   case 1:
      memset(buffer->mapped + page, 0, PAGE);
      break;
   case 2:
      assert_int_equal(fallocate(buffer->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                 (off_t)page, (off_t)PAGE),
                       0);
      break;
   case 3:
      memset(buffer->mapped + page, (int)below(machine, 256), PAGE);
      break;
   case 4:
      write_past(machine, buffer);
      break;
   default:
      buffer->mapped[page + below(machine, PAGE)] = (uint8_t)below(machine, 3);
      break;
   }
}

static int submit(struct agxw_recorder *recorder)
{
   struct agx_uapi_submit argument = {.queue_id = 1};
   return agxw_recorder_ioctl(recorder, AGX_IOCTL_ASAHI_SUBMIT, &argument);
}

/* Another recorder of it goes through `ops`. */
static void begin(struct machine *machine, const struct agxw_recorded_ops *ops, char path[32],
                  struct agxw_capture_file **out_file, struct agxw_recorder **out_recorder)
{
   struct agxw_capture_options options = {0};
   struct agx_uapi_vm_create vm = {.vm_id = 1};
   strcpy(path, "/tmp/agx-recorder-XXXXXX");
   int fd = mkstemp(path);
   assert_true(fd >= 0);
   close(fd);
   machine->fill.fd = -1;
   for (int i = 0; i < SLOTS; i++)
      machine->buffers[i].fd = -1;
   assert_ok(agxw_capture_file_open(path, "test", &options, out_file));
   assert_ok(agxw_recorder_create(*out_file, ops, machine, "test", out_recorder));
   assert_int_equal(agxw_recorder_ioctl(*out_recorder, AGX_IOCTL_ASAHI_VM_CREATE, &vm), 0);
}

/* ---- what the file tells ---- */

static void compare(struct agxw_capture_device *device, const struct truth *truths, bool is_after)
{
   for (int i = 0; i < SLOTS; i++) {
      const struct truth *it = &truths[i];
      if (!it->before || (is_after && !it->is_gpu_write))
         continue;
      uint8_t *recorded = malloc(it->bytes);
      assert_true(agxw_capture_device_read(device, 1, va_of(i), recorded, it->bytes));
      assert_memory_equal(recorded, is_after ? it->after : it->before, it->bytes);
      free(recorded);
   }
}

static void check(const struct machine *machine, const char *path)
{
   struct agxw_capture_reader *reader;
   struct agxw_capture_state *then;
   struct agxw_capture_record record;
   bool more = true, is_behind = false;
   int submits = 0;
   size_t size;
   char *data = agx_test_read_file(path, &size);
   assert_ok(agxw_capture_open_memory(NULL, data, size, &reader));
   assert_ok(agxw_capture_state_create(NULL, reader, &then));
   for (;;) {
      assert_ok(agxw_capture_next(reader, &record, &more));
      if (is_behind &&
          (!more || record.type != AGXW_CAPTURE_PAGES || record.moment != AGXW_CAPTURE_AFTER)) {
         compare(agxw_capture_state_device(then, &record), machine->truths[submits - 1], true);
         is_behind = false;
      }
      if (!more)
         break;
      assert_ok(agxw_capture_state_apply(then, &record));
      if (record.type == AGXW_CAPTURE_REQUEST && record.request == AGX_IOCTL_ASAHI_SUBMIT) {
         compare(agxw_capture_state_device(then, &record), machine->truths[submits++], false);
         is_behind = true;
      }
   }
   assert_int_equal(submits, machine->submits);
   assert_ok(agxw_capture_state_damage(then));
   agxw_capture_state_destroy(then);
   agxw_capture_close(reader);
   free(data);
}

static void end(struct machine *machine, struct agxw_capture_file *file,
                struct agxw_recorder *recorder)
{
   agxw_recorder_destroy(recorder);
   agxw_capture_file_release(file);
   drop_memory(&machine->fill);
   for (int i = 0; i < SLOTS; i++)
      drop_memory(&machine->buffers[i]);
}

static void record_and_check(const struct agxw_recorded_ops *ops, bool has_copies, uint64_t seed)
{
   struct machine *machine = calloc(1, sizeof(*machine));
   struct agxw_capture_file *file;
   struct agxw_recorder *recorder;
   char path[32];
   machine->rng.state = seed;
   begin(machine, ops, path, &file, &recorder);
   if (!has_copies) {
      struct agx_uapi_gem_create create = {.size = FILL_BYTES, .handle = FILL_HANDLE};
      give_memory(&machine->fill, FILL_BYTES);
      assert_int_equal(agxw_recorder_ioctl(recorder, AGX_IOCTL_ASAHI_GEM_CREATE, &create), 0);
      bind(recorder, FILL_HANDLE, UINT64_C(1) << 40, FILL_BYTES, true);
   }
   for (int i = 0; i < SUBMITS; i++) {
      for (uint64_t changes = below(machine, 12); changes > 0; changes--)
         change(machine, recorder);
      assert_int_equal(submit(recorder), 0);
   }
   end(machine, file, recorder);
   check(machine, path);
   unlink(path);
   for (int i = 0; i < SUBMITS * SLOTS; i++) {
      free(machine->truths[i / SLOTS][i % SLOTS].before);
      free(machine->truths[i / SLOTS][i % SLOTS].after);
   }
   free(machine);
}

static void contents_are_those_of_the_submission(void **state)
{
   for (uint64_t seed = 1; seed <= 2; seed++) {
      record_and_check(&dense_ops, true, seed);
      record_and_check(&sparse_ops, true, seed);
      record_and_check(&sparse_ops, false, seed);
      record_and_check(&some_ops, true, seed);
   }
}

/* ---- holes ---- */

/* Looking for changes gives sparse buffers no memory, and finds what comes into the holes. */
static void recorded_holes_stay_holes(void **state)
{
   struct machine *machine = calloc(1, sizeof(*machine));
   struct agxw_capture_file *file;
   struct agxw_recorder *recorder;
   char path[32];
   begin(machine, &sparse_ops, path, &file, &recorder);
   struct agx_uapi_gem_create create = {.size = FILL_BYTES, .handle = FILL_HANDLE};
   give_memory(&machine->fill, FILL_BYTES);
   assert_int_equal(agxw_recorder_ioctl(recorder, AGX_IOCTL_ASAHI_GEM_CREATE, &create), 0);
   bind(recorder, FILL_HANDLE, UINT64_C(1) << 40, FILL_BYTES, true);
   machine->fill.mapped[5 * PAGE] = 1;
   assert_int_equal(submit(recorder), 0);
   assert_int_equal(lseek(machine->fill.fd, 0, SEEK_DATA) / (off_t)PAGE, 5);
   assert_int_equal(lseek(machine->fill.fd, 6 * (off_t)PAGE, SEEK_DATA), -1);
   machine->fill.mapped[900 * PAGE] = 1;
   assert_int_equal(submit(recorder), 0);
   assert_int_equal(lseek(machine->fill.fd, 6 * (off_t)PAGE, SEEK_DATA) / (off_t)PAGE, 900);
   end(machine, file, recorder);
   size_t size;
   char *data = agx_test_read_file(path, &size);
   struct agxw_capture_reader *reader;
   struct agxw_capture_record record;
   bool more;
   uint64_t seen = 0;
   assert_ok(agxw_capture_open_memory(NULL, data, size, &reader));
   while (agxw_capture_next(reader, &record, &more) == AGX_OK && more)
      if (record.type == AGXW_CAPTURE_PAGES)
         seen = seen * 1000 + record.offset / PAGE;
   assert_int_equal(seen, 5900);
   agxw_capture_close(reader);
   free(data);
   unlink(path);
   free(machine);
}

/* ---- death ---- */

static void die_in_a_submission(struct machine *machine, struct agxw_recorder *recorder, int told)
{
   for (int slot = 0; slot < 3; slot++) {
      make_buffer(machine, recorder, slot); /* two or three requests */
      machine->buffers[slot].mapped[slot] = 1;
   }
   assert_int_equal(submit(recorder), 0);
   assert_int_equal(write(told, "x", 1), 1);
   machine->buffers[1].mapped[PAGE] = 2;
   machine->dies = true;
   (void)submit(recorder);
}

/* A program that dies loses the request that it was in, and what that found is there. */
static void a_dead_program_leaves_what_returned(void **state)
{
   struct machine *machine = calloc(1, sizeof(*machine));
   struct agxw_capture_file *file;
   struct agxw_recorder *recorder;
   char path[32];
   int told[2], status;
   machine->rng.state = 3;
   assert_int_equal(pipe(told), 0);
   begin(machine, &sparse_ops, path, &file, &recorder);
   agx_test_settle_before_forks();
   pid_t child = fork();
   if (child == 0) {
      die_in_a_submission(machine, recorder, told[1]);
      _exit(1);
   }
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
   close(told[1]);
   char byte;
   assert_int_equal(read(told[0], &byte, 1), 1);
   close(told[0]);
   size_t size;
   char *data = agx_test_read_file(path, &size);
   struct agxw_capture_reader *reader;
   struct agxw_capture_record record;
   bool more;
   int submits = 0, creates = 0;
   uint64_t last_page = 0;
   assert_ok(agxw_capture_open_memory(NULL, data, size, &reader));
   for (;;) {
      assert_ok(agxw_capture_next(reader, &record, &more));
      if (!more)
         break;
      submits += record.type == AGXW_CAPTURE_REQUEST && record.request == AGX_IOCTL_ASAHI_SUBMIT;
      creates +=
         record.type == AGXW_CAPTURE_REQUEST && record.request == AGX_IOCTL_ASAHI_GEM_CREATE;
      if (record.type == AGXW_CAPTURE_PAGES && submits == 1 && record.handle == 2 &&
          record.moment == AGXW_CAPTURE_BEFORE)
         last_page = record.offset;
   }
   assert_int_equal(submits, 1);
   assert_int_equal(creates, 3);
   assert_int_equal(last_page, PAGE);
   agxw_capture_close(reader);
   free(data);
   end(machine, file, recorder);
   unlink(path);
   free(machine);
}

/* ---- frames made by hand ---- */

#define MOST ((size_t)AGXW_CAPTURE_RUN_PAGES * AGXW_CAPTURE_PAGE_BYTES)

static size_t packed(const uint8_t *contents, size_t bytes, uint8_t *unpacked)
{
   uint8_t *out = malloc(AGXW_CAPTURE_SPARSE_BYTES);
   size_t size = agxw_capture_pack_sparse(contents, bytes, out);
   if (size > 0) {
      assert_true(size <= AGXW_CAPTURE_SPARSE_BYTES);
      memset(unpacked, 0xaa, bytes);
      assert_int_equal(ZSTD_getFrameContentSize(out, size), bytes);
      assert_int_equal(ZSTD_decompress(unpacked, bytes, out, size), bytes);
      assert_memory_equal(unpacked, contents, bytes);
   }
   free(out);
   return size;
}

/* libzstd unpacks what was packed without it. */
static void sparse_frames_unpack(void **state)
{
   uint8_t *contents = calloc(1, MOST), *unpacked = malloc(MOST);
   struct agx_test_rng rng = {.state = 5};
   assert_true(packed(contents, PAGE, unpacked) > 0);
   assert_true(packed(contents, MOST, unpacked) > 0);
   contents[0] = contents[PAGE - 1] = contents[MOST - 1] = 1;
   assert_true(packed(contents, PAGE, unpacked) > 0);
   assert_true(packed(contents, MOST, unpacked) > 0);
   memset(contents + PAGE, 7, 4096 - 3 * 64); /* as much as it takes */
   assert_true(packed(contents, MOST, unpacked) > 0);
   contents[3 * PAGE] = 1;
   assert_int_equal(packed(contents, MOST, unpacked), 0);
   memset(contents, 1, MOST);
   assert_int_equal(packed(contents, MOST, unpacked), 0);
   for (int round = 0; round < 200; round++) {
      size_t bytes = PAGE * (1 + agx_test_random_below(&rng, round % 10 ? 2 : 64));
      memset(contents, 0, bytes);
      for (uint64_t i = agx_test_random_below(&rng, 60); i > 0; i--) /* at most 62 lines of 64 */
         contents[agx_test_random_below(&rng, bytes)] = 0xff;
      assert_true(packed(contents, bytes, unpacked) > 0);
   }
   free(contents);
   free(unpacked);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(contents_are_those_of_the_submission),
      cmocka_unit_test(recorded_holes_stay_holes),
      cmocka_unit_test(a_dead_program_leaves_what_returned),
      cmocka_unit_test(sparse_frames_unpack),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
