/* SPDX-License-Identifier: MIT
 *
 * Files as sources and targets of operations.
 */
#include "file_scene.h"

/* ---- beyond them ---------------------------------------------------------- */

/* A file grows; what lies between is a hole. */
static void offsets_beyond_4_gib(void **state)
{
   const uint64_t far = (5ull << 30) + 17;
   struct fixture *f = conformance_device(state);
   struct agx_file_info info = {.size = sizeof(info)};
   struct agx_file *file;
   uint32_t *from, *to;
   struct agx_buffer *source = fixture_buffer(f, 64, &from);
   struct agx_buffer *target = fixture_buffer(f, 64, &to);
   int fd = scratch_fd(0);
   assert_ok(import_fd(f, fd, READ_WRITE, &file));
   memset(from, 0x77, 64);
   assert_ok(run(f, file_op(AGX_OP_WRITE, file, far, source, 0, AGX_WHOLE_LENGTH)));
   assert_ok(agx_file_get_info(file, &info));
   assert_int_equal(info.length_B, far + 64);
   assert_ok(run(f, file_op(AGX_OP_READ, file, far - 32, target, 0, 64)));
   for (unsigned i = 0; i < 16; i++)
      assert_int_equal(to[i], i < 8 ? 0 : 0x77777777);
   agx_release(file);
   agx_release(source);
   agx_release(target);
   close(fd);
}

static void ranges_and_access_are_checked(void **state)
{
   struct fixture *f = conformance_device(state);
   uint8_t bytes[100] = {0};
   struct agx_file *memory, *reader, *writer;
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 64, &words);
   int fd = scratch_fd(100);
   const struct agx_file_desc desc = {.size = sizeof(desc),
                                      .kind = AGX_FILE_HOST_MEMORY,
                                      .access = READ_WRITE,
                                      .memory = bytes,
                                      .memory_B = 100,
                                      .label = "a hundred bytes"};
   assert_ok(agx_file_import(f->device, &desc, &memory));
   assert_ok(import_fd(f, fd, AGX_FILE_READ, &reader));
   assert_ok(import_fd(f, fd, AGX_FILE_WRITE, &writer));
   const struct {
      struct agx_op op;
      agx_status status;
      const char *text;
   } rows[] = {
      {file_op(AGX_OP_WRITE, reader, 0, buffer, 0, 64), AGX_PERMISSION_DENIED, "reading only"},
      {file_op(AGX_OP_READ, writer, 0, buffer, 0, 64), AGX_PERMISSION_DENIED, "writing only"},
      {file_op(AGX_OP_READ, reader, 0, buffer, 1, 64), AGX_OUT_OF_RANGE, "it has 64"},
      {file_op(AGX_OP_READ, reader, 0, buffer, 65, AGX_WHOLE_LENGTH), AGX_OUT_OF_RANGE, "65"},
      {file_op(AGX_OP_READ, reader, 0, buffer, UINT64_MAX, 2), AGX_OUT_OF_RANGE, "2 bytes"},
      {file_op(AGX_OP_READ, reader, INT64_MAX, buffer, 0, 1), AGX_OUT_OF_RANGE, "1 bytes"},
      {file_op(AGX_OP_WRITE, writer, UINT64_MAX, buffer, 0, 2), AGX_OUT_OF_RANGE, "descriptor"},
      {file_op(AGX_OP_READ, memory, 37, buffer, 0, 64), AGX_OUT_OF_RANGE, "the file has 100"},
      {file_op(AGX_OP_WRITE, memory, 37, buffer, 0, 64), AGX_OUT_OF_RANGE, "a hundred bytes"},
      {file_op(AGX_OP_READ, NULL, 0, buffer, 0, 64), AGX_INVALID_ARGUMENT, "file is NULL"},
      {file_op(AGX_OP_READ, memory, 0, NULL, 0, 64), AGX_INVALID_ARGUMENT, "buffer is NULL"},
   };
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
      assert_fails(submit(f, rows[i].op, NO_POINT, NO_POINT), rows[i].status, rows[i].text);
   struct agx_op op = rows[2].op;
   op.flags = 4;
   assert_fails(submit(f, op, NO_POINT, NO_POINT), AGX_INVALID_ARGUMENT, "flags 0x4");
   /* Buffers have their say, too; being mapped by the application isn't asked of them. */
   static const struct {
      uint32_t memory, usage, access, kind;
      const char *refusal;
   } kinds[] = {
      {0, AGX_USAGE_TRANSFER_SOURCE, 0, AGX_OP_READ, "read: shy"},
      {0, AGX_USAGE_TRANSFER_TARGET, 0, AGX_OP_WRITE, "write: shy"},
      {0, 0, AGX_ACCESS_READ, AGX_OP_READ, "access 0x1"},
      {0, 0, AGX_ACCESS_WRITE, AGX_OP_WRITE, "access 0x2"},
      {AGX_MEMORY_DEVICE_LOCAL, 0, 0, AGX_OP_READ, NULL},
      {AGX_MEMORY_DEVICE_LOCAL, 0, 0, AGX_OP_WRITE, NULL},
   };
   for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
      const struct agx_buffer_desc shy = {.size = sizeof(shy),
                                          .size_B = 64,
                                          .label = "shy",
                                          .memory = kinds[i].memory,
                                          .usage = kinds[i].usage,
                                          .access = kinds[i].access};
      struct agx_buffer *it;
      assert_ok(agx_buffer_create(f->device, &shy, &it));
      agx_status status = run(f, file_op(kinds[i].kind, memory, 0, it, 0, 64));
      if (kinds[i].refusal)
         assert_fails(status, AGX_PERMISSION_DENIED, kinds[i].refusal);
      else
         assert_ok(status);
      agx_release(it);
   }
   /* At the very end there is room for nothing, which is no error. */
   assert_ok(run(f, file_op(AGX_OP_READ, memory, 100, buffer, 64, AGX_WHOLE_LENGTH)));
   /* A file that may grow is asked when the time has come. */
   words[0] = 1234;
   assert_fails(run(f, file_op(AGX_OP_READ, reader, 37, buffer, 0, 64)), AGX_OUT_OF_RANGE,
                "64 bytes at 37; the file has 100");
   assert_int_equal(words[0], 1234);
   assert_ok(run(f, file_op(AGX_OP_READ, reader, 36, buffer, 0, 64)));
   agx_release(memory);
   agx_release(reader);
   agx_release(writer);
   agx_release(buffer);
   close(fd);
}

