/* SPDX-License-Identifier: MIT
 *
 * Collectives between processes: `mpirun -n 4 agx_collective_tests`. Each process has a device of
 * its own and runs the same tests; what all of them should have in the end each calculates by
 * itself.
 */
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "iree/base/internal/math.h"
#include "iree/hal/api.h"
#include "iree/hal/cts/util/registry.h"
#include "iree/hal/cts/util/test_base.h"

namespace iree::hal::cts
{

/* As IREE's own references to objects, which know no channels. */
template <> struct HalTraits<iree_hal_channel_t> {
   static void release(iree_hal_channel_t *channel)
   {
      iree_hal_channel_release(channel);
   }
};

namespace
{

using iree::testing::status::StatusIs;

constexpr iree_hal_queue_affinity_t kAnyQueue = IREE_HAL_QUEUE_AFFINITY_ANY;

/* Before the first device and behind the last channel. */
class Mpi : public ::testing::Environment
{
   void SetUp() override
   {
      int level = 0;
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
      ASSERT_EQ(level, MPI_THREAD_MULTIPLE);
   }
   void TearDown() override
   {
      MPI_Finalize();
   }
};

::testing::Environment *const mpi = ::testing::AddGlobalTestEnvironment(new Mpi);

/* ---- elements ----------------------------------------------------------------- */

struct Element {
   iree_hal_collective_element_type_t type;
   size_t size;
   std::function<void(double, void *)> put;
   std::function<double(const void *)> get;
};

template <typename T> Element Exact(iree_hal_collective_element_type_t type)
{
   return {type, sizeof(T),
           [](double value, void *at) {
              const T element = static_cast<T>(value);
              std::memcpy(at, &element, sizeof(element));
           },
           [](const void *at) {
              T element;
              std::memcpy(&element, at, sizeof(element));
              return static_cast<double>(element);
           }};
}

Element Half(iree_hal_collective_element_type_t type, uint16_t (*to)(float),
             float (*from)(uint16_t))
{
   return {type, 2,
           [to](double value, void *at) {
              const uint16_t element = to(static_cast<float>(value));
              std::memcpy(at, &element, sizeof(element));
           },
           [from](const void *at) {
              uint16_t element;
              std::memcpy(&element, at, sizeof(element));
              return static_cast<double>(from(element));
           }};
}

const std::vector<Element> &Elements()
{
   static const std::vector<Element> elements = {
      Exact<int8_t>(IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_8),
      Exact<uint8_t>(IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_8),
      Exact<int16_t>(IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_16),
      Exact<uint16_t>(IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_16),
      Exact<int32_t>(IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_32),
      Exact<uint32_t>(IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_32),
      Exact<int64_t>(IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_64),
      Exact<uint64_t>(IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_64),
      Exact<float>(IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_32),
      Exact<double>(IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_64),
      Half(IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_16, iree_math_f32_to_f16, iree_math_f16_to_f32),
      Half(IREE_HAL_COLLECTIVE_ELEMENT_TYPE_BFLOAT_16, iree_math_f32_to_bf16,
           iree_math_bf16_to_f32),
   };
   return elements;
}

std::vector<uint8_t> Pack(const Element &element, const std::vector<double> &values)
{
   std::vector<uint8_t> bytes(values.size() * element.size);
   for (size_t i = 0; i < values.size(); i++)
      element.put(values[i], &bytes[i * element.size]);
   return bytes;
}

std::vector<double> Unpack(const Element &element, const std::vector<uint8_t> &bytes)
{
   std::vector<double> values(bytes.size() / element.size);
   for (size_t i = 0; i < values.size(); i++)
      values[i] = element.get(&bytes[i * element.size]);
   return values;
}

const Element &Int32()
{
   return Elements()[4];
}

double Reduce(iree_hal_collective_reduction_t reduction, const std::vector<double> &values)
{
   double result = values[0];
   for (size_t i = 1; i < values.size(); i++) {
      switch (reduction) {
      case IREE_HAL_COLLECTIVE_REDUCTION_PRODUCT:
         result *= values[i];
         break;
      case IREE_HAL_COLLECTIVE_REDUCTION_MINIMUM:
         result = std::fmin(result, values[i]);
         break;
      case IREE_HAL_COLLECTIVE_REDUCTION_MAXIMUM:
         result = std::fmax(result, values[i]);
         break;
      default:
         result += values[i];
      }
   }
   return reduction == IREE_HAL_COLLECTIVE_REDUCTION_AVERAGE ? result / values.size() : result;
}

/* ---- tests -------------------------------------------------------------------- */

class CollectiveTest : public CtsTestBase<>
{
 protected:
   void SetUp() override
   {
      CtsTestBase<>::SetUp();
      IREE_ASSERT_OK(iree_hal_channel_create(device_, kAnyQueue, Default(), channel_.out()));
      rank_ = iree_hal_channel_rank(channel_);
      ranks_ = iree_hal_channel_count(channel_);
   }

