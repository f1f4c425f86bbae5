/* SPDX-License-Identifier: MIT
 *
 * Virtual memory: addresses and pages apart.
 */
#include "conformance.h"

#include <string.h>

#include "base/util.h"

/* out[i] = the first word of page i of the other; push: words in a page. */
static const struct agx_test_kernel read_pages = {
   .name = "read_pages",
   .text = "mfsr d=r0 sr=thread_in_grid_x\n"
           "imadd d=r1 a=r0 b=u4 c=0\n"
           "load r=r2 base=du0 index=r1 format=i32 mask=x group=a\n"
           "wait group=a\n"
           "store r=r2 base=du2 index=r0 format=i32 mask=x group=a\n",
   .local_size = {32, 1, 1},
   .gpr_halves = 6,
   .push_B = 4,
   .bindings = 2,
   .written = 2,
};

/* The first word of page i becomes i + push word 1; push word 0: words in a page. */
static const struct agx_test_kernel write_pages = {
   .name = "write_pages",
   .text = "mfsr d=r0 sr=thread_in_grid_x\n"
           "imadd d=r1 a=r0 b=u2 c=0\n"
           "iadd d=r2 a=r0 b=u3\n"
           "store r=r2 base=du0 index=r1 format=i32 mask=x group=a\n",
   .local_size = {32, 1, 1},
   .gpr_halves = 6,
   .push_B = 8,
   .bindings = 1,
   .written = 1,
};

enum {
   PAGES = 32 /* of each reservation; the kernels' workgroup */
};

struct sparse_range {
   struct fixture *f;
   struct agx_executable *read, *write;
   struct agx_buffer *range, *result;
   uint32_t *words; /* of result */
   uint64_t page_B;
};

static struct agx_buffer *reserve(struct fixture *f, uint64_t size_B)
{
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = size_B, .label = "range"};
   struct agx_buffer *range;
   assert_ok(agx_vmem_reserve(f->device, &desc, &range));
   return range;
}

static void begin(struct sparse_range *b, struct fixture *f)
{
   uint64_t best_B;
   *b = (struct sparse_range){.f = f};
   agx_vmem_granularity(f->device, &b->page_B, &best_B);
   assert_true(best_B >= b->page_B && best_B % b->page_B == 0);
   b->read = fixture_kernel(f, &read_pages);
   b->write = fixture_kernel(f, &write_pages);
   b->range = reserve(f, PAGES * b->page_B);
   b->result = fixture_buffer(f, PAGES * 4, &b->words);
}

static void end(struct sparse_range *b)
{
   agx_release(b->result);
   agx_release(b->range);
   agx_release(b->write);
   agx_release(b->read);
}

static struct agx_pages *make_pages(struct sparse_range *b, uint32_t count, uint32_t **out_words)
{
   struct agx_buffer_desc desc = {.size = sizeof(desc),
                                  .size_B = count * b->page_B,
                                  .flags = AGX_BUFFER_HOST_READ,
                                  .label = "memory"};
   struct agx_pages *pages;
   void *memory = NULL;
   assert_ok(agx_pages_create(b->f->device, &desc, &pages));
   assert_ok(agx_pages_map(pages, &memory));
   if (out_words)
      *out_words = memory;
   return pages;
}

static agx_status bind(struct sparse_range *b, uint32_t at, struct agx_pages *pages, uint32_t from,
                       uint32_t count, uint32_t protection)
{
   return agx_vmem_bind(b->range, at * b->page_B, pages, from * b->page_B, count * b->page_B,
                        protection);
}

/* The first word of each page of the range into b->words. */
static void look(struct sparse_range *b)
{
   uint32_t push = (uint32_t)(b->page_B / 4);
   struct agx_command_buffer *commands = fixture_begin(b->f);
   memset(b->words, 0xee, PAGES * 4);
   fixture_dispatch(commands, b->read, 1, (struct agx_buffer *[]){b->range, b->result}, 2, &push,
                    4);
   conformance_run(b->f, commands);
   agx_release(commands);
}