static void what_has_no_offsets_is_refused(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_file *file;
   int pipes[2], sockets[2];
   assert_int_equal(pipe(pipes), 0);
   assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
   int folder = open("/", O_RDONLY | O_DIRECTORY), path = open("/", O_PATH);
   int none = open("/dev/null", O_RDONLY), end = open("/dev/null", O_WRONLY | O_APPEND);
   const struct {
      int fd;
      uint32_t access;
      agx_status status;
      const char *text;
   } rows[] = {
      {pipes[0], AGX_FILE_READ, AGX_INVALID_ARGUMENT, "a pipe"},
      {sockets[1], AGX_FILE_WRITE, AGX_INVALID_ARGUMENT, "a socket"},
      {folder, AGX_FILE_READ, AGX_INVALID_ARGUMENT, "a directory"},
      {path, AGX_FILE_READ, AGX_INVALID_ARGUMENT, "directory"},
      {none, AGX_FILE_WRITE, AGX_PERMISSION_DENIED, "reading only"},
      {none, READ_WRITE, AGX_PERMISSION_DENIED, "reading only"},
      {end, AGX_FILE_READ, AGX_PERMISSION_DENIED, "writing only"},
      {end, AGX_FILE_WRITE, AGX_INVALID_ARGUMENT, "O_APPEND"},
      {none, 0, AGX_INVALID_ARGUMENT, "access 0x0"},
      {none, 9, AGX_INVALID_ARGUMENT, "access 0x9"},
      {-1, AGX_FILE_READ, AGX_INVALID_ARGUMENT, "descriptor -1"},
      {1 << 20, AGX_FILE_READ, AGX_INVALID_ARGUMENT, "descriptor 1048576"},
   };
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
      assert_fails(import_fd(f, rows[i].fd, rows[i].access, &file), rows[i].status, rows[i].text);
      assert_null(file);
   }
   struct agx_file_desc desc = {
      .size = sizeof(desc), .kind = 2, .access = AGX_FILE_READ, .memory_B = 10};
   assert_fails(agx_file_import(f->device, &desc, &file), AGX_UNIMPLEMENTED, "kind 2");
   desc.kind = AGX_FILE_HOST_MEMORY;
   assert_fails(agx_file_import(f->device, &desc, &file), AGX_INVALID_ARGUMENT, "NULL");
   desc.memory = (void *)16;
   desc.memory_B = UINT64_MAX - 8;
   assert_fails(agx_file_import(f->device, &desc, &file), AGX_OUT_OF_RANGE, "host memory");
   desc.flags = 6;
   assert_fails(agx_file_import(f->device, &desc, &file), AGX_INVALID_ARGUMENT, "0x6");
   desc.flags = AGX_FILE_TAKE_FD;
   assert_fails(agx_file_import(f->device, &desc, &file), AGX_INVALID_ARGUMENT, "TAKE_FD");
   const int fds[] = {pipes[0], pipes[1], sockets[0], sockets[1], folder, path, none, end};
   for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
      close(fds[i]);
}

