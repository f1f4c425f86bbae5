/* SPDX-License-Identifier: MIT
 *
 * Where barriers stand in the stream: at each hazard that a recorded barrier or event covers, and
 * nowhere else; and that what they order comes out right however badly the rest is ordered.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "stream.h"

#define BUFFERS 6
#define WORDS   32 /* that a launch adds to */

struct chain {
   struct fixture f;
   struct agx_executable *add, *raw;
   struct agx_buffer *buffers[BUFFERS];
   uint32_t *words[BUFFERS];
   struct agx_semaphore *done;
   uint64_t value;
};

/* As agx_test_add, without a binding: from the address in push words 0 and 1 to that in 2 and 3. */
static const struct agx_test_kernel raw = {
   .name = "raw",
   .text = "mfsr d=r0 sr=thread_in_grid_x\n"
           "load r=r1 base=du0 index=r0 format=i32 mask=x group=a\n"
           "wait group=a\n"
           "iadd d=r1 a=r1 b=u4\n"
           "store r=r1 base=du2 index=r0 format=i32 mask=x group=a\n",
   .local_size = {WORDS, 1, 1},
   .gpr_halves = 4,
   .push_B = 20,
   .takes_addresses = true,
};

static int open_chain(void **state)
{
   static struct chain chain;
   fixture_open(&chain.f, "virtual:g13g");
   chain.add = fixture_kernel(&chain.f, &agx_test_add);
   chain.raw = fixture_kernel(&chain.f, &raw);
   for (uint32_t i = 0; i < BUFFERS; i++)
      chain.buffers[i] = fixture_buffer(&chain.f, WORDS * 4, &chain.words[i]);
   chain.done = fixture_semaphore(&chain.f);
   *state = &chain;
   return 0;
}

static int close_chain(void **state)
{
   struct chain *chain = *state;
   for (uint32_t i = 0; i < BUFFERS; i++)
      agx_release(chain->buffers[i]);
   agx_release(chain->done);
   agx_release(chain->raw);
   agx_release(chain->add);
   fixture_close(&chain->f);
   return 0;
}

/* buffers[to] = buffers[from] + number, word by word. */
static void launch(struct chain *chain, struct agx_command_buffer *commands, uint32_t from,
                   uint32_t to, uint32_t number)
{
   struct agx_buffer *buffers[2] = {chain->buffers[from], chain->buffers[to]};
   fixture_dispatch(commands, chain->add, 1, buffers, 2, &number, 4);
}

static void launch_raw(struct chain *chain, struct agx_command_buffer *commands, uint32_t from,
                       uint32_t to, uint32_t number)
{
   struct {
      uint64_t from, to;
      uint32_t number;
   } push = {.number = number};
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(chain->buffers[from], &info);
   push.from = info.address;
   agx_buffer_get_info(chain->buffers[to], &info);
   push.to = info.address;
   fixture_dispatch(commands, chain->raw, 1, NULL, 0, &push, 20);
}

static struct agx_barrier barrier_of(struct chain *chain, const uint32_t *which, uint32_t count,
                                     struct agx_buffer **out_buffers)
{
   for (uint32_t i = 0; i < count; i++)
      out_buffers[i] = chain->buffers[which[i]];
   return (struct agx_barrier){
      .size = sizeof(struct agx_barrier), .buffer_count = count, .buffers = out_buffers};
}

static void run(struct chain *chain, struct agx_command_buffer *commands)
{
   struct agx_point point = {chain->done, ++chain->value};
   assert_ok(fixture_submit(&chain->f, commands, NO_POINT, point));
   assert_ok(fixture_wait(chain->done, chain->value));
}

/* A script: "ab" launches from a to b, "AB" by addresses; "|" is a barrier, "(x)" one of buffer x,
 * "h" one to the host; "!" signals, "?" waits for and "0" resets the event. */