   void TearDown() override
   {
      channel_.reset();
      CtsTestBase<>::TearDown();
   }

   static iree_hal_channel_params_t Default()
   {
      iree_hal_channel_params_t params = {};
      params.rank = IREE_HAL_CHANNEL_RANK_DEFAULT;
      params.count = IREE_HAL_CHANNEL_COUNT_DEFAULT;
      return params;
   }

   static iree_hal_collective_op_t
   Op(iree_hal_collective_kind_t kind, const Element &element,
      iree_hal_collective_reduction_t reduction = IREE_HAL_COLLECTIVE_REDUCTION_NONE)
   {
      iree_hal_collective_op_t op = {};
      op.kind = kind;
      op.reduction = reduction;
      op.element_type = element.type;
      return op;
   }

   /* Memory that the host can't map. */
   void Create(const std::vector<uint8_t> &bytes, iree_hal_buffer_t **out_buffer)
   {
      iree_hal_buffer_params_t params = {};
      params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
      params.usage = IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE | IREE_HAL_BUFFER_USAGE_TRANSFER;
      IREE_ASSERT_OK(
         iree_hal_allocator_allocate_buffer(device_allocator_, params, bytes.size(), out_buffer));
      SemaphoreList none, done(device_, {0}, {1});
      IREE_ASSERT_OK(iree_hal_device_queue_update(device_, kAnyQueue, none, done, bytes.data(), 0,
                                                  *out_buffer, 0, bytes.size(), 0));
      Await(done);
   }

   std::vector<double> Read(const Element &element, iree_hal_buffer_t *buffer)
   {
      const iree_device_size_t size = iree_hal_buffer_byte_length(buffer);
      Ref<iree_hal_buffer_t> visible;
      IREE_EXPECT_OK(CreateZeroedDeviceBuffer(size, visible.out()));
      SemaphoreList none, done(device_, {0}, {1});
      IREE_EXPECT_OK(iree_hal_device_queue_copy(device_, kAnyQueue, none, done, buffer, 0, visible,
                                                0, size, IREE_HAL_COPY_FLAG_NONE));
      Await(done);
      return Unpack(element, ReadBufferBytes(visible, 0, size));
   }

