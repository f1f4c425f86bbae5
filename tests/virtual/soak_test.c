/* SPDX-License-Identifier: MIT
 *
 * Millions of random requests (soak.h) from one thread, from several, and from forked
 * children, with files that close under them. Nothing may crash or hang, and when all
 * is closed everything must have come back: GPU memory, blocks of the node's state, and
 * descriptors. AGX_SOAK_REQUESTS says how many, AGX_SOAK_SEED where to begin; a round
 * with one thread is the same each time.
 */
#include "base/sanitizers.h"
#include "soak.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "winsys/virtual/store/user.h"
#include "user_checked.h"

#define DEFAULT_REQUESTS 100000
#define ROUND_REQUESTS   20000
#define CHILD_REQUESTS   500
#define THREADS          3
#define DRAIN_S          60 /* no measure of speed: what isn't back by then never comes */

/* Touches some pages of the window; some streams fail, some take a moment. */
static agx_status machine(const struct agx_chip *chip, const struct agxs_memory *memory,
                          const struct agxs_options *options, uint64_t usc_base, uint64_t stream_va,
                          struct agxs_stats *out_stats)
{
   for (uint64_t page = 0; page < 16; page++) {
      uint8_t *at = memory->translate(memory->user, 0x2000000000ull + page * PAGE, AGXS_WRITE);
      if (at)
         __atomic_fetch_add(at, 1, __ATOMIC_RELAXED);
   }
   if (stream_va % 64 == 7)
      nanosleep(&(struct timespec){.tv_nsec = 30000}, NULL);
   return stream_va % 64 == 9 ? AGX_FAIL(AGX_DATA_LOSS, "a stream that fails") : AGX_OK;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
   const char *text = getenv(name);
   return text ? strtoull(text, NULL, 0) : otherwise;
}

static unsigned open_descriptors(void)
{
   DIR *folder = opendir("/proc/self/fd");
   unsigned count = 0;
   while (folder && readdir(folder))
      count++;
   if (folder)
      closedir(folder);
   return count;
}

struct player {
   pthread_t thread;
   struct soak_world *world;
   uint64_t seed, wanted, requests;
   bool is_child;
};

static void *play(void *argument)
{
   struct player *player = argument;
   struct soak soak;
   soak_begin(&soak, player->world, player->seed);
   soak.is_child = player->is_child;
   while (soak.requests < player->wanted)
      soak_step(&soak);
   player->requests = soak.requests;
   soak_end(&soak);
   return NULL;
}

static uint64_t play_alone(struct soak_world *world, uint64_t seed, uint64_t wanted)
{
   struct player player = {.world = world, .seed = seed, .wanted = wanted};
   play(&player);
   return player.requests;
}

static uint64_t play_together(struct soak_world *world, uint64_t seed)
{
   struct player players[THREADS];
   uint64_t requests = 0;
   for (unsigned i = 0; i < THREADS; i++) {
      players[i] =
         (struct player){.world = world, .seed = seed + i, .wanted = ROUND_REQUESTS / THREADS};
      assert_int_equal(pthread_create(&players[i].thread, NULL, play, &players[i]), 0);
   }
   for (unsigned i = 0; i < THREADS; i++) {
      pthread_join(players[i].thread, NULL);
      requests += players[i].requests;
   }
   return requests;
}

/* A child takes part with the files that it inherited, and ends without closing any. */
static uint64_t play_with_child(struct soak_world *world, uint64_t seed)
{
   uint64_t requests = play_alone(world, seed, ROUND_REQUESTS / 4);
   pid_t child = fork();
   if (child == 0) {
      play(&(struct player){
         .world = world, .seed = seed + 1, .wanted = CHILD_REQUESTS, .is_child = true});
      _exit(0);
   }
   requests += play_alone(world, seed + 2, ROUND_REQUESTS / 2);
   int status = -1;
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_int_equal(status, 0);
   return requests + CHILD_REQUESTS + play_alone(world, seed + 3, ROUND_REQUESTS / 4);
}

