/* SPDX-License-Identifier: MIT
 *
 * Fuzzes replays: the input is a capture, whose requests are made on a virtual AGX that is kept
 * from input to input and executes little of each kernel. Nothing may crash or wait for ever, and
 * what an input makes must be gone behind it: memory, the node's own objects and descriptors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agx/chip.h"
#include "agxdump/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The limits of a command: an input should take less than a millisecond. */
#define INSTRUCTIONS 2000
#define WORKGROUPS   8
#define NODE_MEMORY  "33554432"

/* Of the header's reserved word. */
#define CHECKED (1u << 0)
#define STRICT  (1u << 1)
#define IDLE    (1u << 2) /* submissions complete without execution */

/* Sizes that a capture names may be more than the sanitizer gives. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
   return "allocator_may_return_null=1";
}

static void fail(const char *what)
{
   fprintf(stderr, "%s: %s\n", what, agx_error_peek());
   abort();
}

static struct agx_virtual_node *make_node(void)
{
   struct agx_virtual_node *node;
   setenv("AGX_VIRTUAL_MEMORY", NODE_MEMORY, 1);
   if (agx_virtual_node_create(agx_chip_find("g13g"), -1, &node) != AGX_OK)
      fail("the node");
   agx_virtual_set_option(node, AGX_VIRTUAL_THREADS, 1);
   agx_virtual_set_option(node, AGX_VIRTUAL_WORKGROUPS, WORKGROUPS);
   return node;
}

static void replay_file(struct agx_virtual_node *node, const uint8_t *data, size_t size)
{
   const struct replay_options options = {.device = "virtual:g13g",
                                          .node = node,
                                          .limit = INSTRUCTIONS,
                                          .repeat = 1,
                                          .is_impatient = true};
   struct replay replay = {.file = "input"};
   struct agxw_capture_record record;
   bool more;
   if (agxw_capture_open_memory(NULL, data, size, &replay.reader) != AGX_OK)
      return;
   agx_status status = agxw_capture_next(replay.reader, &record, &more);
   replay.begin = record.file_offset;
   if (status == AGX_OK && more)
      status = replay_again(&replay, &options, NULL);
   if (status != AGX_OK && !agx_error_peek()[0])
      fail("an error without a text");
   agxw_capture_close(replay.reader);
}

struct held {
   uint64_t memory_bytes, blocks;
   int next_fd;
};

static struct held measure(struct agx_virtual_node *node)
{
   struct agx_virtual_statistics now;
   int fd = dup(STDERR_FILENO);
   close(fd);
   agx_virtual_read_statistics(node, &now);
   return (struct held){now.memory_bytes, now.blocks, fd};
}

static bool is_more(const struct held *a, const struct held *b)
{
   return a->memory_bytes > b->memory_bytes || a->blocks > b->blocks || a->next_fd > b->next_fd;
}

/* The node itself takes something when it is first needed; what the same input takes again was left
 * behind. */
static void check_held(struct agx_virtual_node *node, const uint8_t *data, size_t size)
{
   static struct held base;
   struct held first = measure(node);
   if (!is_more(&first, &base))
      return;
   replay_file(node, data, size);
   struct held second = measure(node);
   if (is_more(&second, &first)) {
      fprintf(stderr,
              "left behind: %llu and then %llu bytes of memory, %llu and %llu blocks, the next "
              "descriptor %d and %d\n",
              (unsigned long long)first.memory_bytes, (unsigned long long)second.memory_bytes,
              (unsigned long long)first.blocks, (unsigned long long)second.blocks, first.next_fd,
              second.next_fd);
      abort();
   }
   base = second;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
   static struct agx_virtual_node *node;
   uint32_t flags = 0;
   if (!node)
      node = make_node();
   if (size >= sizeof(struct agxw_capture_header))
      memcpy(&flags, data + offsetof(struct agxw_capture_header, reserved), sizeof(flags));
   agx_virtual_set_option(node, AGX_VIRTUAL_CHECK, (flags & CHECKED) != 0);
   agx_virtual_set_option(node, AGX_VIRTUAL_STRICT, (flags & STRICT) != 0);
   agx_virtual_set_option(node, AGX_VIRTUAL_EXECUTE, (flags & IDLE) == 0);
   replay_file(node, data, size);
   check_held(node, data, size);
   return 0;
}