static void play(struct chain *chain, const char *script, struct agx_event *event,
                 struct agx_command_buffer *commands)
{
   static const struct agx_barrier to_host = {.size = sizeof(to_host),
                                              .source_stages = AGX_STAGE_DISPATCH,
                                              .target_stages = AGX_STAGE_HOST};
   for (const char *at = script; *at; at++) {
      struct agx_buffer *buffers[1];
      if (*at == ' ')
         continue;
      if (*at == '|') {
         assert_ok(agx_cmd_barrier(commands, NULL));
      } else if (*at == '(') {
         struct agx_barrier barrier = barrier_of(chain, (uint32_t[]){at[1] - 'a'}, 1, buffers);
         assert_ok(agx_cmd_barrier(commands, &barrier));
         at += 2;
      } else if (*at == 'h') {
         assert_ok(agx_cmd_barrier(commands, &to_host));
      } else if (strchr("!?0", *at)) {
         uint32_t op = *at == '!'   ? AGX_EVENT_SIGNAL
                       : *at == '?' ? AGX_EVENT_WAIT
                                    : AGX_EVENT_RESET;
         assert_ok(agx_cmd_event(commands, event, op, NULL));
      } else if (*at < 'a') {
         launch_raw(chain, commands, (uint32_t)(at[0] - 'A'), (uint32_t)(at[1] - 'A'), 1);
         at++;
      } else {
         launch(chain, commands, (uint32_t)(at[0] - 'a'), (uint32_t)(at[1] - 'a'), 1);
         at++;
      }
   }
}

static void words_stand_at_hazards(void **state)
{
   static const struct {
      const char *script, *stream;
   } cases[] = {
      {"", ""},
      {"|", ""},
      {"ab cd", "LL"},
      {"ab bc", "LL"},           /* no barrier: the caller wants no order */
      {"ab | bc", "LBL"},        /* read after write */
      {"ab | ca", "LBL"},        /* write after read */
      {"ab | cb", "LBL"},        /* write after write */
      {"ab | ac", "LL"},         /* read after read */
      {"ab | cd", "LL"},         /* nothing in common */
      {"ab ||| bc", "LBL"},      /* one of many */
      {"| ab | |", "L"},         /* at the ends */
      {"ab | bc bd", "LBLL"},    /* behind the same word */
      {"ab | bc | bd", "LBLL"},  /* ordered already */
      {"ab | bc | cd", "LBLBL"}, /* each */
      {"ab | de | bc", "LLBL"},  /* not before it must */
      {"ab | de bc | ef", "LLBLL"},
      {"ab | bc | de", "LBLL"},
      {"ab (b) bc", "LBL"},    /* a barrier of one buffer */
      {"ab (d) bc", "LL"},     /* of another one */
      {"ab cd (b) de", "LLL"}, /* */
      {"ab cd (b) | de", "LLBL"},
      {"ab (b) (a) ca", "LBL"},
      {"ab h bc", "LL"}, /* between commands and the host */
      {"ab h | bc", "LBL"},
      {"ab ! bc", "LL"},    /* a signal alone */
      {"ab ! ? bc", "LBL"}, /* and with its wait */
      {"ab ! cd ? bc", "LLBL"},
      {"ab ! cd ? de", "LLL"}, /* behind the signal */
      {"ab ! 0 ! ? bc", "LBL"},
      {"ab ? bc", "LL"}, /* signalled elsewhere, which is before */
      {"AB bc", "LL"},   /* addresses: whatever there is */
      {"AB | cd", "LBL"},
      {"ab | CD", "LBL"},
      {"AB | CD", "LBL"},
      {"AB (c) cd", "LBL"},
      {"AB (c) de", "LL"},
      {"ab | bc | CD | de", "LBLBLBL"},
      {"AB ! ? cd", "LBL"},
      {"| AB", "L"},
   };
   struct chain *chain = *state;
   struct agx_event *event;
   assert_ok(agx_event_create(chain->f.device, &event));
   struct agx_command_buffer *commands = fixture_begin(&chain->f);
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      assert_ok(agx_command_buffer_begin(commands));
      play(chain, cases[i].script, event, commands);
      assert_ok(agx_command_buffer_end(commands));
      if (strcmp(stream_text(commands), cases[i].stream) != 0)
         fail_msg("\"%s\" became %s, not %s", cases[i].script, stream_text(commands),
                  cases[i].stream);
   }
   agx_release(commands);
   agx_release(event);
}

/* As agx_test_add, with a third binding that it doesn't use. */
static const struct agx_test_kernel beside = {
   .name = "beside",
   .text = "mfsr d=r0 sr=thread_in_grid_x\n"
           "load r=r1 base=du0 index=r0 format=i32 mask=x group=a\n"
           "wait group=a\n"
           "iadd d=r1 a=r1 b=u6\n"
           "store r=r1 base=du2 index=r0 format=i32 mask=x group=a\n",
   .local_size = {WORDS, 1, 1},
   .gpr_halves = 4,
   .push_B = 4,
   .bindings = 3,
   .written = 2,
   .untouched = 4,
};

