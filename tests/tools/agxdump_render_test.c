/* SPDX-License-Identifier: MIT
 *
 * agxdump over a render command: another driver's vertex stream (agx/vdm_streams.txt) at the
 * addresses where it stood, with programs that stop at once, submitted to the virtual device.
 */
#include "tool.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "winsys/asahi_uapi.h"
#include "winsys/kmd.h"
#include "winsys/winsys.h"

#define PAGE      16384ull
#define MAX_PAGES 16
#define USC_BASE  0x1100000000ull
#define STREAM_VA 0x2fff814400ull

static char path[] = "/tmp/agx-dump-XXXXXX";
static char text[TOOL_MAX_OUTPUT];

struct memory {
   struct agx_kmd *kmd;
   uint32_t vm, pages;
   uint64_t va[MAX_PAGES];
   uint8_t *bytes[MAX_PAGES];
};

#define CALL(kmd_, name, argument)                                                                 \
   assert_int_equal((kmd_)->ops->ioctl((kmd_), AGX_IOCTL_##name, &(argument)), 0)

static void add_page(struct memory *memory, uint64_t va)
{
   struct agx_uapi_gem_create create = {.size = PAGE};
   CALL(memory->kmd, ASAHI_GEM_CREATE, create);
   struct agx_uapi_gem_mmap_offset place = {.handle = create.handle};
   CALL(memory->kmd, ASAHI_GEM_MMAP_OFFSET, place);
   struct agx_uapi_gem_bind_op op = {.flags = AGX_UAPI_BIND_READ | AGX_UAPI_BIND_WRITE,
                                     .handle = create.handle,
                                     .range = PAGE,
                                     .addr = va};
   struct agx_uapi_vm_bind bind = {
      .vm_id = memory->vm, .num_binds = 1, .stride = sizeof(op), .userptr = (uintptr_t)&op};
   CALL(memory->kmd, ASAHI_VM_BIND, bind);
   int error = 0;
   assert_true(memory->pages < MAX_PAGES);
   memory->va[memory->pages] = va;
   memory->bytes[memory->pages] = memory->kmd->ops->mmap(memory->kmd, place.offset, PAGE, &error);
   assert_non_null(memory->bytes[memory->pages]);
   memory->pages++;
}

static uint8_t *place_at(struct memory *memory, uint64_t va)
{
   for (uint32_t i = 0; i < memory->pages; i++)
      if (memory->va[i] == va / PAGE * PAGE)
         return memory->bytes[i] + va % PAGE;
   add_page(memory, va / PAGE * PAGE);
   return memory->bytes[memory->pages - 1] + va % PAGE;
}

/* The lines of one stream: "ADDRESS BYTES". */
static void write_stream(struct memory *memory, const char *name)
{
   char *file = agx_test_path("agx/vdm_streams.txt"), start[64], hex[128];
   size_t size;
   char *all = agx_test_read_file(file, &size);
   uint64_t va;
   int length;
   snprintf(start, sizeof(start), "stream %s ", name);
   char *line = strchr(strstr(all, start), '\n');
   for (; sscanf(line, " %" SCNx64 " %127s%n", &va, hex, &length) == 2; line += length) {
      unsigned byte;
      for (const char *digits = hex; sscanf(digits, "%2x", &byte) == 1; digits += 2, va++)
         *place_at(memory, va) = (uint8_t)byte;
   }
   free(all);
   free(file);
}

static const struct {
   struct agx_uapi_cmd_header attachments;
   struct agx_uapi_attachment attachment;
   struct agx_uapi_cmd_header header;
   struct agx_uapi_cmd_render render;
} commands = {
   {AGX_UAPI_CMD_SET_FRAGMENT_ATTACHMENTS, sizeof(commands.attachment), AGX_UAPI_BARRIER_NONE,
    AGX_UAPI_BARRIER_NONE},
   {.pointer = STREAM_VA / PAGE * PAGE, .size = PAGE},
   {AGX_UAPI_CMD_RENDER, sizeof(commands.render), 0, 0},
   {
      .flags = AGX_UAPI_RENDER_PROCESS_EMPTY_TILES,
      .isp_zls_pixels = 499 | 499 << 15,
      .vdm_ctrl_stream_base = STREAM_VA,
      .isp_scissor_base = 0x2fff824bc0,
      .isp_dbias_base = 0x2fff824c00,
      .zls_ctrl = 1 << 19 | 2ull << 25,
      .ppp_multisamplectl = 0x88,
      .ppp_ctrl = 0x202,
      .width_px = 500,
      .height_px = 500,
      .layers = 1,
      .samples = 1,
      .utile_width_px = 32,
      .utile_height_px = 32,
      .sample_size_B = 8,
      .isp_merge_upper_x = 0x3f800000,
      .vertex_helper = {.binary = 0xfff04001},
      .fragment_helper = {.binary = 0xffefc001},
      .bg = {0xfff0c244, 0x10},
      .isp_bgobjvals = 0x3ff,
   },
};

/* Its fence fails, for nothing draws here yet. */
static int record(void **state)
{
   struct memory memory = {0};
   close(mkstemp(path));
   assert_ok(agxw_kmd_open("virtual:g13g", path, &memory.kmd));
   struct agx_uapi_vm_create vm = {.kernel_start = 0x6f00000000, .kernel_end = 0x6f40000000};
   CALL(memory.kmd, ASAHI_VM_CREATE, vm);
   memory.vm = vm.vm_id;
   write_stream(&memory, "cube");
   static const uint64_t code[] = {0x11fff04000, 0x11fffb4100, 0x11ffefc000, 0x11fffac200};
   for (int i = 0; i < 4; i++)
      memcpy(place_at(&memory, code[i]), "\x88", 2);
   struct agx_uapi_queue_create queue = {.vm_id = vm.vm_id, .usc_exec_base = USC_BASE};
   CALL(memory.kmd, ASAHI_QUEUE_CREATE, queue);
   struct agx_uapi_submit submit = {
      .cmdbuf = (uintptr_t)&commands, .cmdbuf_size = sizeof(commands), .queue_id = queue.queue_id};
   submit.queue_id++; /* there is none */
   assert_int_equal(memory.kmd->ops->ioctl(memory.kmd, AGX_IOCTL_ASAHI_SUBMIT, &submit), -ENOENT);
   submit.queue_id--;
   CALL(memory.kmd, ASAHI_SUBMIT, submit);
   for (uint32_t i = 0; i < memory.pages; i++)
      memory.kmd->ops->munmap(memory.kmd, memory.bytes[i], PAGE);
   memory.kmd->ops->close(memory.kmd);
   return 0;
}

static int remove_file(void **state)
{
   return unlink(path);
}

static int dump(const char *options)
{
   char arguments[128];
   snprintf(arguments, sizeof(arguments), "show %s %s", options, path);
   return tool_run("AGXDUMP_TOOL", arguments, text);
}

static void every_word_is_named(void **state)
{
   assert_int_equal(dump(""), 0);
   assert_null(strstr(text, "!"));
   agx_test_golden("agxdump_render.txt", text);
}

static void json_says_the_same(void **state)
{
   assert_int_equal(dump("--json"), 0);
   agx_test_golden("agxdump_render.json", text);
}

/* What isn't code is a comment, lists of attachments too. */
static void code_alone_is_assembled(void **state)
{
   char options[128], file[64];
   snprintf(file, sizeof(file), "%s.asm", path);
   snprintf(options, sizeof(options), "asm %s", file);
   assert_int_equal(dump("--shaders"), 0);
   assert_non_null(strstr(text, "vertex shader"));
   FILE *out = fopen(file, "w");
   assert_non_null(out);
   assert_true(fputs(text, out) >= 0);
   assert_int_equal(fclose(out), 0);
   assert_int_equal(tool_run("AGX_TOOL", options, text), 0);
   unlink(file);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_word_is_named),
      cmocka_unit_test(json_says_the_same),
      cmocka_unit_test(code_alone_is_assembled),
   };
   return cmocka_run_group_tests(tests, record, remove_file);
}