static void store(struct sparse_range *b, uint32_t first)
{
   const uint32_t push[] = {(uint32_t)(b->page_B / 4), first};
   struct agx_command_buffer *commands = fixture_begin(b->f);
   fixture_dispatch(commands, b->write, 1, &b->range, 1, push, sizeof(push));
   conformance_run(b->f, commands);
   agx_release(commands);
}

static struct agx_buffer_info info_of(struct agx_buffer *buffer)
{
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(buffer, &info);
   return info;
}

#define READ_WRITE (AGX_ACCESS_READ | AGX_ACCESS_WRITE)

static void a_reservation_is_addresses(void **state)
{
   struct sparse_range b;
   begin(&b, conformance_device(state));
   struct agx_buffer_info info = info_of(b.range);
   void *memory;
   assert_int_equal(info.state, AGX_BUFFER_RESERVED);
   assert_int_equal(info.address % b.page_B, 0);
   assert_int_equal(info.size_B, PAGES * b.page_B);
   assert_false(info.is_exportable);
   assert_fails(agx_buffer_map(b.range, &memory), AGX_PERMISSION_DENIED, "agx_pages_map");
   assert_fails(agx_buffer_map_range(b.range, 0, 4, AGX_ACCESS_READ, &memory),
                AGX_PERMISSION_DENIED, "range: addresses");
   struct agx_external external = {.size = sizeof(external)};
   assert_fails(agx_buffer_export(b.range, AGX_EXTERNAL_DMA_BUF, &external),
                AGX_FAILED_PRECONDITION, "range: reserved");
   end(&b);
}

static void bound_pages_are_memory(void **state)
{
   struct sparse_range b;
   uint32_t *words;
   begin(&b, conformance_device(state));
   struct agx_pages *pages = make_pages(&b, PAGES, &words);
   for (uint32_t i = 0; i < PAGES; i++)
      words[i * b.page_B / 4] = i * 5;
   uint64_t address = info_of(b.range).address;
   assert_ok(bind(&b, 0, pages, 0, PAGES, READ_WRITE));
   assert_int_equal(info_of(b.range).state, AGX_BUFFER_LIVE);
   assert_int_equal(info_of(b.range).address, address);
   look(&b);
   for (uint32_t i = 0; i < PAGES; i++)
      assert_int_equal(b.words[i], i * 5);
   store(&b, 700);
   for (uint32_t i = 0; i < PAGES; i++)
      assert_int_equal(words[i * b.page_B / 4], 700 + i);
   assert_ok(bind(&b, 0, NULL, 0, PAGES, 0));
   assert_int_equal(info_of(b.range).state, AGX_BUFFER_RESERVED);
   agx_release(pages);
   end(&b);
}

/* The same page in two places, and of two ranges. */
static void pages_may_have_many_addresses(void **state)
{
   struct sparse_range b;
   uint32_t *words;
   begin(&b, conformance_device(state));
   struct agx_buffer *other = reserve(b.f, b.page_B);
   struct agx_pages *pages = make_pages(&b, 2, &words);
   assert_ok(bind(&b, 3, pages, 1, 1, READ_WRITE));
   assert_ok(bind(&b, 20, pages, 1, 1, AGX_ACCESS_READ));
   assert_ok(agx_vmem_bind(other, 0, pages, b.page_B, b.page_B, READ_WRITE));
   store(&b, 100);
   look(&b);
   assert_int_equal(b.words[3], 103);
   assert_int_equal(b.words[20], 103);
   assert_int_equal(words[b.page_B / 4], 103);
   assert_int_equal(words[0], 0);
   agx_release(pages);
   agx_release(other);
   look(&b);
   assert_int_equal(b.words[20], 103);
   end(&b);
}

/* Contents stay with the pages, wherever they are bound. */
static void pages_can_move(void **state)
{
   struct sparse_range b;
   begin(&b, conformance_device(state));
   struct agx_pages *pages = make_pages(&b, 4, NULL);
   assert_ok(bind(&b, 0, pages, 0, 4, READ_WRITE));
   store(&b, 50);
   assert_ok(bind(&b, 0, NULL, 0, PAGES, 0));
   assert_ok(bind(&b, 8, pages, 2, 2, AGX_ACCESS_READ));
   assert_ok(bind(&b, 10, pages, 0, 2, AGX_ACCESS_READ));
   look(&b);
   static const uint32_t expected[] = {52, 53, 50, 51};
   assert_memory_equal(b.words + 8, expected, sizeof(expected));
   assert_int_equal(b.words[0] | b.words[3], 0);
   agx_release(pages);
   end(&b);
}