/* A dispatch that names its workgroups' size is recorded by the general path. */
static void launch_beside(struct chain *chain, struct agx_command_buffer *commands,
                          struct agx_executable *executable, const char *buffers, bool is_general)
{
   const uint32_t number = 1;
   struct agx_binding bindings[3];
   for (uint32_t i = 0; i < 3; i++)
      bindings[i] = (struct agx_binding){
         .binding = i,
         .ref = {.buffer = chain->buffers[buffers[i] - 'a'], .length_B = AGX_WHOLE_LENGTH}};
   const struct agx_dispatch dispatch = {
      .size = sizeof(dispatch),
      .executable = executable,
      .workgroups = {1, 1, 1},
      .local_size = {is_general ? WORDS : 0, is_general, is_general},
      .bindings = bindings,
      .binding_count = 3,
      .push = &number,
      .push_B = 4,
   };
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
}

/* On both paths; the buffer lives as long as the recording all the same. */
static void untouched_bindings_are_no_hazards(void **state)
{
   static const struct {
      const char *first, *second, *stream;
   } cases[] = {
      {"abc", "dcf", "LL"},  /* written after a launch that binds it only */
      {"abc", "deb", "LL"},  /* bound only, after it was written */
      {"abc", "bdc", "LBL"}, /* what is read and written is one */
   };
   struct chain *chain = *state;
   struct agx_executable *executable = fixture_kernel(&chain->f, &beside);
   struct agx_command_buffer *commands = fixture_begin(&chain->f);
   for (size_t i = 0; i < 2 * AGX_COUNT(cases); i++) {
      const bool is_general = i % 2;
      assert_ok(agx_command_buffer_begin(commands));
      launch_beside(chain, commands, executable, cases[i / 2].first, is_general);
      assert_ok(agx_cmd_barrier(commands, NULL));
      launch_beside(chain, commands, executable, cases[i / 2].second, is_general);
      assert_ok(agx_command_buffer_end(commands));
      if (strcmp(stream_text(commands), cases[i / 2].stream) != 0)
         fail_msg("%s | %s became %s, not %s, on the %s path", cases[i / 2].first,
                  cases[i / 2].second, stream_text(commands), cases[i / 2].stream,
                  is_general ? "general" : "fast");
   }
   for (uint32_t is_general = 0; is_general < 2; is_general++) {
      struct agx_buffer *all[BUFFERS];
      uint32_t *words;
      memcpy(all, chain->buffers, sizeof(all));
      chain->buffers[2] = fixture_buffer(&chain->f, WORDS * 4, &words);
      assert_ok(agx_command_buffer_begin(commands));
      launch_beside(chain, commands, executable, "abc", is_general);
      assert_ok(agx_command_buffer_end(commands));
      agx_release(chain->buffers[2]);
      memcpy(chain->buffers, all, sizeof(all));
      run(chain, commands);
   }
   agx_release(commands);
   agx_release(executable);
}

/* ---- at random ------------------------------------------------------------ */

#define STEPS 60

/* What one launch did; before which others that came earlier. */
struct past {
   uint32_t from, to;
   bool is_raw;
   bool is_behind_word;
   bool is_behind_barrier[BUFFERS]; /* of that buffer */
   bool is_behind_any;
};

/* Rules of ordering, launch against launch. */
struct oracle {
   struct past past[STEPS];
   uint32_t count;
   uint32_t words[BUFFERS]; /* what each word of a buffer holds */
   char stream[2 * STEPS + 1];
};

static bool conflicts(const struct past *a, uint32_t from, uint32_t to)
{
   return a->to == from || a->to == to || a->from == to;
}

/* Whether the earlier launch is before a new one by what was recorded; and whether a word between
 * them is wanted. A launch by addresses may use anything. */
static bool wants_word(const struct oracle *it, uint32_t from, uint32_t to, bool is_raw)
{
   for (uint32_t i = 0; i < it->count; i++) {
      const struct past *a = &it->past[i];
      if (a->is_behind_word)
         continue;
      if (is_raw ? a->is_behind_any
                 : (a->is_behind_barrier[from] && (a->is_raw || a->to == from)) ||
                      (a->is_behind_barrier[to] && (a->is_raw || a->to == to || a->from == to)))
         return true;
   }
   return false;
}

static void note_barrier(struct oracle *it, uint32_t end, const uint32_t *which, uint32_t count)
{
   for (uint32_t i = 0; i < end; i++) {
      it->past[i].is_behind_any = true;
      for (uint32_t b = 0; b < BUFFERS; b++)
         it->past[i].is_behind_barrier[b] |= count == 0;
      for (uint32_t b = 0; b < count; b++)
         it->past[i].is_behind_barrier[which[b]] = true;
   }
}

