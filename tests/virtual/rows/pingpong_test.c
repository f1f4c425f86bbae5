/* SPDX-License-Identifier: MIT
 *
 * Two processes pass a timeline back and forth, and count in a buffer that both have:
 * each waits for the other's point, finds the other's count, adds one, and signals its
 * own point. Through the door that is linked in; AGX_PINGPONG_ROUNDS makes it longer.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "channel.h"
#include "rows/rows.h"

#define DEFAULT_ROUNDS 2000
#define PAGE           AGX_UAPI_PAGE_BYTES

/* A buffer and a timeline, and what both are called here. */
struct table {
   uint32_t timeline, gem;
   volatile uint64_t *count;
   void *memory;
};

static uint64_t rounds(void)
{
   const char *text = getenv("AGX_PINGPONG_ROUNDS");
   return text ? strtoull(text, NULL, 0) : DEFAULT_ROUNDS;
}

static void map_table(struct table *table)
{
   struct agx_uapi_gem_mmap_offset args = {.handle = table->gem};
   assert_int_equal(REQUEST(ASAHI_GEM_MMAP_OFFSET, args), 0);
   assert_int_equal(
      door_mmap(file, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, args.offset, &table->memory), 0);
   table->count = table->memory;
}

/* From the value after first on, each second point is the other's. */
static bool play(const struct table *table, uint64_t first, uint64_t last)
{
   for (uint64_t value = first; value < last; value += 2) {
      if (value && wait_at(table->timeline, value, WFS, FOREVER) != 0)
         return false;
      if (*table->count != value)
         return false;
      *table->count = value + 1;
      if (signal_at(table->timeline, value + 1) != 0)
         return false;
   }
   return true;
}

/* The other process opens the node for itself and takes both by their descriptors. */
static int be_second(int socket)
{
   struct table table = {0};
   file = door_open();
   int timeline_fd = channel_receive(socket);
   struct agx_uapi_prime_handle buffer = {.fd = channel_receive(socket)};
   if (from_fd(timeline_fd, 0, 0, &table.timeline) || REQUEST(PRIME_FD_TO_HANDLE, buffer))
      return 2;
   table.gem = buffer.handle;
   map_table(&table);
   bool is_sound = play(&table, 1, 2 * rounds());
   door_munmap(table.memory, PAGE);
   door_close(file);
   return is_sound ? 0 : 1;
}

static void share_table(struct table *table, int socket)
{
   struct agx_uapi_gem_create create_args = {.size = PAGE};
   assert_int_equal(REQUEST(ASAHI_GEM_CREATE, create_args), 0);
   *table = (struct table){create(0), create_args.handle, NULL, NULL};
   map_table(table);
   struct agx_uapi_prime_handle buffer = {table->gem, AGX_UAPI_PRIME_CLOEXEC, -1};
   int timeline_fd;
   assert_int_equal(to_fd(table->timeline, 0, 0, &timeline_fd), 0);
   assert_int_equal(REQUEST(PRIME_HANDLE_TO_FD, buffer), 0);
   channel_send(socket, timeline_fd);
   channel_send(socket, buffer.fd);
   close(timeline_fd);
   close(buffer.fd);
}

static void nothing_is_lost(void **state)
{
   int sockets[2], status = -1;
   struct table table;
   channel_open(sockets);
   file = door_open(); /* the node, which the child has too, though not this file */
   pid_t child = fork();
   if (child == 0)
      _exit(be_second(sockets[1]));
   share_table(&table, sockets[0]);
   uint64_t last = 2 * rounds();
   bool is_sound = play(&table, 0, last);
   assert_true(is_sound);
   assert_int_equal(wait_at(table.timeline, last, WFS, FOREVER), 0);
   assert_int_equal(*table.count, last);
   assert_int_equal(value_of(table.timeline), last);
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_int_equal(status, 0);
   door_munmap(table.memory, PAGE);
   close(sockets[0]);
   close(sockets[1]);
   door_close(file);
   door_shut();
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_lost)};
   door_preload("pingpong");
   return cmocka_run_group_tests(tests, NULL, NULL);
}