/* What the system refuses while the operation runs; the chain behind it hears the same. */
static void failures_of_the_system_are_the_operations(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *line = fixture_semaphore(f), *after = fixture_semaphore(f);
   struct agx_file *full, *sealed;
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 8192, &words);
   int full_fd = open("/dev/full", O_RDWR | O_CLOEXEC), sealed_fd = scratch_fd(100);
   assert_int_equal(fcntl(sealed_fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
   assert_ok(import_fd(f, sealed_fd, READ_WRITE, &sealed));
   assert_fails(run(f, file_op(AGX_OP_WRITE, sealed, 0, buffer, 0, 50)), AGX_PERMISSION_DENIED,
                "0 of 50 bytes done");
   if (full_fd >= 0) {
      assert_ok(import_fd(f, full_fd, AGX_FILE_WRITE, &full));
      assert_ok(submit(f, file_op(AGX_OP_WRITE, full, 4096, buffer, 0, 8192), NO_POINT,
                       conformance_point(line, 1)));
      assert_ok(fixture_submit(f, NULL, conformance_point(line, 1), conformance_point(after, 1)));
      assert_fails(fixture_wait(after, 1), AGX_RESOURCE_EXHAUSTED, "write at byte 4096");
      agx_release(full);
      close(full_fd);
   }
   agx_release(sealed);
   close(sealed_fd);
   agx_release(line);
   agx_release(after);
   agx_release(buffer);
}

/* The limit of the process, and the signal that comes with it: not on our threads. */
static void a_limit_on_files_is_a_failure_and_no_signal(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_file *file;
   struct rlimit before;
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 8192, &words);
   FILE *scratch = tmpfile();
   assert_non_null(scratch);
   assert_ok(import_fd(f, fileno(scratch), READ_WRITE, &file));
   getrlimit(RLIMIT_FSIZE, &before);
   const struct rlimit small = {6000, before.rlim_max};
   assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
   agx_status status = run(f, file_op(AGX_OP_WRITE, file, 0, buffer, 0, 8192));
   setrlimit(RLIMIT_FSIZE, &before);
   assert_fails(status, AGX_OUT_OF_RANGE, "6000 of 8192 bytes done");
   agx_release(file);
   agx_release(buffer);
   fclose(scratch);
}

static void count(void *user)
{
   _Atomic int *released = user;
   (*released)++;
}

/* A file lives as long as its operations; then its owner hears of it. */
static void files_are_released_after_their_last_operation(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f), *done = fixture_semaphore(f);
   static _Atomic int released;
   released = 0;
   uint8_t bytes[128];
   memset(bytes, 0x5b, sizeof(bytes));
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 128, &words);
   struct agx_file_desc desc = {.size = sizeof(desc),
                                .kind = AGX_FILE_HOST_MEMORY,
                                .access = AGX_FILE_READ,
                                .memory = bytes,
                                .memory_B = sizeof(bytes),
                                .release = count,
                                .user = &released};
   struct agx_file *file;
   assert_ok(agx_file_import(f->device, &desc, &file));
   assert_ok(submit(f, file_op(AGX_OP_READ, file, 0, buffer, 0, 128), conformance_point(go, 1),
                    conformance_point(done, 1)));
   agx_release(file);
   agx_release(buffer);
   assert_int_equal(released, 0);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(done, 1));
   while (!released) /* a moment after the signal */
      usleep(100);
   assert_int_equal(released, 1);
   agx_release(go);
   agx_release(done);
}