static void note_launch(struct oracle *it, uint32_t from, uint32_t to, bool is_raw, uint32_t number)
{
   size_t length = strlen(it->stream);
   if (wants_word(it, from, to, is_raw)) {
      it->stream[length++] = 'B';
      for (uint32_t i = 0; i < it->count; i++)
         it->past[i].is_behind_word = true;
   }
   it->stream[length] = 'L';
   it->past[it->count++] = (struct past){.from = from, .to = to, .is_raw = is_raw};
   it->words[to] = it->words[from] + number;
}

/* Whether the results would depend on luck without a barrier of that launch's buffers. */
static bool needs_barrier(const struct oracle *it, uint32_t from, uint32_t to)
{
   for (uint32_t i = 0; i < it->count; i++)
      if (!it->past[i].is_behind_word && conflicts(&it->past[i], from, to))
         return true;
   return false;
}

static void one_of_many(struct chain *chain, struct agx_event *event, uint64_t seed)
{
   struct agx_test_rng rng = {seed};
   struct oracle it = {.count = 0};
   struct agx_command_buffer *commands = fixture_begin(&chain->f);
   bool is_signalled = false;
   uint32_t signal_at = 0;
   for (uint32_t i = 0; i < BUFFERS; i++) {
      it.words[i] = 1000 * i;
      for (uint32_t w = 0; w < WORDS; w++)
         chain->words[i][w] = 1000 * i;
   }
   for (uint32_t step = 0; step < STEPS; step++) {
      uint32_t from = (uint32_t)agx_test_random_below(&rng, BUFFERS);
      uint32_t to = (from + 1 + (uint32_t)agx_test_random_below(&rng, BUFFERS - 1)) % BUFFERS;
      bool is_raw = agx_test_random_below(&rng, 8) == 0;
      struct agx_buffer *buffers[2];
      if (agx_test_random_below(&rng, 6) == 0) {
         assert_ok(agx_cmd_event(commands, event, AGX_EVENT_SIGNAL, NULL));
         is_signalled = true;
         signal_at = it.count;
      }
      if (is_signalled && agx_test_random_below(&rng, 4) == 0) {
         assert_ok(agx_cmd_event(commands, event, AGX_EVENT_WAIT, NULL));
         note_barrier(&it, signal_at, NULL, 0);
      }
      if (needs_barrier(&it, from, to) || agx_test_random_below(&rng, 5) == 0) {
         const uint32_t which[2] = {from, to};
         bool is_global = is_raw || agx_test_random_below(&rng, 2);
         struct agx_barrier barrier = barrier_of(chain, which, 2, buffers);
         assert_ok(agx_cmd_barrier(commands, is_global ? NULL : &barrier));
         note_barrier(&it, it.count, which, is_global ? 0 : 2);
      }
      (is_raw ? launch_raw : launch)(chain, commands, from, to, step);
      note_launch(&it, from, to, is_raw, step);
   }
   assert_ok(agx_command_buffer_end(commands));
   assert_string_equal(stream_text(commands), it.stream);
   run(chain, commands);
   for (uint32_t i = 0; i < BUFFERS; i++)
      for (uint32_t w = 0; w < WORDS; w++)
         assert_int_equal(chain->words[i][w], it.words[i]);
   agx_release(commands);
}

static void what_barriers_order_comes_out_right(void **state)
{
   struct chain *chain = *state;
   struct agx_event *event;
   assert_ok(agx_event_create(chain->f.device, &event));
   for (uint64_t seed = 1; seed <= 40; seed++)
      one_of_many(chain, event, seed);
   agx_release(event);
}

/* The device may overlap launches without a barrier between them: under chaos a chain of such
 * launches comes out wrong now and then. With barriers it never does. */
static void what_nobody_orders_may_overlap(void **state)
{
   enum {
      RUNS = 40
   };
   struct chain *chain = *state;
   const char *chaos = getenv("AGX_VIRTUAL_CHAOS");
   uint32_t wrong[2] = {0};
   for (uint32_t has_barriers = 0; has_barriers < 2; has_barriers++) {
      struct agx_command_buffer *commands = fixture_begin(&chain->f);
      for (uint32_t i = 0; i + 1 < BUFFERS; i++) {
         launch(chain, commands, i, i + 1, 1);
         if (has_barriers)
            assert_ok(agx_cmd_barrier(commands, NULL));
      }
      assert_ok(agx_command_buffer_end(commands));
      for (uint32_t n = 0; n < RUNS; n++) {
         for (uint32_t i = 0; i < BUFFERS; i++)
            memset(chain->words[i], 0, WORDS * 4);
         run(chain, commands);
         wrong[has_barriers] += chain->words[BUFFERS - 1][0] != BUFFERS - 1;
      }
      agx_release(commands);
   }
   assert_int_equal(wrong[1], 0);
   if (chaos && *chaos)
      assert_true(wrong[0] > 0);
}

