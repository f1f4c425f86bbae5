/* SPDX-License-Identifier: MIT
 *
 * Moving bytes of files over a system that stops short, is interrupted, fails, and cuts files.
 */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hal/host/file.h"

/* ---- a system of ours ---------------------------------------------------- */

#define FAKE_B 1000

/* Moves at most `step` bytes a call; call number `at` returns `result` with `error` instead. */
static struct fake {
   uint8_t bytes[FAKE_B];
   int64_t length_B;
   size_t step;
   int calls, at, error;
   ssize_t result;
   uint64_t base; /* the file's bytes start here */
} fake;

static bool intervenes(void)
{
   if (++fake.calls != fake.at)
      return false;
   errno = fake.error;
   return true;
}

static size_t limit(size_t size, off_t offset)
{
   size_t left =
      (uint64_t)offset - fake.base < FAKE_B ? FAKE_B - ((uint64_t)offset - fake.base) : 0;
   size = size < fake.step ? size : fake.step;
   return size < left ? size : left;
}

static ssize_t fake_read(int fd, void *memory, size_t size, off_t offset)
{
   if (intervenes())
      return fake.result;
   size = limit(size, offset);
   memcpy(memory, fake.bytes + ((uint64_t)offset - fake.base) % (FAKE_B + 1) * (size != 0), size);
   return (ssize_t)size;
}

static ssize_t fake_write(int fd, const void *memory, size_t size, off_t offset)
{
   if (intervenes())
      return fake.result;
   size = limit(size, offset);
   memcpy(fake.bytes + ((uint64_t)offset - fake.base) % (FAKE_B + 1) * (size != 0), memory, size);
   return (ssize_t)size;
}

static int fake_stat(int fd, struct stat *out)
{
   *out = (struct stat){.st_mode = S_IFREG, .st_size = fake.length_B};
   if (fake.length_B >= 0)
      return 0;
   errno = (int)-fake.length_B;
   return -1;
}

static const struct agx_file_calls fake_calls = {fake_read, fake_write, fake_stat};
static const struct agx_file_store fake_store = {.name = "fake", .calls = &fake_calls, .fd = -1};

static void reset(size_t step)
{
   memset(&fake, 0, sizeof(fake));
   fake.step = step;
   fake.length_B = FAKE_B;
   for (size_t i = 0; i < FAKE_B; i++)
      fake.bytes[i] = (uint8_t)(i * 7);
}

static agx_status move_all(struct agx_transfer *transfer, void *memory, uint64_t piece)
{
   AGX_TRY(agx_transfer_check(transfer));
   while (transfer->done_B < transfer->length_B)
      AGX_TRY(agx_transfer_move(transfer, memory, piece));
   return AGX_OK;
}

/* ---- tests ---------------------------------------------------------------- */

static void short_and_interrupted_calls_go_on(void **state)
{
   static const size_t steps[] = {1, 3, 64, 999, 4096}, pieces[] = {1, 7, 100, 1 << 20};
   for (size_t i = 0; i < 20; i++) {
      uint8_t memory[FAKE_B + 2] = {0};
      struct agx_transfer transfer = {.store = &fake_store, .offset_B = 11, .length_B = 900};
      reset(steps[i % 5]);
      fake.at = 1 + (int)(i % 3);
      fake.error = EINTR;
      fake.result = -1;
      assert_ok(move_all(&transfer, memory + 1, pieces[i / 5]));
      assert_memory_equal(memory + 1, fake.bytes + 11, 900);
      assert_int_equal(memory[0] | memory[901], 0);
      memset(memory, 0xa5, sizeof(memory));
      transfer = (struct agx_transfer){
         .store = &fake_store, .offset_B = 50, .length_B = 600, .is_write = true};
      fake.calls = 0;
      assert_ok(move_all(&transfer, memory, pieces[i / 5]));
      for (size_t at = 0; at < FAKE_B; at++)
         assert_int_equal(fake.bytes[at], at >= 50 && at < 650 ? 0xa5 : (uint8_t)(at * 7));
   }
}

/* A piece ends where it should, however short the calls. */
static void pieces_are_bounded(void **state)
{
   uint8_t memory[FAKE_B] = {0};
   struct agx_transfer transfer = {.store = &fake_store, .length_B = 250};
   reset(30);
   assert_ok(agx_transfer_move(&transfer, memory, 100));
   assert_int_equal(transfer.done_B, 100);
   assert_int_equal(fake.calls, 4);
   assert_int_equal(memory[100], 0);
   assert_ok(agx_transfer_move(&transfer, memory, UINT64_MAX));
   assert_int_equal(transfer.done_B, 250);
   assert_ok(agx_transfer_move(&transfer, memory, 100));
   assert_int_equal(transfer.done_B, 250);
   assert_memory_equal(memory, fake.bytes, 250);
}

static void failures_say_where(void **state)
{
   static const struct {
      int error;
      agx_status status;
      const char *text;
   } rows[] = {
      {EIO, AGX_DATA_LOSS, "at byte 4294967496, 200 of 500 bytes done: Input/output error"},
      {ENOSPC, AGX_RESOURCE_EXHAUSTED, "200 of 500 bytes done: No space left"},
      {EDQUOT, AGX_RESOURCE_EXHAUSTED, "4294967496"},
      {EFBIG, AGX_OUT_OF_RANGE, "File too large"},
      {EROFS, AGX_PERMISSION_DENIED, "200 of 500"},
      {EAGAIN, AGX_UNAVAILABLE, "200 of 500"},
      {0, AGX_DATA_LOSS, "200 of 500"}, /* no byte, no error */
   };
   for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
      uint8_t memory[FAKE_B];
      struct agx_transfer transfer = {
         .store = &fake_store, .offset_B = 1ull << 32, .length_B = 500, .is_write = i % 2};
      reset(100);
      fake.base = 1ull << 32;
      fake.length_B = (int64_t)(fake.base + FAKE_B);
      fake.at = 3;
      fake.error = rows[i / 2].error;
      fake.result = fake.error ? -1 : 0;
      assert_fails(move_all(&transfer, memory, 1000), rows[i / 2].status, rows[i / 2].text);
      assert_non_null(strstr(agx_error_peek(), i % 2 ? "fake: write" : "fake: read"));
      assert_int_equal(transfer.done_B, 200);
   }
}