/* The range keeps what is bound in it, and only that. */
static void bound_pages_stay(void **state)
{
   struct sparse_range b;
   uint32_t *words;
   begin(&b, conformance_device(state));
   struct agx_pages *pages = make_pages(&b, 3, &words);
   words[0] = 1, words[b.page_B / 4] = 2, words[2 * b.page_B / 4] = 3;
   assert_ok(bind(&b, 0, pages, 0, 3, READ_WRITE));
   agx_release(pages);
   assert_ok(bind(&b, 1, NULL, 0, 1, 0)); /* a hole in the middle */
   look(&b);
   assert_int_equal(b.words[0], 1);
   assert_int_equal(b.words[1], 0);
   assert_int_equal(b.words[2], 3);
   end(&b);
}

static void protection_can_change(void **state)
{
   struct sparse_range b;
   uint32_t *words;
   begin(&b, conformance_device(state));
   struct agx_pages *pages = make_pages(&b, 8, &words);
   assert_ok(bind(&b, 4, pages, 0, 8, READ_WRITE));
   store(&b, 10);
   assert_ok(agx_vmem_protect(b.range, 6 * b.page_B, 2 * b.page_B, AGX_ACCESS_READ));
   assert_ok(agx_vmem_protect(b.range, 8 * b.page_B, 2 * b.page_B, 0));
   store(&b, 20);
   for (uint32_t i = 0; i < 8; i++) /* 6, 7 read-only, 8, 9 out of reach */
      assert_int_equal(words[i * b.page_B / 4], (i >= 2 && i < 6 ? 10 : 20) + 4 + i);
   look(&b);
   assert_int_equal(b.words[6], 16);
   assert_int_equal(b.words[8], 0);
   assert_ok(agx_vmem_protect(b.range, 4 * b.page_B, 8 * b.page_B, READ_WRITE));
   look(&b);
   assert_int_equal(b.words[8], 18);
   assert_fails(agx_vmem_protect(b.range, 3 * b.page_B, 2 * b.page_B, READ_WRITE),
                AGX_FAILED_PRECONDITION, "range: nothing is bound at");
   assert_fails(agx_vmem_protect(b.range, 11 * b.page_B, 2 * b.page_B, READ_WRITE),
                AGX_FAILED_PRECONDITION, "range: nothing is bound at");
   agx_release(pages);
   end(&b);
}

static void what_does_not_fit_is_refused(void **state)
{
   struct sparse_range b;
   struct fixture another;
   begin(&b, conformance_device(state));
   conformance_open_another(&another);
   uint64_t page_B = b.page_B;
   struct agx_pages *pages = make_pages(&b, 4, NULL), *foreign;
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = page_B};
   assert_ok(agx_pages_create(another.device, &desc, &foreign));
   const struct {
      uint64_t offset_B;
      struct agx_pages *pages;
      uint64_t pages_offset_B, size_B;
      uint32_t protection;
      agx_status status;
   } cases[] = {
      {1, pages, 0, page_B, 3, AGX_INVALID_ARGUMENT},
      {0, pages, 0, page_B - 1, 3, AGX_INVALID_ARGUMENT},
      {0, pages, 0, 0, 3, AGX_INVALID_ARGUMENT},
      {0, pages, 0, page_B, 4, AGX_INVALID_ARGUMENT},
      {0, pages, 0, page_B, 7, AGX_INVALID_ARGUMENT},
      {0, foreign, 0, page_B, 3, AGX_INVALID_ARGUMENT},
      {0, pages, 1, page_B, 3, AGX_OUT_OF_RANGE},
      {0, pages, 4 * page_B, page_B, 3, AGX_OUT_OF_RANGE},
      {0, pages, 3 * page_B, 2 * page_B, 3, AGX_OUT_OF_RANGE},
      {0, pages, 0, 5 * page_B, 3, AGX_OUT_OF_RANGE},
      {PAGES * page_B, pages, 0, page_B, 3, AGX_OUT_OF_RANGE},
      {(PAGES - 1) * page_B, pages, 0, 2 * page_B, 3, AGX_OUT_OF_RANGE},
      {-page_B, NULL, 0, page_B, 0, AGX_OUT_OF_RANGE},
      {0, NULL, 0, -page_B, 0, AGX_OUT_OF_RANGE},
   };
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
      assert_fails(agx_vmem_bind(b.range, cases[i].offset_B, cases[i].pages,
                                 cases[i].pages_offset_B, cases[i].size_B, cases[i].protection),
                   cases[i].status, "range: ");
   assert_int_equal(info_of(b.range).state, AGX_BUFFER_RESERVED);
   assert_fails(agx_vmem_bind(b.result, 0, pages, 0, page_B, 3), AGX_INVALID_ARGUMENT,
                "not of agx_vmem_reserve");
   assert_fails(agx_vmem_protect(b.result, 0, page_B, 3), AGX_INVALID_ARGUMENT, "agx_vmem_reserve");
   agx_release(foreign);
   agx_release(pages);
   fixture_close(&another);
   end(&b);
}