/* Waits for what executes, then everything must be back. Not so where a child took part: its
 * worker may have died in the middle of a change, which can leak blocks (docs/decisions/0025). */
static void expect_all_back(struct agx_virtual_node *node, uint64_t blocks, bool had_child,
                            uint64_t seed)
{
   struct agx_virtual_statistics now;
   int64_t deadline_ns = now_ns() + DRAIN_S * 1000000000ll;
   do {
      agx_virtual_read_statistics(node, &now);
      nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
   } while ((now.memory_bytes || (!had_child && now.blocks != blocks)) && now_ns() < deadline_ns);
   if (now.memory_bytes || (!had_child && now.blocks != blocks))
      fail_msg("seed %llu: %llu bytes of GPU memory and %lld blocks did not come back",
               (unsigned long long)seed, (unsigned long long)now.memory_bytes,
               (long long)(now.blocks - blocks));
}

static uint64_t accepted[SOAK_REQUESTS], refused[SOAK_REQUESTS], faulted;

static void add_up(const struct soak_world *world)
{
   for (unsigned i = 0; i < SOAK_REQUESTS; i++) {
      accepted[i] += atomic_load(&world->accepted[i]);
      refused[i] += atomic_load(&world->refused[i]);
   }
   faulted += atomic_load(&world->faulted);
}

/* AGX_SOAK_CHILDREN=1, as `make soak SOAK_CHILDREN=1` sets it. A death in just the wrong
 * nanoseconds can leak a buffer, so `make test` goes without. */
static bool has_children;

/* Rounds by turns: two alone, one together, one with a child. */
static uint64_t play_round(uint64_t seed, unsigned kind)
{
   struct agx_virtual_node *node;
   struct agx_virtual_statistics before;
   struct soak_world world;
   unsigned descriptors = open_descriptors();
   assert_ok(agx_virtual_node_create(agx_chip_find("g13g"), -1, &node));
   agx_virtual_set_run_compute(node, machine);
   agx_virtual_read_statistics(node, &before);
   soak_world_open(&world, node);
   uint64_t requests =
      kind == 2 ? play_together(&world, seed)
      : kind == 3 && has_children && !AGX_THREAD_SANITIZED /* it ends children that start threads */
         ? play_with_child(&world, seed)
         : play_alone(&world, seed, ROUND_REQUESTS);
   soak_world_close(&world);
   expect_all_back(node, before.blocks, kind == 3, seed);
   agx_virtual_node_destroy(node);
   assert_int_equal(open_descriptors(), descriptors);
   add_up(&world);
   return requests;
}

static void show(uint64_t requests)
{
   uint64_t taken = 0, all = 0;
   for (unsigned i = 0; i < SOAK_REQUESTS; i++) {
      taken += accepted[i];
      all += accepted[i] + refused[i];
      print_message("%-24s %10llu accepted %10llu refused\n", soak_request_name(i),
                    (unsigned long long)accepted[i], (unsigned long long)refused[i]);
   }
   print_message("%llu requests, of %llu counted ones %llu accepted, %llu with bad pointers\n",
                 (unsigned long long)requests, (unsigned long long)all, (unsigned long long)taken,
                 (unsigned long long)faulted);
}

static void random_requests_leave_nothing_behind(void **state)
{
   uint64_t wanted = number("AGX_SOAK_REQUESTS", DEFAULT_REQUESTS);
   uint64_t seed = number("AGX_SOAK_SEED", 1), requests = 0;
   has_children = number("AGX_SOAK_CHILDREN", 0) != 0;
   for (unsigned round = 0; requests < wanted; round++)
      requests += play_round((seed + round) * 0x9e3779b97f4a7c15ull, round % 4);
   show(requests);
   for (unsigned i = 0; i < SOAK_REQUESTS; i++) /* else it would test nothing */
      assert_true(accepted[i] > 0 && (refused[i] > 0 || !user_is_checked()));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(random_requests_leave_nothing_behind)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