static void ranges_are_checked_before_a_byte_moves(void **state)
{
   static const struct {
      uint64_t offset, length;
      bool fits;
   } rows[] = {{0, FAKE_B, true},     {FAKE_B, 0, true},      {999, 1, true},
               {999, 2, false},       {FAKE_B + 1, 0, false}, {UINT64_MAX, 2, false},
               {1ull << 40, 1, false}};
   uint8_t bytes[FAKE_B] = {0};
   const struct agx_file_store memory = {.name = "bytes", .memory = bytes, .memory_B = FAKE_B};
   reset(1);
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
      for (unsigned way = 0; way < 4; way++) {
         const struct agx_transfer transfer = {.store = way & 1 ? &memory : &fake_store,
                                               .offset_B = rows[i].offset,
                                               .length_B = rows[i].length,
                                               .is_write = way & 2};
         if (rows[i].fits || way == 2)
            assert_ok(agx_transfer_check(&transfer));
         else
            assert_fails(agx_transfer_check(&transfer), AGX_OUT_OF_RANGE, "the file has 1000");
      }
   }
   assert_int_equal(fake.calls, 0);
   fake.length_B = -EIO;
   const struct agx_transfer transfer = {.store = &fake_store, .length_B = 1};
   assert_fails(agx_transfer_check(&transfer), AGX_UNAVAILABLE, "length");
}

static void memory_is_a_file(void **state)
{
   uint8_t bytes[FAKE_B], memory[FAKE_B] = {0};
   const struct agx_file_store store = {.name = "bytes", .memory = bytes, .memory_B = FAKE_B};
   struct agx_transfer transfer = {.store = &store, .offset_B = 100, .length_B = 400};
   for (size_t i = 0; i < FAKE_B; i++)
      bytes[i] = (uint8_t)(i * 3);
   assert_ok(move_all(&transfer, memory, 33));
   assert_memory_equal(memory, bytes + 100, 400);
   assert_int_equal(memory[400], 0);
   transfer.done_B = 0;
   transfer.offset_B = 600;
   transfer.is_write = true;
   assert_ok(move_all(&transfer, memory, 33));
   assert_memory_equal(bytes + 600, bytes + 100, 400);
}

/* The system's own refusals. The test's process is the one whose files are limited. */
static void real_files_refuse_in_their_ways(void **state)
{
   uint8_t memory[8192];
   memset(memory, 0x3c, sizeof(memory));
   struct agx_file_store store = {.name = "real", .calls = &agx_file_system_calls};
   struct agx_transfer transfer = {.store = &store, .length_B = sizeof(memory), .is_write = true};
   if ((store.fd = open("/dev/full", O_RDWR | O_CLOEXEC)) >= 0) {
      uint64_t length_B;
      assert_fails(move_all(&transfer, memory, 100), AGX_RESOURCE_EXHAUSTED, "0 of 8192 bytes");
      assert_ok(agx_file_store_length(&store, &length_B));
      assert_int_equal(length_B, AGX_FILE_MAX_B);
      close(store.fd);
   }
   store.fd = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
   assert_true(store.fd >= 0 && ftruncate(store.fd, 5000) == 0);
   assert_int_equal(fcntl(store.fd, F_ADD_SEALS, F_SEAL_GROW), 0);
   assert_fails(move_all(&transfer, memory, UINT64_MAX), AGX_PERMISSION_DENIED, "of 8192 bytes");
   transfer.done_B = 0;
   transfer.is_write = false;
   assert_fails(move_all(&transfer, memory, UINT64_MAX), AGX_OUT_OF_RANGE, "the file has 5000");
   assert_fails(agx_transfer_move(&transfer, memory, UINT64_MAX), AGX_DATA_LOSS,
                "at byte 5000, 5000 of 8192 bytes done: it ended");
   close(store.fd);
   assert_fails(agx_transfer_check(&transfer), AGX_INVALID_ARGUMENT, "length");
}

static void limits_of_the_process_are_failures(void **state)
{
   uint8_t memory[8192] = {1};
   FILE *file = tmpfile();
   assert_non_null(file);
   struct agx_file_store store = {
      .name = "real", .calls = &agx_file_system_calls, .fd = fileno(file)};
   struct agx_transfer transfer = {.store = &store, .length_B = sizeof(memory), .is_write = true};
   struct rlimit before;
   void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
   getrlimit(RLIMIT_FSIZE, &before);
   const struct rlimit small = {6000, before.rlim_max};
   assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
   agx_status status = move_all(&transfer, memory, UINT64_MAX);
   setrlimit(RLIMIT_FSIZE, &before);
   signal(SIGXFSZ, handler);
   assert_fails(status, AGX_OUT_OF_RANGE, "at byte 6000, 6000 of 8192 bytes done");
   fclose(file);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(short_and_interrupted_calls_go_on),
      cmocka_unit_test(pieces_are_bounded),
      cmocka_unit_test(failures_say_where),
      cmocka_unit_test(ranges_are_checked_before_a_byte_moves),
      cmocka_unit_test(memory_is_a_file),
      cmocka_unit_test(real_files_refuse_in_their_ways),
      cmocka_unit_test(limits_of_the_process_are_failures),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