   static void Await(iree_hal_semaphore_list_t list)
   {
      IREE_ASSERT_OK(
         iree_hal_semaphore_list_wait(list, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
   }

   void Begin(iree_hal_command_buffer_t **out_commands, iree_host_size_t slots = 0,
              iree_hal_command_buffer_mode_t mode = 0)
   {
      IREE_ASSERT_OK(iree_hal_command_buffer_create(device_, mode, IREE_HAL_COMMAND_CATEGORY_ANY,
                                                    kAnyQueue, slots, out_commands));
      IREE_ASSERT_OK(iree_hal_command_buffer_begin(*out_commands));
   }

   static void Barrier(iree_hal_command_buffer_t *commands)
   {
      const iree_hal_memory_barrier_t all = {IREE_HAL_ACCESS_SCOPE_MEMORY_WRITE,
                                             IREE_HAL_ACCESS_SCOPE_MEMORY_READ};
      IREE_ASSERT_OK(iree_hal_command_buffer_execution_barrier(
         commands, IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE, IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE,
         IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 1, &all, 0, nullptr));
   }

   iree_status_t Collect(iree_hal_command_buffer_t *commands, iree_hal_collective_op_t op,
                         uint32_t param, iree_hal_buffer_t *send, iree_hal_buffer_t *recv,
                         uint64_t count)
   {
      return iree_hal_command_buffer_collective(
         commands, channel_, op, param, iree_hal_make_buffer_ref(send, 0, IREE_HAL_WHOLE_BUFFER),
         iree_hal_make_buffer_ref(recv, 0, IREE_HAL_WHOLE_BUFFER), count);
   }

   /* What one collective leaves in recv. */
   std::vector<double> Run(const Element &element, iree_hal_collective_op_t op, uint32_t param,
                           const std::vector<double> &send, const std::vector<double> &recv,
                           uint64_t count)
   {
      Ref<iree_hal_buffer_t> from, to;
      Ref<iree_hal_command_buffer_t> commands;
      Create(Pack(element, send), from.out());
      Create(Pack(element, recv), to.out());
      /* IREE's own check refuses to send without receiving. */
      Begin(commands.out(), 0, IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED);
      IREE_EXPECT_OK(Collect(commands, op, param, from, to, count));
      IREE_EXPECT_OK(iree_hal_command_buffer_end(commands));
      IREE_EXPECT_OK(SubmitCommandBufferAndWait(commands));
      return Read(element, to);
   }

   /* Small numbers, other ones for each rank. */
   static double Value(int rank, size_t i)
   {
      return 1 + (rank + static_cast<int>(i)) % 3;
   }

   static std::vector<double> Values(int rank, size_t count)
   {
      std::vector<double> values(count);
      for (size_t i = 0; i < count; i++)
         values[i] = Value(rank, i);
      return values;
   }

   Ref<iree_hal_channel_t> channel_;
   int rank_ = 0, ranks_ = 0;
};

constexpr size_t kCount = 997;

TEST_P(CollectiveTest, EveryRankKnowsItsPlace)
{
   int rank, ranks;
   MPI_Comm_rank(MPI_COMM_WORLD, &rank);
   MPI_Comm_size(MPI_COMM_WORLD, &ranks);
   EXPECT_EQ(rank_, rank);
   EXPECT_EQ(ranks_, ranks);
   iree_hal_channel_params_t params = Default();
   params.count = ranks + 1;
   Ref<iree_hal_channel_t> none;
   EXPECT_THAT(Status(iree_hal_channel_create(device_, kAnyQueue, params, none.out())),
               StatusIs(StatusCode::kInvalidArgument));
}

TEST_P(CollectiveTest, SplitsByColor)
{
   Ref<iree_hal_channel_t> half, none;
   IREE_ASSERT_OK(iree_hal_channel_split(channel_, rank_ % 2, -rank_, 0, half.out()));
   const int members = (ranks_ + 1 - rank_ % 2) / 2;
   EXPECT_EQ(iree_hal_channel_count(half), members);
   EXPECT_EQ(iree_hal_channel_rank(half), members - 1 - rank_ / 2); /* the key turns the order */
   IREE_ASSERT_OK(iree_hal_channel_split(channel_, rank_ == 0 ? 0 : IREE_HAL_CHANNEL_NO_COLOR, 0, 0,
                                         none.out()));
   EXPECT_EQ(none.get() != nullptr, rank_ == 0);

   std::swap(channel_, half);
   double sum = 0;
   for (int i = rank_ % 2; i < ranks_; i += 2)
      sum += i;
   const iree_hal_collective_op_t op =
      Op(IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE, Int32(), IREE_HAL_COLLECTIVE_REDUCTION_SUM);
   EXPECT_EQ(Run(Int32(), op, 0, {double(rank_)}, {0}, 1), std::vector<double>{sum});
}

TEST_P(CollectiveTest, ReducesEveryType)
{
   for (const Element &element : Elements()) {
      for (int reduction = 1; reduction <= IREE_HAL_COLLECTIVE_REDUCTION_MAX_VALUE; reduction++) {
         const auto kind = static_cast<iree_hal_collective_reduction_t>(reduction);
         std::vector<double> expected(kCount);
         for (size_t i = 0; i < kCount; i++) {
            std::vector<double> values;
            for (int rank = 0; rank < ranks_; rank++)
               values.push_back(Value(rank, i));
            std::vector<uint8_t> rounded = Pack(element, {Reduce(kind, values)});
            expected[i] = Unpack(element, rounded)[0];
         }
         const iree_hal_collective_op_t op = Op(IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE, element, kind);
         EXPECT_EQ(Run(element, op, 0, Values(rank_, kCount), std::vector<double>(kCount), kCount),
                   expected)
            << "type " << int(element.type) << ", reduction " << reduction;
      }
   }
}

/* Sums that the type has no room for, and one that floats of 16 bits would lose. */
TEST_P(CollectiveTest, AveragesDoNotOverflow)
{
   const iree_hal_collective_kind_t kind = IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE;
   const iree_hal_collective_reduction_t average = IREE_HAL_COLLECTIVE_REDUCTION_AVERAGE;
   for (const Element &element : Elements()) {
      const bool is_half = element.type == IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_16;
      const double value = is_half ? 60000 : 100;
      EXPECT_EQ(Run(element, Op(kind, element, average), 0, {value}, {0}, 1),
                std::vector<double>{Unpack(element, Pack(element, {value}))[0]})
         << "type " << int(element.type);
   }
}

TEST_P(CollectiveTest, GathersAndScatters)
{
   for (const Element &element : Elements()) {
      std::vector<double> gathered, sums(kCount), exchanged;
      const std::vector<double> all = Values(rank_, kCount * ranks_);
      for (int rank = 0; rank < ranks_; rank++) {
         const std::vector<double> one = Values(rank, kCount);
         gathered.insert(gathered.end(), one.begin(), one.end());
         for (size_t i = 0; i < kCount; i++) {
            sums[i] += Value(rank, rank_ * kCount + i);
            exchanged.push_back(Value(rank, rank_ * kCount + i));
         }
      }
      EXPECT_EQ(Run(element, Op(IREE_HAL_COLLECTIVE_KIND_ALL_GATHER, element), 0,
                    Values(rank_, kCount), std::vector<double>(kCount * ranks_), kCount),
                gathered);
      EXPECT_EQ(Run(element, Op(IREE_HAL_COLLECTIVE_KIND_ALL_TO_ALL, element), 0, all,
                    std::vector<double>(kCount * ranks_), kCount * ranks_),
                exchanged);
      EXPECT_EQ(Run(element,
                    Op(IREE_HAL_COLLECTIVE_KIND_REDUCE_SCATTER, element,
                       IREE_HAL_COLLECTIVE_REDUCTION_SUM),
                    0, all, std::vector<double>(kCount), kCount),
                sums);
   }
}

TEST_P(CollectiveTest, RootsSendAndReceive)
{
   for (int root = 0; root < ranks_; root++) {
      std::vector<double> sums(kCount);
      for (int rank = 0; rank < ranks_; rank++) {
         for (size_t i = 0; i < kCount; i++)
            sums[i] += Value(rank, i);
      }
      EXPECT_EQ(Run(Int32(), Op(IREE_HAL_COLLECTIVE_KIND_BROADCAST, Int32()), root,
                    Values(rank_, kCount), std::vector<double>(kCount), kCount),
                Values(root, kCount));
      /* Only the root's memory changes. */
      const std::vector<double> before(kCount, 7);
      EXPECT_EQ(Run(Int32(),
                    Op(IREE_HAL_COLLECTIVE_KIND_REDUCE, Int32(), IREE_HAL_COLLECTIVE_REDUCTION_SUM),
                    root, Values(rank_, kCount), before, kCount),
                rank_ == root ? sums : before);
   }
}

uint32_t Peers(int target, int source)
{
   return (static_cast<uint32_t>(target) & 0xffff) | static_cast<uint32_t>(source) << 16;
}

TEST_P(CollectiveTest, NeighboursExchange)
{
   const iree_hal_collective_op_t op = Op(IREE_HAL_COLLECTIVE_KIND_SEND_RECV, Int32());
   const int next = (rank_ + 1) % ranks_, last = (rank_ + ranks_ - 1) % ranks_;
   const std::vector<double> before(kCount, 7);
   EXPECT_EQ(Run(Int32(), op, Peers(next, last), Values(rank_, kCount), before, kCount),
             Values(last, kCount));
   /* A line, whose ends have no neighbour: who receives from none has zeros. */
   const int right = rank_ + 1 < ranks_ ? rank_ + 1 : -1;
   EXPECT_EQ(Run(Int32(), op, Peers(right, rank_ - 1), Values(rank_, kCount), before, kCount),
             rank_ > 0 ? Values(rank_ - 1, kCount) : std::vector<double>(kCount));
}

TEST_P(CollectiveTest, PairsSendAndReceive)
{
   const int peer = rank_ ^ 1;
   if (peer >= ranks_)
      return;
   const std::vector<double> before(kCount, 7);
   const bool sends = rank_ & 1;
   const iree_hal_collective_op_t op =
      Op(sends ? IREE_HAL_COLLECTIVE_KIND_SEND : IREE_HAL_COLLECTIVE_KIND_RECV, Int32());
   EXPECT_EQ(Run(Int32(), op, peer, Values(rank_, kCount), before, kCount),
             sends ? before : Values(peer, kCount));
}

/* Each sends before it receives, which would wait forever if they didn't begin together. */
TEST_P(CollectiveTest, WhatNoBarrierDividesBeginsTogether)
{
   const size_t count = 1 << 20; /* more than MPI takes without a receiver */
   const int next = (rank_ + 1) % ranks_, last = (rank_ + ranks_ - 1) % ranks_;
   Ref<iree_hal_buffer_t> from, to;
   Ref<iree_hal_command_buffer_t> commands;
   Create(Pack(Int32(), Values(rank_, count)), from.out());
   Create(Pack(Int32(), std::vector<double>(count)), to.out());
   Begin(commands.out(), 0, IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED);
   IREE_ASSERT_OK(
      Collect(commands, Op(IREE_HAL_COLLECTIVE_KIND_SEND, Int32()), next, from, from, count));
   IREE_ASSERT_OK(
      Collect(commands, Op(IREE_HAL_COLLECTIVE_KIND_RECV, Int32()), last, to, to, count));
   IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
   IREE_ASSERT_OK(SubmitCommandBufferAndWait(commands));
   EXPECT_EQ(Read(Int32(), to), Values(last, count));
}

/* Work before, between and behind collectives; the buffer's slot; three times over. */
TEST_P(CollectiveTest, ComesInTheOrderOfTheQueue)
{
   Ref<iree_hal_command_buffer_t> commands;
   Ref<iree_hal_buffer_t> buffer, other;
   Create(Pack(Int32(), std::vector<double>(4)), buffer.out());
   Create(Pack(Int32(), std::vector<double>(4)), other.out());
   Begin(commands.out(), 2);
   const iree_hal_buffer_ref_t all = iree_hal_make_indirect_buffer_ref(0, 0, 16);
   const iree_hal_buffer_ref_t low = iree_hal_make_indirect_buffer_ref(0, 0, 4);
   const iree_hal_buffer_ref_t high = iree_hal_make_indirect_buffer_ref(0, 12, 4);
   const iree_hal_buffer_ref_t result = iree_hal_make_indirect_buffer_ref(1, 0, 16);
   const iree_hal_collective_op_t sum =
      Op(IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE, Int32(), IREE_HAL_COLLECTIVE_REDUCTION_SUM);
   const uint32_t three = 3, value = rank_ + 1;
   const iree_hal_label_location_t nowhere = {};
   IREE_ASSERT_OK(iree_hal_command_buffer_begin_debug_group(
      commands, IREE_SV("outer"), iree_hal_label_color_unspecified(), &nowhere));
   IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(commands, all, &value, 4, 0));
   Barrier(commands);
   IREE_ASSERT_OK(iree_hal_command_buffer_collective(commands, channel_, sum, 0, all, all, 4));
   Barrier(commands);
   IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(commands, low, &three, 4, 0));
   Barrier(commands);
   IREE_ASSERT_OK(iree_hal_command_buffer_collective(commands, channel_, sum, 0, all, all, 4));
   Barrier(commands);
   IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(commands, high, &three, 4, 0));
   Barrier(commands);
   IREE_ASSERT_OK(iree_hal_command_buffer_copy_buffer(commands, all, result, 0));
   IREE_ASSERT_OK(iree_hal_command_buffer_end_debug_group(commands));
   IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
   const double once = ranks_ * (ranks_ + 1) / 2, twice = once * ranks_;
   for (int i = 0; i < 3; i++) {
      const iree_hal_buffer_binding_t bindings[] = {{buffer, 0, IREE_HAL_WHOLE_BUFFER},
                                                    {other, 0, IREE_HAL_WHOLE_BUFFER}};
      const iree_hal_buffer_binding_table_t table = {IREE_ARRAYSIZE(bindings), bindings};
      IREE_ASSERT_OK(SubmitCommandBufferAndWait(commands, table));
      const std::vector<double> expected = {3.0 * ranks_, twice, twice, 3};
      EXPECT_EQ(Read(Int32(), other), expected);
   }
}

/* Submissions that nothing orders: each meets its own part of the others. */
TEST_P(CollectiveTest, SubmissionsMeetTheirOwn)
{
   constexpr int kSubmissions = 32;
   const iree_hal_collective_op_t sum =
      Op(IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE, Int32(), IREE_HAL_COLLECTIVE_REDUCTION_SUM);
   Ref<iree_hal_buffer_t> buffers[kSubmissions];
   Ref<iree_hal_command_buffer_t> commands[kSubmissions];
   SemaphoreList none, go(device_, {0}, {1});
   SemaphoreList done(device_, std::vector<uint64_t>(kSubmissions, 0),
                      std::vector<uint64_t>(kSubmissions, 1));
   const iree_hal_semaphore_list_t list = done;
   for (int i = 0; i < kSubmissions; i++) {
      Create(Pack(Int32(), {100.0 * i + rank_}), buffers[i].out());
      Begin(commands[i].out());
      IREE_ASSERT_OK(Collect(commands[i], sum, 0, buffers[i], buffers[i], 1));
      IREE_ASSERT_OK(iree_hal_command_buffer_end(commands[i]));
      const iree_hal_semaphore_list_t one = {1, &list.semaphores[i], &list.payload_values[i]};
      IREE_ASSERT_OK(iree_hal_device_queue_execute(device_, kAnyQueue, go, one, commands[i],
                                                   iree_hal_buffer_binding_table_empty(), 0));
   }
   const iree_hal_semaphore_list_t start = go;
   IREE_ASSERT_OK(iree_hal_semaphore_list_signal(start, nullptr));
   Await(done);
   for (int i = 0; i < kSubmissions; i++)
      EXPECT_EQ(Read(Int32(), buffers[i])[0], 100 * i * ranks_ + ranks_ * (ranks_ - 1) / 2);
}

TEST_P(CollectiveTest, RefusesWhatCannotBe)
{
   Ref<iree_hal_buffer_t> buffer;
   Ref<iree_hal_command_buffer_t> commands;
   Create(Pack(Int32(), std::vector<double>(8)), buffer.out());
   Begin(commands.out(), 0, IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED);
   const struct {
      iree_hal_collective_op_t op;
      uint32_t param;
      uint64_t count;
      StatusCode code;
   } cases[] = {
      {Op(IREE_HAL_COLLECTIVE_KIND_BROADCAST, Int32()), uint32_t(ranks_), 1,
       StatusCode::kOutOfRange},
      {Op(IREE_HAL_COLLECTIVE_KIND_SEND_RECV, Int32()), Peers(ranks_, 0), 1,
       StatusCode::kOutOfRange},
      {Op(IREE_HAL_COLLECTIVE_KIND_SEND_RECV, Int32()), Peers(0, ranks_), 1,
       StatusCode::kOutOfRange},
      {Op(IREE_HAL_COLLECTIVE_KIND_ALL_GATHER, Int32()), 0, UINT64_MAX / 4,
       StatusCode::kOutOfRange},
      {Op(IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE, Int32()), 0, 1, StatusCode::kInvalidArgument},
      {Op(IREE_HAL_COLLECTIVE_KIND_ALL_GATHER, Int32(), IREE_HAL_COLLECTIVE_REDUCTION_SUM), 0, 1,
       StatusCode::kInvalidArgument},
      {Op(IREE_HAL_COLLECTIVE_KIND_ALL_TO_ALL, Int32()), 0, uint64_t(ranks_) + 1,
       StatusCode::kInvalidArgument},
   };
   for (const auto &refused : cases) {
      if (refused.op.kind == IREE_HAL_COLLECTIVE_KIND_ALL_TO_ALL && ranks_ == 1)
         continue; /* any number is divisible by one */
      EXPECT_THAT(
         Status(Collect(commands, refused.op, refused.param, buffer, buffer, refused.count)),
         StatusIs(refused.code));
   }
}

/* On every rank alike: then none waits for another. */
TEST_P(CollectiveTest, RefusesBuffersThatAreTooShort)
{
   Ref<iree_hal_buffer_t> buffer;
   Ref<iree_hal_command_buffer_t> commands;
   Create(Pack(Int32(), std::vector<double>(8)), buffer.out());
   Begin(commands.out());
   IREE_ASSERT_OK(
      Collect(commands, Op(IREE_HAL_COLLECTIVE_KIND_BROADCAST, Int32()), 0, buffer, buffer, 9));
   IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
   EXPECT_THAT(Status(SubmitCommandBufferAndWait(commands)), StatusIs(StatusCode::kOutOfRange));
}

/* A rank that can't take part is out of step with the others from then on. */
TEST_P(CollectiveTest, FailsWithWhatItWaitsFor)
{
   const iree_hal_collective_op_t sum =
      Op(IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE, Int32(), IREE_HAL_COLLECTIVE_REDUCTION_SUM);
   Ref<iree_hal_buffer_t> buffer;
   Ref<iree_hal_command_buffer_t> commands;
   Create(Pack(Int32(), {1}), buffer.out());
   Begin(commands.out());
   IREE_ASSERT_OK(Collect(commands, sum, 0, buffer, buffer, 1));
   IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
   SemaphoreList go(device_, {0}, {1}), done(device_, {0}, {1});
   const iree_hal_semaphore_list_t start = go;
   IREE_ASSERT_OK(iree_hal_device_queue_execute(device_, kAnyQueue, go, done, commands,
                                                iree_hal_buffer_binding_table_empty(), 0));
   iree_hal_semaphore_list_fail(start, iree_make_status(IREE_STATUS_DATA_LOSS, "none today"));
   EXPECT_THAT(Status(iree_hal_semaphore_list_wait(done, iree_infinite_timeout(),
                                                   IREE_ASYNC_WAIT_FLAG_NONE)),
               StatusIs(StatusCode::kDataLoss));
   EXPECT_THAT(Status(SubmitCommandBufferAndWait(commands)), StatusIs(StatusCode::kDataLoss));
}

} // namespace

CTS_REGISTER_TEST_SUITE(CollectiveTest);

} // namespace iree::hal::cts
