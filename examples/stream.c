/* SPDX-License-Identifier: MIT
 *
 * A file streamed through the GPU: read, turned into upper case, and written to another file, by a
 * ring of three buffers. Everything is submitted in advance; then the host waits once.
 *
 * Piece n of the file goes through buffer n % 3, whose timeline has three points for each piece:
 * read, computed, written. Reading the next piece into a buffer waits until the last one is
 * written. So one buffer is read into, another computed and a third written at a time.
 *
 * At the end of each piece stands a host call, on a timeline of its own, which tells the progress.
 * When anything fails on the way, all that waits for it fails with the same text, up to that
 * timeline: waiting for its end is all the checking there is.
 */
#include <agx/hal.h>
#include <ctype.h>
#include <stdio.h>

#include "gpu.h"

#include "upper.spv.h"

enum {
   SLOTS = 3,
   PIECE_B = 64 << 10,
   FILE_B = (2 << 20) + 12345,
   PIECES = (FILE_B + PIECE_B - 1) / PIECE_B, /* the last one is shorter */
};

struct slot {
   struct agx_buffer *buffer;
   struct agx_command_buffer *commands; /* recorded once */
   struct agx_semaphore *line;
};

struct stream {
   struct gpu gpu;
   struct agx_executable *upper;
   struct agx_file *in, *out;
   struct slot slots[SLOTS];
   struct agx_semaphore *progress; /* pieces done */
};

static char letter(size_t at)
{
   static const char text[] = "The quick brown fox jumps over the lazy dog; ";
   return at % 77 == 76 ? '\n' : text[at % (sizeof(text) - 1)];
}

static struct agx_file *import(struct stream *s, FILE *file, uint32_t access)
{
   struct agx_file *imported;
   struct agx_file_desc desc = {.size = sizeof(desc), .access = access, .fd = fileno(file)};
   gpu_check(agx_file_import(s->gpu.device, &desc, &imported));
   return imported;
}

static void setup_slot(struct stream *s, struct slot *slot)
{
   struct agx_device *device = s->gpu.device;
   struct agx_buffer_desc desc = {.size = sizeof(desc),
                                  .size_B = PIECE_B,
                                  .usage = AGX_USAGE_TRANSFER | AGX_USAGE_DISPATCH |
                                           AGX_USAGE_MAPPING_READ};
   gpu_check(agx_buffer_create(device, &desc, &slot->buffer));
   const struct agx_binding binding = {
      .ref = {.buffer = slot->buffer, .length_B = AGX_WHOLE_LENGTH}};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = s->upper,
                                         .workgroups = {PIECE_B / 4 / 64, 1, 1},
                                         .bindings = &binding,
                                         .binding_count = 1};
   gpu_check(agx_semaphore_create(device, 0, &slot->line));
   gpu_check(agx_command_buffer_create(device, NULL, &slot->commands));
   gpu_check(agx_command_buffer_begin(slot->commands));
   gpu_check(agx_cmd_dispatch(slot->commands, &dispatch));
   gpu_check(agx_command_buffer_end(slot->commands));
}

/* On a thread of the library, in the order of the pieces. */
static agx_status tell(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   (void)user, (void)call;
   if (args[0] % 8 == 0 || args[0] == PIECES)
      printf("stream: %2d of %d pieces\n", (int)args[0], PIECES);
   return AGX_OK;
}

static void submit_piece(struct stream *s, uint64_t piece)
{
   const struct slot *slot = &s->slots[piece % SLOTS];
   const uint64_t at = 3 * (piece / SLOTS), offset = piece * PIECE_B;
   const uint64_t length = FILE_B - offset < PIECE_B ? FILE_B - offset : PIECE_B;
   const struct agx_buffer_ref bytes = {.buffer = slot->buffer, .length_B = length};
   const struct agx_point empty = {slot->line, at}, full = {slot->line, at + 1};
   const struct agx_point computed = {slot->line, at + 2}, written = {slot->line, at + 3};
   const struct agx_point done = {s->progress, piece + 1};
   const struct agx_point ready[] = {written, {s->progress, piece}};
   struct agx_op ops[] = {
      gpu_op(AGX_OP_READ, &empty, 1, &full),
      gpu_op(AGX_OP_EXECUTE, &full, 1, &computed),
      gpu_op(AGX_OP_WRITE, &computed, 1, &written),
      gpu_op(AGX_OP_HOST_CALL, ready, 2, &done),
   };
   ops[0].u.file = (struct agx_op_file){s->in, offset, bytes};
   ops[1].u.execute.commands = slot->commands;
   ops[2].u.file = (struct agx_op_file){s->out, offset, bytes};
   ops[3].u.host_call = (struct agx_op_host_call){.fn = tell, .args = {piece + 1}};
   gpu_check(agx_submit(s->gpu.device, ops, 4, NULL));
}

static const char *check(FILE *file)
{
   rewind(file);
   for (size_t at = 0; at < FILE_B; at++)
      if (getc(file) != toupper(letter(at)))
         return "a letter is wrong";
   return getc(file) == EOF ? NULL : "the file is too long";
}

int main(int argc, char **argv)
{
   struct stream s = {0};
   FILE *in = tmpfile(), *out = tmpfile();
   if (!in || !out || !gpu_open(argc > 1 ? argv[1] : NULL, &s.gpu))
      gpu_check(AGX_UNAVAILABLE);
   for (size_t at = 0; at < FILE_B; at++)
      putc(letter(at), in);
   fflush(in);
   s.in = import(&s, in, AGX_FILE_READ);
   s.out = import(&s, out, AGX_FILE_WRITE);
   s.upper = gpu_kernel(&s.gpu, upper_spv, sizeof(upper_spv));
   gpu_check(agx_semaphore_create(s.gpu.device, 0, &s.progress));
   for (unsigned i = 0; i < SLOTS; i++)
      setup_slot(&s, &s.slots[i]);
   for (uint64_t piece = 0; piece < PIECES; piece++)
      submit_piece(&s, piece);
   const struct agx_point last = {s.progress, PIECES};
   gpu_check(agx_semaphore_wait(&last, 1, false, AGX_DEADLINE_NEVER));
   const char *wrong = check(out);
   printf("stream: %d bytes through %d buffers of %d: %s\n", FILE_B, SLOTS, PIECE_B,
          wrong ? wrong : "correct");
   for (unsigned i = 0; i < SLOTS; i++) {
      agx_release(s.slots[i].commands);
      agx_release(s.slots[i].buffer);
      agx_release(s.slots[i].line);
   }
   void *objects[] = {s.progress, s.upper, s.out, s.in};
   for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
      agx_release(objects[i]);
   gpu_close(&s.gpu);
   fclose(in);
   fclose(out);
   return wrong != NULL;
}