/* ---- chains --------------------------------------------------------------- */

static void more_objects_than_a_set_begins_with(void **state)
{
   enum {
      COUNT = 100
   };
   struct chain *chain = *state;
   struct agx_buffer *buffers[COUNT];
   uint32_t *words[COUNT], one = 1;
   struct agx_command_buffer *both[2] = {fixture_begin(&chain->f), fixture_begin(&chain->f)};
   for (uint32_t i = 0; i < COUNT; i++)
      buffers[i] = fixture_buffer(&chain->f, WORDS * 4, &words[i]);
   /* In two sets at once, in another order, so that hints mislead. */
   for (uint32_t i = 0; i + 1 < COUNT; i++) {
      uint32_t j = COUNT - 2 - i;
      fixture_dispatch(both[0], chain->add, 1, &buffers[i], 2, &one, 4);
      assert_ok(agx_cmd_barrier(both[0], NULL));
      fixture_dispatch(both[1], chain->add, 1, &buffers[j], 2, &one, 4);
      assert_ok(agx_cmd_barrier(both[1], NULL));
   }
   for (uint32_t i = 0; i < 2; i++) {
      assert_ok(agx_command_buffer_end(both[i]));
      const char *text = stream_text(both[i]);
      for (uint32_t at = 0; at < COUNT - 1; at++)
         assert_true(text[2 * at] == 'L' && text[2 * at + 1] == (at < COUNT - 2 ? 'B' : 0));
   }
   for (uint32_t i = 0; i < COUNT; i++)
      agx_release(buffers[i]); /* the recordings keep them */
   run(chain, both[0]);
   assert_int_equal(words[COUNT - 1][0], COUNT - 1);
   run(chain, both[1]);
   assert_int_equal(words[COUNT - 1][0], COUNT - 1);
   agx_release(both[0]);
   agx_release(both[1]);
}

static void mistakes_are_told(void **state)
{
   struct chain *chain = *state;
   struct agx_event *event;
   struct agx_buffer *none[1] = {NULL};
   struct agx_barrier bad[] = {
      {.size = sizeof(bad[0]), .source_stages = 64},
      {.size = sizeof(bad[0]), .target_scopes = 1024},
      {.size = sizeof(bad[0]), .buffer_count = 1},
      {.size = sizeof(bad[0]), .buffer_count = 1, .buffers = none},
   };
   static const char *const texts[] = {"stages 0x40", "scopes 0x400", "buffers at NULL",
                                       "buffer 0 is NULL"};
   assert_ok(agx_event_create(chain->f.device, &event));
   struct agx_command_buffer *commands = fixture_begin(&chain->f);
   for (uint32_t i = 0; i < AGX_COUNT(bad); i++) {
      assert_ok(agx_command_buffer_begin(commands));
      assert_fails(agx_cmd_barrier(commands, &bad[i]), AGX_INVALID_ARGUMENT, texts[i]);
      assert_fails(agx_command_buffer_end(commands), AGX_INVALID_ARGUMENT, "earlier");
   }
   assert_fails(agx_cmd_event(commands, event, AGX_EVENT_SIGNAL, NULL), AGX_FAILED_PRECONDITION,
                "outside begin");
   assert_ok(agx_command_buffer_begin(commands));
   assert_fails(agx_cmd_event(commands, NULL, AGX_EVENT_SIGNAL, NULL), AGX_INVALID_ARGUMENT,
                "NULL");
   assert_fails(agx_cmd_event(commands, event, 3, NULL), AGX_INVALID_ARGUMENT, "operation 3");
   assert_ok(agx_cmd_event(commands, event, AGX_EVENT_RESET, NULL));
   assert_fails(agx_cmd_event(commands, event, AGX_EVENT_WAIT, NULL), AGX_FAILED_PRECONDITION,
                "not signalled");
   agx_release(commands);
   agx_release(event);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_stand_at_hazards),
      cmocka_unit_test(untouched_bindings_are_no_hazards),
      cmocka_unit_test(what_barriers_order_comes_out_right),
      cmocka_unit_test(what_nobody_orders_may_overlap),
      cmocka_unit_test(more_objects_than_a_set_begins_with),
      cmocka_unit_test(mistakes_are_told),
   };
   return cmocka_run_group_tests(tests, open_chain, close_chain);
}
