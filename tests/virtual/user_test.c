/* SPDX-License-Identifier: MIT
 *
 * Addresses in requests: whatever became of the memory there, a request gives EFAULT and
 * doesn't crash; in frames of the caller's stack, behind its end, and on other stacks too.
 */
#include "base/sanitizers.h"
#include "winsys/virtual/store/user.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <ucontext.h>

#include "device.h"
#include "user_checked.h"

#define CHANGES 20000

static size_t page_bytes(void)
{
   return (size_t)sysconf(_SC_PAGESIZE);
}

static uint8_t *map_pages(size_t count)
{
   void *pages =
      mmap(NULL, count * page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   assert_true(pages != MAP_FAILED);
   return pages;
}

/* The argument, and an array that it names, in a page that then goes. */
static void memory_that_went_is_refused(void **state)
{
   if (!user_is_checked())
      skip(); /* an emulator: it would crash */
   struct device device = device_open(NULL);
   uint8_t *page = map_pages(1);
   struct agx_uapi_get_time *time = (void *)page;
   uint32_t *handle = (void *)(page + 64);
   struct agx_uapi_syncobj_create create = {0};
   assert_int_equal(CALL(&device, SYNCOBJ_CREATE, create), 0);
   *handle = create.handle;
   struct agx_uapi_syncobj_array reset = {(uintptr_t)handle, 1, 0};
   for (unsigned i = 0; i < 2; i++) {
      assert_int_equal(CALL(&device, ASAHI_GET_TIME, *time), 0);
      assert_int_equal(CALL(&device, SYNCOBJ_RESET, reset), 0);
   }
   assert_int_equal(mprotect(page, page_bytes(), PROT_READ), 0);
   assert_int_equal(CALL(&device, ASAHI_GET_TIME, *time), -EFAULT);
   assert_int_equal(CALL(&device, SYNCOBJ_RESET, reset), 0);
   munmap(page, page_bytes());
   assert_int_equal(CALL(&device, ASAHI_GET_TIME, *time), -EFAULT);
   assert_int_equal(CALL(&device, SYNCOBJ_RESET, reset), -EFAULT);
   device_close(&device);
}

struct changes {
   uint8_t *page;
   atomic_bool done;
};

static void *change(void *argument)
{
   struct changes *changes = argument;
   while (!atomic_load(&changes->done)) {
      mprotect(changes->page, page_bytes(), PROT_NONE);
      mprotect(changes->page, page_bytes(), PROT_READ | PROT_WRITE);
   }
   return NULL;
}

static void memory_may_go_meanwhile(void **state)
{
   if (!user_is_checked())
      skip();
   struct changes changes = {.page = map_pages(1)};
   uint64_t own = 0, other = (uintptr_t)changes.page;
   pthread_t thread;
   assert_int_equal(pthread_create(&thread, NULL, change, &changes), 0);
   for (unsigned i = 0; i < CHANGES; i++) {
      int in = agxv_copy_in(&own, other, sizeof(own));
      int out = agxv_copy_out(other, &own, sizeof(own));
      assert_true(in == 0 || in == -EFAULT);
      assert_true(out == 0 || out == -EFAULT);
   }
   atomic_store(&changes.done, true);
   pthread_join(thread, NULL);
   munmap(changes.page, page_bytes());
}

static uint64_t own_number = 5;

/* On a stack of our own with nothing behind it; stack_end is the argument. */
static void *ask_around(void *stack_end)
{
   uint64_t number = 7, end = (uintptr_t)stack_end;
   int *failures = calloc(1, sizeof(*failures));
   *failures += agxv_copy_in(&own_number, (uintptr_t)&number, sizeof(number)) != 0;
   *failures += own_number != 7;
   own_number = 9;
   *failures += agxv_copy_out((uintptr_t)&number, &own_number, sizeof(number)) != 0;
   *failures += number != 9;
   *failures += agxv_copy_in(&number, end - 4, sizeof(number)) != -EFAULT;
   *failures += agxv_copy_in(&number, end, sizeof(number)) != -EFAULT;
   *failures += agxv_copy_in(&number, end, SIZE_MAX) != -EFAULT;
   return failures;
}

static uint8_t *make_stack(size_t *out_bytes)
{
   *out_bytes = agx_align_up(1u << 20, page_bytes());
   uint8_t *stack = map_pages(*out_bytes / page_bytes() + 1);
   assert_int_equal(mprotect(stack + *out_bytes, page_bytes(), PROT_NONE), 0);
   return stack;
}

static void stacks_end_where_they_end(void **state)
{
   if (!user_is_checked())
      skip();
   size_t bytes;
   uint8_t *stack = make_stack(&bytes);
   pthread_attr_t attributes;
   pthread_t thread;
   void *failures;
   pthread_attr_init(&attributes);
   assert_int_equal(pthread_attr_setstack(&attributes, stack, bytes), 0);
   assert_int_equal(pthread_create(&thread, &attributes, ask_around, stack + bytes), 0);
   pthread_join(thread, &failures);
   pthread_attr_destroy(&attributes);
   assert_int_equal(*(int *)failures, 0);
   free(failures);
   munmap(stack, bytes + page_bytes());
}

static ucontext_t main_context, other_context;
static void *coroutine_end, *coroutine_failures;

static void run_coroutine(void)
{
   coroutine_failures = ask_around(coroutine_end);
}

/* A coroutine of a thread whose stack is known already. */
static void other_stacks_are_not_the_threads(void **state)
{
   uint64_t number = 3, copy = 0;
   if (!user_is_checked() || AGX_THREAD_SANITIZED) /* which must be told of such stacks */
      skip();
   assert_int_equal(agxv_copy_in(&copy, (uintptr_t)&number, sizeof(number)), 0);
   size_t bytes;
   uint8_t *stack = make_stack(&bytes);
   coroutine_end = stack + bytes;
   assert_int_equal(getcontext(&other_context), 0);
   other_context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = bytes};
   other_context.uc_link = &main_context;
   makecontext(&other_context, run_coroutine, 0);
   assert_int_equal(swapcontext(&main_context, &other_context), 0);
   assert_int_equal(*(int *)coroutine_failures, 0);
   free(coroutine_failures);
   munmap(stack, bytes + page_bytes());
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_that_went_is_refused),
      cmocka_unit_test(memory_may_go_meanwhile),
      cmocka_unit_test(stacks_end_where_they_end),
      cmocka_unit_test(other_stacks_are_not_the_threads),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