static void descriptions_are_checked(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_buffer_desc desc = {.size = sizeof(desc)};
   struct agx_buffer *range;
   struct agx_pages *pages;
   void *memory;
   assert_fails(agx_vmem_reserve(f->device, &desc, &range), AGX_INVALID_ARGUMENT, "size 0");
   assert_fails(agx_pages_create(f->device, &desc, &pages), AGX_INVALID_ARGUMENT, "size 0");
   desc.size_B = 1;
   desc.usage = AGX_USAGE_SHARING_EXPORT;
   assert_fails(agx_pages_create(f->device, &desc, &pages), AGX_UNAVAILABLE, "shared");
   desc.usage = AGX_USAGE_TRANSFER;
   assert_ok(agx_pages_create(f->device, &desc, &pages));
   assert_fails(agx_pages_map(pages, &memory), AGX_PERMISSION_DENIED, "AGX_USAGE_MAPPING");
   assert_null(memory);
   agx_release(pages);
}

static void advice_is_taken(void **state)
{
   struct sparse_range b;
   begin(&b, conformance_device(state));
   assert_ok(agx_vmem_advise(b.range, 0, PAGES * b.page_B, AGX_ADVICE_WILL_NEED));
   assert_ok(agx_vmem_advise(b.range, b.page_B, b.page_B, AGX_ADVICE_DONT_NEED));
   assert_fails(agx_vmem_advise(b.range, 0, b.page_B, 0), AGX_INVALID_ARGUMENT, "advice 0");
   assert_fails(agx_vmem_advise(b.range, 0, b.page_B, 3), AGX_INVALID_ARGUMENT, "advice 3");
   assert_fails(agx_vmem_advise(b.range, 0, (PAGES + 1) * b.page_B, 1), AGX_OUT_OF_RANGE, "range");
   end(&b);
}

/* Much more addresses than memory. */
static void addresses_cost_nothing(void **state)
{
   struct sparse_range b;
   uint64_t size_B = UINT64_C(10) << 30;
   begin(&b, conformance_device(state));
   struct agx_buffer *large = reserve(b.f, size_B);
   struct agx_pages *pages = make_pages(&b, 1, NULL);
   assert_ok(agx_vmem_bind(large, size_B - b.page_B, pages, 0, b.page_B, READ_WRITE));
   assert_ok(agx_vmem_bind(large, (UINT64_C(5) << 30) + b.page_B, pages, 0, b.page_B, READ_WRITE));
   agx_release(pages);
   agx_release(large);
   end(&b);
}

/* ---- against a model ------------------------------------------------------- */

enum {
   OBJECTS = 3,
   EACH = 11
};

struct model {
   struct {
      int object; /* -1: nothing */
      uint32_t page, protection;
   } at[PAGES];
   uint32_t value[OBJECTS][EACH];
};

static void check_reads(struct sparse_range *b, const struct model *m)
{
   look(b);
   for (uint32_t i = 0; i < PAGES; i++) {
      bool is_readable = m->at[i].object >= 0 && m->at[i].protection & AGX_ACCESS_READ;
      assert_int_equal(b->words[i], is_readable ? m->value[m->at[i].object][m->at[i].page] : 0);
   }
}