static void descriptors_are_duplicated_or_taken(void **state)
{
   struct fixture *f = conformance_device(state);
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 64, &words);
   struct agx_file *file;
   int fd = scratch_fd(64);
   assert_int_equal(pwrite(fd, "abcd", 4, 0), 4);
   assert_ok(import_fd(f, fd, READ_WRITE, &file));
   close(fd);
   assert_ok(run(f, file_op(AGX_OP_READ, file, 0, buffer, 0, 64)));
   assert_memory_equal(words, "abcd", 4);
   agx_release(file);
   fd = scratch_fd(64);
   struct agx_file_desc desc = {
      .size = sizeof(desc), .access = AGX_FILE_READ | 8, .flags = AGX_FILE_TAKE_FD, .fd = fd};
   assert_fails(agx_file_import(f->device, &desc, &file), AGX_INVALID_ARGUMENT, "access");
   assert_true(fcntl(fd, F_GETFD) >= 0); /* still ours */
   desc.access = AGX_FILE_READ;
   assert_ok(agx_file_import(f->device, &desc, &file));
   agx_release(file);
   assert_int_equal(fcntl(fd, F_GETFD), -1);
   agx_release(buffer);
}

/* Many at once on one file, each in its own place; then all of it in one. */
static void operations_on_one_file_run_side_by_side(void **state)
{
   enum {
      PARTS = 64,
      PART = 5000
   };
   struct fixture *f = conformance_device(state);
   for (int is_memory = 0; is_memory < 2; is_memory++) {
      struct agx_semaphore *done[PARTS];
      struct agx_point points[2][32];
      struct medium medium;
      uint32_t *from, *to;
      struct agx_buffer *source = fixture_buffer(f, PARTS * PART, &from);
      struct agx_buffer *target = fixture_buffer(f, PARTS * PART, &to);
      medium_open(f, &medium, is_memory, PARTS * PART);
      for (unsigned i = 0; i < PARTS * PART; i++)
         ((uint8_t *)from)[i] = pattern(i);
      for (unsigned i = 0; i < PARTS; i++) {
         done[i] = fixture_semaphore(f);
         points[i / 32][i % 32] = conformance_point(done[i], 1);
         assert_ok(submit(f,
                          file_op(AGX_OP_WRITE, medium.file, (uint64_t)(PARTS - 1 - i) * PART,
                                  source, (uint64_t)(PARTS - 1 - i) * PART, PART),
                          NO_POINT, points[i / 32][i % 32]));
      }
      for (unsigned i = 0; i < 2; i++)
         assert_ok(agx_semaphore_wait(points[i], 32, false, AGX_DEADLINE_NEVER));
      assert_ok(run(f, file_op(AGX_OP_READ, medium.file, 0, target, 0, AGX_WHOLE_LENGTH)));
      assert_memory_equal(from, to, PARTS * PART);
      for (unsigned i = 0; i < PARTS; i++)
         agx_release(done[i]);
      agx_release(source);
      agx_release(target);
      medium_close(&medium);
   }
}

/* A file through the GPU and out to another, by a ring of buffers, all submitted in advance. Slot n
 * is read into, computed and written at the points 3 r + 1, 3 r + 2, 3 r + 3 of its timeline in
 * round r. */
static void files_stream_through_the_gpu(void **state)
{
   enum {
      SLOTS = 3,
      PIECES = 20,
      PIECE = 128
   };
   struct fixture *f = conformance_device(state);
   struct agx_executable *add = fixture_kernel(f, &agx_test_add);
   struct agx_buffer *buffers[SLOTS][2];
   struct agx_command_buffer *commands[SLOTS];
   struct agx_semaphore *lines[SLOTS];
   struct medium from, to;
   uint32_t *words, push = 0x01000000;
   medium_open(f, &from, false, PIECES * PIECE);
   medium_open(f, &to, false, 0);
   medium_fill(&from);
   for (unsigned i = 0; i < SLOTS; i++) {
      buffers[i][0] = fixture_buffer(f, PIECE, &words);
      buffers[i][1] = fixture_buffer(f, PIECE, &words);
      lines[i] = fixture_semaphore(f);
      commands[i] = fixture_begin(f);
      fixture_dispatch(commands[i], add, 1, buffers[i], 2, &push, 4);
      assert_ok(agx_command_buffer_end(commands[i]));
   }
   for (unsigned i = 0; i < PIECES; i++) {
      unsigned slot = i % SLOTS;
      uint64_t at = 3 * (i / SLOTS), offset = (uint64_t)i * PIECE;
      struct agx_semaphore *line = lines[slot];
      assert_ok(submit(f, file_op(AGX_OP_READ, from.file, offset, buffers[slot][0], 0, PIECE),
                       conformance_point(line, at), conformance_point(line, at + 1)));
      assert_ok(fixture_submit(f, commands[slot], conformance_point(line, at + 1),
                               conformance_point(line, at + 2)));
      assert_ok(submit(f, file_op(AGX_OP_WRITE, to.file, offset, buffers[slot][1], 0, PIECE),
                       conformance_point(line, at + 2), conformance_point(line, at + 3)));
   }
   for (unsigned i = 0; i < SLOTS; i++)
      assert_ok(fixture_wait(lines[i], 3 * ((PIECES - 1 - i) / SLOTS + 1)));
   for (unsigned i = 0; i < PIECES * PIECE; i++)
      assert_int_equal(medium_byte(&to, i), (uint8_t)(pattern(i) + (i % 4 == 3)));
   for (unsigned i = 0; i < SLOTS; i++) {
      agx_release(commands[i]);
      agx_release(buffers[i][0]);
      agx_release(buffers[i][1]);
      agx_release(lines[i]);
   }
   agx_release(add);
   medium_close(&from);
   medium_close(&to);
}