/* Pages with several addresses have the value of one of them. */
static void check_writes(struct sparse_range *b, struct model *m, uint32_t first,
                         uint32_t *const words[OBJECTS])
{
   store(b, first);
   for (uint32_t o = 0; o < OBJECTS; o++)
      for (uint32_t p = 0; p < EACH; p++) {
         uint32_t value = words[o][p * b->page_B / 4];
         bool is_expected = false, is_written = false;
         for (uint32_t i = 0; i < PAGES; i++)
            if (m->at[i].object == (int)o && m->at[i].page == p &&
                m->at[i].protection & AGX_ACCESS_WRITE) {
               is_written = true;
               is_expected |= value == first + i;
            }
         assert_true(is_written ? is_expected : value == m->value[o][p]);
         m->value[o][p] = value;
      }
}

static void change(struct sparse_range *b, struct model *m, struct agx_pages *const pages[OBJECTS],
                   struct agx_test_rng *rng)
{
   uint32_t at = (uint32_t)agx_test_random_below(rng, PAGES);
   uint32_t count = 1 + (uint32_t)agx_test_random_below(rng, AGX_MIN(PAGES - at, EACH));
   uint32_t object = (uint32_t)agx_test_random_below(rng, OBJECTS);
   uint32_t from = (uint32_t)agx_test_random_below(rng, EACH - count + 1);
   uint32_t protection = (uint32_t)agx_test_random_below(rng, 4);
   uint64_t what = agx_test_random_below(rng, 10);
   if (what < 4) {
      assert_ok(bind(b, at, pages[object], from, count, protection));
   } else if (what < 6) {
      assert_ok(bind(b, at, NULL, 0, count, 0));
   } else {
      bool is_bound = true;
      for (uint32_t i = at; i < at + count; i++)
         is_bound &= m->at[i].object >= 0;
      agx_status status = agx_vmem_protect(b->range, at * b->page_B, count * b->page_B, protection);
      assert_int_equal(status, is_bound ? AGX_OK : AGX_FAILED_PRECONDITION);
      for (uint32_t i = at; is_bound && i < at + count; i++)
         m->at[i].protection = protection;
      return;
   }
   for (uint32_t i = 0; i < count; i++) {
      m->at[at + i].object = what < 4 ? (int)object : -1;
      m->at[at + i].page = from + i;
      m->at[at + i].protection = protection;
   }
}

static void any_sequence_is_as_the_model_says(void **state)
{
   struct sparse_range b;
   struct model m = {0};
   struct agx_pages *pages[OBJECTS];
   uint32_t *words[OBJECTS];
   struct agx_test_rng rng = {.state = 0x5eed5eed};
   begin(&b, conformance_device(state));
   for (uint32_t i = 0; i < PAGES; i++)
      m.at[i].object = -1;
   for (uint32_t o = 0; o < OBJECTS; o++) {
      pages[o] = make_pages(&b, EACH, &words[o]);
      for (uint32_t p = 0; p < EACH; p++)
         words[o][p * b.page_B / 4] = m.value[o][p] = 1000 * (o + 1) + p;
   }
   for (uint32_t round = 0; round < 60; round++) {
      for (uint32_t i = 0; i < 6; i++)
         change(&b, &m, pages, &rng);
      check_reads(&b, &m);
      if (round % 3 == 0)
         check_writes(&b, &m, 10000 + 100 * round, words);
   }
   for (uint32_t o = 0; o < OBJECTS; o++)
      agx_release(pages[o]);
   end(&b);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_reservation_is_addresses),
      cmocka_unit_test(bound_pages_are_memory),
      cmocka_unit_test(pages_may_have_many_addresses),
      cmocka_unit_test(pages_can_move),
      cmocka_unit_test(bound_pages_stay),
      cmocka_unit_test(protection_can_change),
      cmocka_unit_test(what_does_not_fit_is_refused),
      cmocka_unit_test(descriptions_are_checked),
      cmocka_unit_test(advice_is_taken),
      cmocka_unit_test(addresses_cost_nothing),
      cmocka_unit_test(any_sequence_is_as_the_model_says),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