/* What waits is cancelled with the rest of the device, and moves nothing. */
static void waiting_operations_are_cancelled(void **state)
{
   struct fixture *f = conformance_device(state), other;
   conformance_open_another(&other);
   struct agx_semaphore *never = fixture_semaphore(&other), *done = fixture_semaphore(&other);
   struct medium medium;
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(&other, 64, &words);
   medium_open(&other, &medium, true, 64);
   medium_fill(&medium);
   assert_ok(submit(&other, file_op(AGX_OP_READ, medium.file, 0, buffer, 0, 64),
                    conformance_point(never, 1), conformance_point(done, 1)));
   assert_fails(submit(f, file_op(AGX_OP_READ, medium.file, 0, buffer, 0, 64), NO_POINT, NO_POINT),
                AGX_INVALID_ARGUMENT, "another device");
   agx_device_cancel(other.device);
   assert_fails(fixture_wait(done, 1), AGX_CANCELLED, "");
   assert_int_equal(words[0], 0);
   agx_release(never);
   agx_release(done);
   agx_release(buffer);
   medium_close(&medium);
   fixture_close(&other);
}

/* What the host may not map, operations still move. */
static void memory_of_the_gpu_alone_is_moved(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = 128, .memory = AGX_MEMORY_DEVICE_LOCAL};
   struct medium medium;
   struct agx_buffer *buffer;
   uint32_t *y_words, push = 1;
   struct agx_executable *add = fixture_kernel(f, &agx_test_add);
   struct agx_buffer *y = fixture_buffer(f, 128, &y_words);
   struct agx_command_buffer *commands = fixture_begin(f);
   medium_open(f, &medium, true, 256);
   for (uint32_t i = 0; i < 32; i++)
      memcpy(medium.memory + 4 * i, &i, 4);
   assert_ok(agx_buffer_create(f->device, &desc, &buffer));
   assert_ok(run(f, file_op(AGX_OP_READ, medium.file, 0, buffer, 0, AGX_WHOLE_LENGTH)));
   fixture_dispatch(commands, add, 1, (struct agx_buffer *[]){buffer, y}, 2, &push, 4);
   conformance_run(f, commands);
   for (uint32_t i = 0; i < 32; i++)
      assert_int_equal(y_words[i], i + 1);
   assert_ok(run(f, file_op(AGX_OP_WRITE, medium.file, 128, buffer, 0, AGX_WHOLE_LENGTH)));
   assert_memory_equal(medium.memory, medium.memory + 128, 128);
   agx_release(commands);
   agx_release(buffer);
   agx_release(y);
   agx_release(add);
   medium_close(&medium);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(offsets_beyond_4_gib),
      cmocka_unit_test(ranges_and_access_are_checked),
      cmocka_unit_test(what_has_no_offsets_is_refused),
      cmocka_unit_test(failures_of_the_system_are_the_operations),
      cmocka_unit_test(a_limit_on_files_is_a_failure_and_no_signal),
      cmocka_unit_test(files_are_released_after_their_last_operation),
      cmocka_unit_test(descriptors_are_duplicated_or_taken),
      cmocka_unit_test(operations_on_one_file_run_side_by_side),
      cmocka_unit_test(files_stream_through_the_gpu),
      cmocka_unit_test(waiting_operations_are_cancelled),
      cmocka_unit_test(memory_of_the_gpu_alone_is_moved),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
