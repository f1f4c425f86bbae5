/* SPDX-License-Identifier: MIT
 *
 * What IREE's suite doesn't ask of a driver: semaphores of other drivers, long lists of them, host
 * memory of any place and size, memory that goes out and comes in, ranges that leave their buffer,
 * tables of addresses, virtual memory, SPIR-V with specialization constants.
 */
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "iree/hal/api.h"
#include "iree/hal/cts/util/registry.h"
#include "iree/hal/cts/util/test_base.h"
#include "iree/hal/drivers/init.h"
#include "iree/hal/memory/fixed_block_pool.h"
#include "iree/hal/profile_sink.h"

namespace iree::hal::cts
{

namespace
{

using iree::testing::status::StatusIs;

constexpr iree_hal_queue_affinity_t kAnyQueue = IREE_HAL_QUEUE_AFFINITY_ANY;

class AgxTest : public CtsTestBase<>
{
 protected:
   void Barrier(iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals)
   {
      IREE_ASSERT_OK(iree_hal_device_queue_barrier(device_, kAnyQueue, waits, signals,
                                                   IREE_HAL_EXECUTE_FLAG_NONE));
   }

   static void Await(iree_hal_semaphore_list_t list)
   {
      IREE_ASSERT_OK(
         iree_hal_semaphore_list_wait(list, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
   }

   /* Of two blocks of 1,024 bytes. */
   iree_status_t CreatePool(iree_hal_pool_t **out_pool)
   {
      iree_hal_queue_pool_backend_t backend = {};
      IREE_RETURN_IF_ERROR(iree_hal_device_query_queue_pool_backend(device_, 1, &backend));
      iree_hal_fixed_block_pool_options_t options = {};
      options.block_allocator_options.block_size = 1024;
      options.block_allocator_options.block_count = 2;
      options.block_allocator_options.frontier_capacity = 1;
      return iree_hal_fixed_block_pool_create(options, backend.slab_provider, backend.notification,
                                              backend.epoch_query, iree_allocator_system(),
                                              out_pool);
   }

   void Copy(iree_hal_buffer_t *from, iree_hal_buffer_t *to, iree_device_size_t size)
   {
      SemaphoreList none;
      SemaphoreList done(device_, {0}, {1});
      IREE_ASSERT_OK(iree_hal_device_queue_copy(device_, kAnyQueue, none, done, from, 0, to, 0,
                                                size, IREE_HAL_COPY_FLAG_NONE));
      Await(done);
   }

   void Fill(iree_hal_buffer_t *buffer, iree_device_size_t offset, iree_device_size_t size,
             uint8_t value)
   {
      SemaphoreList none;
      SemaphoreList done(device_, {0}, {1});
      IREE_ASSERT_OK(iree_hal_device_queue_fill(device_, kAnyQueue, none, done, buffer, offset,
                                                size, &value, 1, IREE_HAL_FILL_FLAG_NONE));
      Await(done);
   }
};

/* ---- failures ---------------------------------------------------------------- */

/* Outside of mpirun, or in a build without MPI. */
TEST_P(AgxTest, ChannelsWantMpi)
{
   iree_hal_channel_params_t params = {};
   params.rank = IREE_HAL_CHANNEL_RANK_DEFAULT;
   params.count = IREE_HAL_CHANNEL_COUNT_DEFAULT;
   iree_hal_channel_t *channel = nullptr;
   EXPECT_THAT(Status(iree_hal_channel_create(device_, kAnyQueue, params, &channel)),
               StatusIs(AGX_CTS_HAS_MPI ? StatusCode::kFailedPrecondition
                                        : StatusCode::kUnimplemented));
   EXPECT_EQ(channel, nullptr);
}

TEST_P(AgxTest, FailuresSayWhy)
{
   Ref<iree_hal_buffer_t> buffer;
   IREE_ASSERT_OK(CreateZeroedDeviceBuffer(64, buffer.out()));
   SemaphoreList none;
   const uint32_t value = 0;
   iree_status_t first = iree_hal_device_queue_fill(device_, kAnyQueue, none, none, buffer, 2, 8,
                                                    &value, 4, IREE_HAL_FILL_FLAG_NONE);
   iree_status_t second = iree_hal_device_queue_fill(device_, kAnyQueue, none, none, buffer, 0, 6,
                                                     &value, 4, IREE_HAL_FILL_FLAG_NONE);
   const iree_string_view_t text = iree_status_message(first);
   EXPECT_NE(std::string(text.data, text.size).find("2"), std::string::npos);
   EXPECT_EQ(std::string(text.data, text.size).rfind("fill", 0), 0u);
   iree_status_free(first);
   iree_status_free(second);
}

/* ---- lists of semaphores --------------------------------------------------- */

TEST_P(AgxTest, ManySemaphores)
{
   for (size_t count : {64, 65, 1024}) {
      const std::vector<uint64_t> zeros(count, 0), ones(count, 1);
      SemaphoreList waits(device_, zeros, ones), signals(device_, zeros, ones);
      Barrier(waits, signals);
      for (size_t i = 0; i < count; i++)
         IREE_ASSERT_OK(iree_hal_semaphore_signal(waits.semaphores[i], 1, NULL));
      Await(signals);
   }
}

TEST_P(AgxTest, TooManySemaphores)
{
   const std::vector<uint64_t> zeros(1025, 0), ones(1025, 1);
   SemaphoreList none, many(device_, zeros, ones);
   EXPECT_THAT(Status(iree_hal_device_queue_barrier(device_, kAnyQueue, many, none,
                                                    IREE_HAL_EXECUTE_FLAG_NONE)),
               StatusIs(StatusCode::kResourceExhausted));
}

/* ---- semaphores of another driver ------------------------------------------ */

class ForeignTest : public AgxTest
{
 protected:
   void SetUp() override
   {
      AgxTest::SetUp();
      const iree_allocator_t host = iree_allocator_system();
      iree_hal_driver_registry_t *registry = iree_hal_driver_registry_default();
      iree_status_free(iree_hal_register_all_available_drivers(registry));
      IREE_ASSERT_OK(context_.Initialize(host));
      IREE_ASSERT_OK(
         iree_hal_create_device(registry, IREE_SV("local-sync"), context_.params(), host, &other_));
      IREE_ASSERT_OK(iree_hal_device_group_create_from_device(other_, context_.frontier_tracker(),
                                                              host, &group_));
   }

   void TearDown() override
   {
      iree_hal_device_release(other_);
      iree_hal_device_group_release(group_);
      context_.Deinitialize();
      AgxTest::TearDown();
   }

   DeviceCreateContext context_;
   iree_hal_device_t *other_ = nullptr;
   iree_hal_device_group_t *group_ = nullptr;
};

TEST_P(ForeignTest, ValuesPass)
{
   SemaphoreList foreign(other_, {0, 3}, {2, 5}), own(device_, {0}, {1});
   SemaphoreList back(other_, {0, 7}, {4, 9});
   Barrier(foreign, own);
   Barrier(own, back);
   uint64_t value = 0;
   IREE_ASSERT_OK(iree_hal_semaphore_signal(foreign.semaphores[0], 2, NULL));
   IREE_ASSERT_OK(iree_hal_semaphore_query(own.semaphores[0], &value));
   EXPECT_EQ(value, 0u); /* one of two */
   IREE_ASSERT_OK(iree_hal_semaphore_signal(foreign.semaphores[1], 6, NULL));
   Await(back);
   IREE_ASSERT_OK(iree_hal_semaphore_query(back.semaphores[1], &value));
   EXPECT_EQ(value, 9u);
}

TEST_P(ForeignTest, FailuresPass)
{
   SemaphoreList foreign(other_, {0}, {1}), own(device_, {0}, {1}), back(other_, {0}, {1});
   Barrier(foreign, own);
   Barrier(own, back);
   iree_hal_semaphore_fail(foreign.semaphores[0],
                           iree_make_status(IREE_STATUS_DATA_LOSS, "the other one is lost"));
   iree_status_t status =
      iree_hal_semaphore_list_wait(back, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
   EXPECT_FALSE(iree_status_is_ok(status));
   iree_status_free(status);
   uint64_t value = 0;
   EXPECT_THAT(Status(iree_hal_semaphore_query(own.semaphores[0], &value)),
               StatusIs(StatusCode::kDataLoss));
}

TEST_P(ForeignTest, ManyOfThem)
{
   const std::vector<uint64_t> zeros(100, 0), ones(100, 1);
   SemaphoreList foreign(other_, zeros, ones), back(other_, zeros, ones);
   Barrier(foreign, back);
   for (iree_hal_semaphore_t *semaphore : foreign.semaphores)
      IREE_ASSERT_OK(iree_hal_semaphore_signal(semaphore, 1, NULL));
   Await(back);
}

/* ---- memory of others -------------------------------------------------------- */

iree_hal_buffer_params_t Params(iree_hal_buffer_usage_t usage)
{
   iree_hal_buffer_params_t params = {};
   params.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;
   params.access = IREE_HAL_MEMORY_ACCESS_ALL;
   params.usage = usage;
   return params;
}

iree_status_t ImportHost(iree_hal_allocator_t *allocator, iree_hal_buffer_usage_t usage, void *at,
                         iree_device_size_t size, iree_hal_buffer_t **out_buffer)
{
   iree_hal_external_buffer_t external = {};
   external.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION;
   external.size = size;
   external.handle.host_allocation.ptr = at;
   return iree_hal_allocator_import_buffer(allocator, Params(usage), &external,
                                           iree_hal_buffer_release_callback_null(), out_buffer);
}

TEST_P(AgxTest, HostMemoryOfAnyPlaceAndSize)
{
   constexpr iree_device_size_t kSize = 1003;
   const std::vector<uint8_t> bytes = MakeDeterministicBytes(kSize);
   std::vector<uint8_t> source(bytes), target(kSize + 2, 0x5a);
   Ref<iree_hal_buffer_t> from, between, to;
   IREE_ASSERT_OK(ImportHost(device_allocator_, IREE_HAL_BUFFER_USAGE_TRANSFER, source.data(),
                             kSize, from.out()));
   IREE_ASSERT_OK(ImportHost(device_allocator_, IREE_HAL_BUFFER_USAGE_TRANSFER, target.data() + 1,
                             kSize, to.out()));
   IREE_ASSERT_OK(CreateZeroedDeviceBuffer(kSize, between.out()));
   Copy(from, between, kSize);
   EXPECT_EQ(ReadBufferBytes(between, 0, kSize), bytes);
   Copy(between, to, kSize);
   EXPECT_EQ(target.front(), 0x5a);
   EXPECT_EQ(target.back(), 0x5a);
   EXPECT_EQ(std::vector<uint8_t>(target.begin() + 1, target.end() - 1), bytes);
   Fill(to, 3, 7, 0x11);
   EXPECT_EQ(target[3], bytes[2]);
   EXPECT_EQ(target[4], 0x11);
   EXPECT_EQ(target[10], 0x11);
   EXPECT_EQ(target[11], bytes[10]);
}

/* Its owner takes it back when told so. */
TEST_P(AgxTest, HostMemoryIsKeptWhileItIsUsed)
{
   std::vector<uint8_t> source(256, 0x3c);
   bool is_released = false;
   iree_hal_external_buffer_t external = {};
   external.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION;
   external.size = source.size();
   external.handle.host_allocation.ptr = source.data();
   iree_hal_buffer_release_callback_t release = {
      [](void *user, iree_hal_buffer_t *) { *static_cast<bool *>(user) = true; }, &is_released};
   iree_hal_buffer_t *from = nullptr;
   Ref<iree_hal_buffer_t> to;
   IREE_ASSERT_OK(iree_hal_allocator_import_buffer(
      device_allocator_, Params(IREE_HAL_BUFFER_USAGE_TRANSFER), &external, release, &from));
   IREE_ASSERT_OK(CreateZeroedDeviceBuffer(source.size(), to.out()));
   SemaphoreList go(device_, {0}, {1}), done(device_, {0}, {1});
   IREE_ASSERT_OK(iree_hal_device_queue_copy(device_, kAnyQueue, go, done, from, 0, to, 0,
                                             source.size(), IREE_HAL_COPY_FLAG_NONE));
   iree_hal_buffer_release(from);
   EXPECT_FALSE(is_released);
   IREE_ASSERT_OK(iree_hal_semaphore_signal(go.semaphores[0], 1, NULL));
   Await(done);
   EXPECT_EQ(ReadBufferBytes(to, 0, source.size()), source);
}

/* The GPU doesn't reach it. */
TEST_P(AgxTest, HostMemoryForDispatchesIsRefused)
{
   std::vector<uint8_t> memory(4096);
   iree_hal_buffer_t *buffer = nullptr;
   EXPECT_THAT(Status(ImportHost(device_allocator_, IREE_HAL_BUFFER_USAGE_DEFAULT, memory.data(),
                                 memory.size(), &buffer)),
               StatusIs(StatusCode::kUnavailable));
   EXPECT_EQ(buffer, nullptr);
   iree_hal_buffer_params_t params = Params(IREE_HAL_BUFFER_USAGE_DEFAULT), out_params;
   iree_device_size_t size = 0;
   EXPECT_FALSE(iree_all_bits_set(iree_hal_allocator_query_buffer_compatibility(
                                     device_allocator_, params, 4096, &out_params, &size),
                                  IREE_HAL_BUFFER_COMPATIBILITY_IMPORTABLE));
}

TEST_P(AgxTest, ExportedMemoryIsTheSame)
{
   constexpr iree_device_size_t kSize = 65536;
   Ref<iree_hal_buffer_t> buffer, again;
   iree_hal_buffer_params_t params =
      Params(IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING |
             IREE_HAL_BUFFER_USAGE_SHARING_EXPORT);
   IREE_ASSERT_OK(
      iree_hal_allocator_allocate_buffer(device_allocator_, params, kSize, buffer.out()));
   iree_hal_external_buffer_t external = {};
   IREE_ASSERT_OK(iree_hal_allocator_export_buffer(device_allocator_, buffer,
                                                   IREE_HAL_EXTERNAL_BUFFER_TYPE_OPAQUE_FD,
                                                   IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE, &external));
   EXPECT_EQ(external.size, kSize);
   IREE_ASSERT_OK(iree_hal_allocator_import_buffer(
      device_allocator_, params, &external, iree_hal_buffer_release_callback_null(), again.out()));
   Fill(buffer, 0, kSize, 0x77);
   EXPECT_EQ(ReadBufferBytes(again, kSize - 4, 4), std::vector<uint8_t>(4, 0x77));
   IREE_ASSERT_OK(iree_hal_allocator_export_buffer(device_allocator_, buffer,
                                                   IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
                                                   IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE, &external));
   EXPECT_EQ(static_cast<uint8_t *>(external.handle.host_allocation.ptr)[100], 0x77);
   IREE_ASSERT_OK(iree_hal_allocator_export_buffer(device_allocator_, buffer,
                                                   IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION,
                                                   IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE, &external));
   EXPECT_NE(external.handle.device_allocation.ptr, 0u);
}

/* ---- pools ------------------------------------------------------------------- */

/* The queue lets go of a block a moment after it has signalled, when the application may have
 * released all: here it does so before. */
TEST_P(AgxTest, BlocksKeepTheirPool)
{
   iree_hal_pool_t *pool = nullptr;
   IREE_ASSERT_OK(CreatePool(&pool));
   SemaphoreList none, ready(device_, {0}, {1}), go(device_, {0}, {1}), done(device_, {0}, {1});
   iree_hal_buffer_t *block = nullptr;
   IREE_ASSERT_OK(iree_hal_device_queue_alloca(device_, 1, none, ready, pool,
                                               Params(IREE_HAL_BUFFER_USAGE_DEFAULT), 512,
                                               IREE_HAL_ALLOCA_FLAG_NONE, &block));
   Await(ready);
   const uint8_t value = 1;
   IREE_ASSERT_OK(iree_hal_device_queue_fill(device_, kAnyQueue, go, done, block, 0, 512, &value, 1,
                                             IREE_HAL_FILL_FLAG_NONE));
   iree_hal_buffer_release(block);
   iree_hal_pool_release(pool);
   IREE_ASSERT_OK(iree_hal_semaphore_signal(go.semaphores[0], 1, NULL));
   Await(done);
}

/* ---- ranges ------------------------------------------------------------------ */

/* The memory that a buffer lies in may go on behind it, with what is another's. */
class RangeTest : public AgxTest
{
 protected:
   void ExpectRefused(iree_hal_buffer_t *buffer, iree_device_size_t offset, iree_device_size_t size)
   {
      const uint8_t value = 1;
      SemaphoreList none;
      EXPECT_THAT(Status(iree_hal_device_queue_fill(device_, kAnyQueue, none, none, buffer, offset,
                                                    size, &value, 1, IREE_HAL_FILL_FLAG_NONE)),
                  StatusIs(StatusCode::kOutOfRange));
   }

#ifdef AGX_CTS_ADDRESSES
   /* Multiplies by its first constant and adds its second one, four words. */
   void LoadAddresses(iree_hal_executable_t **out_executable)
   {
      std::ifstream stream(AGX_CTS_ADDRESSES "/command_buffer_dispatch_constants_bindings_test.bin",
                           std::ios::binary);
      const std::vector<char> file(std::istreambuf_iterator<char>(stream), {});
      ASSERT_FALSE(file.empty());
      Ref<iree_hal_executable_cache_t> cache;
      IREE_ASSERT_OK(iree_hal_executable_cache_create(device_, IREE_SV("own"), cache.out()));
      iree_hal_executable_params_t params;
      iree_hal_executable_params_initialize(&params);
      params.executable_format = IREE_SV("vulkan-spirv-bda-v1");
      params.executable_data = iree_make_const_byte_span(file.data(), file.size());
      IREE_ASSERT_OK(iree_hal_executable_cache_prepare_executable(cache, &params, out_executable));
   }
#endif

   void ExpectBounds(iree_hal_buffer_t *buffer, iree_device_size_t size)
   {
      ExpectRefused(buffer, 0, size + 1);
      ExpectRefused(buffer, size, 1);
      ExpectRefused(buffer, size + 1, IREE_HAL_WHOLE_BUFFER);
      ExpectRefused(buffer, ~iree_device_size_t{7}, 16);
      Fill(buffer, size - 1, IREE_HAL_WHOLE_BUFFER, 1);
      Fill(buffer, size, 0, 1);
   }
};

TEST_P(RangeTest, OfViews)
{
   Ref<iree_hal_buffer_t> whole, view;
   IREE_ASSERT_OK(CreateZeroedDeviceBuffer(4096, whole.out()));
   IREE_ASSERT_OK(iree_hal_buffer_subspan(whole, 64, 100, iree_allocator_system(), view.out()));
   ExpectBounds(view, 100);
   EXPECT_EQ(ReadBufferBytes(whole, 163, 2), (std::vector<uint8_t>{1, 0}));
}

TEST_P(RangeTest, OfBlocks)
{
   iree_hal_pool_t *pool = nullptr;
   IREE_ASSERT_OK(CreatePool(&pool));
   SemaphoreList none, done(device_, {0}, {1});
   iree_hal_buffer_t *block = nullptr;
   IREE_ASSERT_OK(iree_hal_device_queue_alloca(device_, 1, none, done, pool,
                                               Params(IREE_HAL_BUFFER_USAGE_DEFAULT), 500,
                                               IREE_HAL_ALLOCA_FLAG_NONE, &block));
   Await(done);
   ExpectBounds(block, 500);
   iree_hal_buffer_release(block);
   iree_hal_pool_release(pool);
}

#ifdef AGX_CTS_ADDRESSES
/* The kernel reads addresses, which nothing checks behind the driver. */
TEST_P(RangeTest, OfAddresses)
{
   Ref<iree_hal_executable_t> executable;
   LoadAddresses(executable.out());
   Ref<iree_hal_buffer_t> buffer;
   IREE_ASSERT_OK(CreateZeroedDeviceBuffer(64, buffer.out()));
   const uint32_t constants[2] = {2, 3};
   const iree_const_byte_span_t bytes = iree_make_const_byte_span(constants, sizeof(constants));
   const auto function = iree_hal_executable_function_from_index(0);
   const auto config = iree_hal_make_static_dispatch_config(1, 1, 1);
   SemaphoreList none, done(device_, {0}, {1});
   iree_hal_buffer_ref_t refs[] = {iree_hal_make_buffer_ref(buffer, 0, 16),
                                   iree_hal_make_buffer_ref(buffer, 56, 16)};
   const auto dispatch = [&](iree_host_size_t count) {
      return iree_hal_device_queue_dispatch(device_, kAnyQueue, none, done, executable, function,
                                            config, bytes, iree_hal_buffer_ref_list_t{count, refs},
                                            IREE_HAL_DISPATCH_FLAG_NONE);
   };
   EXPECT_THAT(Status(dispatch(2)), StatusIs(StatusCode::kOutOfRange));
   EXPECT_THAT(Status(dispatch(1)), StatusIs(StatusCode::kInvalidArgument));
   refs[1].offset = 16;
   IREE_ASSERT_OK(dispatch(2));
   Await(done);

   refs[1] = iree_hal_make_indirect_buffer_ref(0, 0, 16);
   const auto record = [&](iree_host_size_t slots, iree_hal_command_buffer_t **commands) {
      IREE_RETURN_IF_ERROR(iree_hal_command_buffer_create(
         device_, IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED, IREE_HAL_COMMAND_CATEGORY_DISPATCH,
         kAnyQueue, slots, commands));
      IREE_RETURN_IF_ERROR(iree_hal_command_buffer_begin(*commands));
      IREE_RETURN_IF_ERROR(iree_hal_command_buffer_dispatch(
         *commands, executable, function, config, bytes,
         iree_hal_buffer_ref_list_t{IREE_ARRAYSIZE(refs), refs}, IREE_HAL_DISPATCH_FLAG_NONE));
      return iree_hal_command_buffer_end(*commands);
   };
   Ref<iree_hal_command_buffer_t> commands, without;
   EXPECT_THAT(Status(record(0, without.out())), StatusIs(StatusCode::kInvalidArgument));
   IREE_ASSERT_OK(record(1, commands.out()));
   const iree_hal_buffer_binding_t empty = {nullptr, 0, IREE_HAL_WHOLE_BUFFER};
   const iree_hal_buffer_binding_t late = {buffer, 65, IREE_HAL_WHOLE_BUFFER};
   for (const iree_hal_buffer_binding_t &binding : {empty, late}) {
      iree_status_t status = iree_hal_device_queue_execute(
         device_, kAnyQueue, none, none, commands, iree_hal_buffer_binding_table_t{1, &binding},
         IREE_HAL_EXECUTE_FLAG_NONE);
      EXPECT_FALSE(iree_status_is_ok(status));
      iree_status_free(status);
   }
   EXPECT_THAT(Status(iree_hal_command_buffer_begin(commands)),
               StatusIs(StatusCode::kFailedPrecondition));
}

/* Where its addresses say nothing, or are those of something else. */
TEST_P(RangeTest, OfAddressesOfAnotherDevice)
{
   DeviceCreateContext context;
   IREE_ASSERT_OK(context.Initialize(iree_allocator_system()));
   iree_hal_device_t *other = nullptr;
   IREE_ASSERT_OK(iree_hal_create_device(iree_hal_driver_registry_default(), IREE_SV("agx"),
                                         context.params(), iree_allocator_system(), &other));
   Ref<iree_hal_executable_t> executable;
   LoadAddresses(executable.out());
   iree_hal_buffer_t *buffer = nullptr;
   IREE_ASSERT_OK(iree_hal_allocator_allocate_buffer(
      iree_hal_device_allocator(other), Params(IREE_HAL_BUFFER_USAGE_DEFAULT), 64, &buffer));
   const iree_hal_buffer_ref_t refs[] = {iree_hal_make_buffer_ref(buffer, 0, 16),
                                         iree_hal_make_buffer_ref(buffer, 16, 16)};
   const uint32_t constants[2] = {2, 3};
   SemaphoreList none;
   EXPECT_THAT(
      Status(iree_hal_device_queue_dispatch(
         device_, kAnyQueue, none, none, executable, iree_hal_executable_function_from_index(0),
         iree_hal_make_static_dispatch_config(1, 1, 1),
         iree_make_const_byte_span(constants, sizeof(constants)),
         iree_hal_buffer_ref_list_t{IREE_ARRAYSIZE(refs), refs}, IREE_HAL_DISPATCH_FLAG_NONE)),
      StatusIs(StatusCode::kInvalidArgument));
   iree_hal_buffer_release(buffer);
   iree_hal_device_release(other);
   context.Deinitialize();
}
#endif

/* ---- virtual memory ---------------------------------------------------------- */

TEST_P(AgxTest, VirtualMemory)
{
   ASSERT_TRUE(iree_hal_allocator_supports_virtual_memory(device_allocator_));
   const iree_hal_buffer_params_t params =
      Params(IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING);
   iree_device_size_t page = 0, best = 0;
   IREE_ASSERT_OK(
      iree_hal_allocator_virtual_memory_query_granularity(device_allocator_, params, &page, &best));
   iree_hal_buffer_t *range = nullptr;
   iree_hal_physical_memory_t *pages = nullptr;
   IREE_ASSERT_OK(
      iree_hal_allocator_virtual_memory_reserve(device_allocator_, kAnyQueue, 4 * page, &range));
   IREE_ASSERT_OK(iree_hal_allocator_physical_memory_allocate(device_allocator_, params, 2 * page,
                                                              iree_allocator_system(), &pages));
   IREE_ASSERT_OK(
      iree_hal_allocator_virtual_memory_map(device_allocator_, range, page, pages, 0, 2 * page));
   IREE_ASSERT_OK(iree_hal_allocator_virtual_memory_protect(
      device_allocator_, range, page, 2 * page, kAnyQueue,
      IREE_HAL_MEMORY_PROTECTION_READ | IREE_HAL_MEMORY_PROTECTION_WRITE));
   Fill(range, page, page, 0x21);
   Fill(range, 2 * page, page, 0x43);
   /* The second page again, elsewhere. */
   IREE_ASSERT_OK(
      iree_hal_allocator_virtual_memory_map(device_allocator_, range, 0, pages, page, page));
   Ref<iree_hal_buffer_t> seen;
   IREE_ASSERT_OK(CreateZeroedDeviceBuffer(3 * page, seen.out()));
   Copy(range, seen, 3 * page);
   EXPECT_EQ(ReadBufferBytes(seen, 0, 2), std::vector<uint8_t>(2, 0x43));
   EXPECT_EQ(ReadBufferBytes(seen, page, 2), std::vector<uint8_t>(2, 0x21));
   EXPECT_EQ(ReadBufferBytes(seen, 3 * page - 2, 2), std::vector<uint8_t>(2, 0x43));
   iree_status_free(iree_hal_allocator_virtual_memory_advise(
      device_allocator_, range, 0, page, kAnyQueue, IREE_HAL_MEMORY_ADVICE_WILL_NEED));
   EXPECT_THAT(Status(iree_hal_allocator_virtual_memory_map(device_allocator_, range, 3 * page,
                                                            pages, 0, 2 * page)),
               StatusIs(StatusCode::kOutOfRange));
   IREE_ASSERT_OK(iree_hal_allocator_virtual_memory_unmap(device_allocator_, range, 0, 3 * page));
   IREE_ASSERT_OK(iree_hal_allocator_physical_memory_free(device_allocator_, pages));
   IREE_ASSERT_OK(iree_hal_allocator_virtual_memory_release(device_allocator_, range));
}

/* ---- what is recorded -------------------------------------------------------- */

TEST_P(AgxTest, UnretainedCommandBuffers)
{
   Ref<iree_hal_buffer_t> buffer;
   Ref<iree_hal_command_buffer_t> commands;
   const uint8_t value = 0x5a;
   IREE_ASSERT_OK(CreateZeroedDeviceBuffer(64, buffer.out()));
   IREE_ASSERT_OK(iree_hal_command_buffer_create(device_, IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED,
                                                 IREE_HAL_COMMAND_CATEGORY_TRANSFER, kAnyQueue, 0,
                                                 commands.out()));
   IREE_ASSERT_OK(iree_hal_command_buffer_begin(commands));
   IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(
      commands, iree_hal_make_buffer_ref(buffer, 0, 64), &value, 1, IREE_HAL_FILL_FLAG_NONE));
   IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
   for (int i = 0; i < 2; i++)
      IREE_ASSERT_OK(SubmitCommandBufferAndWait(commands));
   EXPECT_EQ(ReadBufferBytes(buffer, 60, 4), std::vector<uint8_t>(4, value));
}

/* The suite's device has no capture; messages must outlive the call that made them. */
TEST_P(AgxTest, ExternalCapturesNameWhatIsMissing)
{
   iree_hal_device_external_capture_options_t options = {};
   options.provider = IREE_SV("agx");
   Status status(iree_hal_device_external_capture_begin(device_, &options));
   EXPECT_THAT(status, StatusIs(StatusCode::kFailedPrecondition));
   EXPECT_NE(status.ToString().find("the device was opened without one"), std::string::npos);
   options.provider = IREE_SV("renderdoc");
   EXPECT_THAT(Status(iree_hal_device_external_capture_begin(device_, &options)),
               StatusIs(StatusCode::kUnimplemented));
}

/* ---- profiling ------------------------------------------------------------- */

/* Tells when nobody holds it any more. */
struct Sink {
   iree_hal_resource_t resource;
   bool *is_gone;
};

const iree_hal_profile_sink_vtable_t kSinkVtable = {
   [](iree_hal_profile_sink_t *base) {
      Sink *sink = reinterpret_cast<Sink *>(base);
      *sink->is_gone = true;
      delete sink;
   },
   [](iree_hal_profile_sink_t *, const iree_hal_profile_chunk_metadata_t *) {
      return iree_ok_status();
   },
   [](iree_hal_profile_sink_t *, const iree_hal_profile_chunk_metadata_t *, iree_host_size_t,
      const iree_const_byte_span_t *) { return iree_ok_status(); },
   [](iree_hal_profile_sink_t *, const iree_hal_profile_chunk_metadata_t *, iree_status_code_t) {
      return iree_ok_status();
   },
};

/* What was submitted in a session keeps neither its memory nor the device until the session ends.
 */
TEST_P(AgxTest, SessionsEndWithTheirDevice)
{
   const iree_allocator_t host = iree_allocator_system();
   bool is_gone = false;
   DeviceCreateContext context;
   IREE_ASSERT_OK(context.Initialize(host));
   iree_hal_device_t *device = nullptr;
   IREE_ASSERT_OK(iree_hal_create_device(iree_hal_driver_registry_default(), IREE_SV("agx"),
                                         context.params(), host, &device));
   Sink *sink = new Sink{{}, &is_gone};
   iree_hal_resource_initialize(&kSinkVtable, &sink->resource);
   iree_hal_device_profiling_options_t options = {};
   options.data_families = IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS;
   options.sink = reinterpret_cast<iree_hal_profile_sink_t *>(sink);
   IREE_ASSERT_OK(iree_hal_device_profiling_begin(device, &options));
   iree_hal_profile_sink_release(options.sink);
   {
      Ref<iree_hal_command_buffer_t> commands;
      IREE_ASSERT_OK(iree_hal_command_buffer_create(device, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT,
                                                    IREE_HAL_COMMAND_CATEGORY_TRANSFER, kAnyQueue,
                                                    0, commands.out()));
      IREE_ASSERT_OK(iree_hal_command_buffer_begin(commands));
      IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
      SemaphoreList none, done(device, {0}, {1});
      IREE_ASSERT_OK(iree_hal_device_queue_execute(device, kAnyQueue, none, done, commands,
                                                   iree_hal_buffer_binding_table_empty(),
                                                   IREE_HAL_EXECUTE_FLAG_NONE));
      Await(done);
   }
   EXPECT_FALSE(is_gone);
   iree_hal_device_release(device);
   EXPECT_TRUE(is_gone);
   context.Deinitialize();
}

/* ---- executables ------------------------------------------------------------- */

/* tests/corpus/spec_wg.comp turns groups of 32 * 2 around, doubles them, and cuts negative ones
 * off. */
TEST_P(AgxTest, SpirvWithSpecializationConstants)
{
   constexpr uint32_t kThreads = 32, kCount = 64;
   std::ifstream stream(AGX_CTS_SPIRV, std::ios::binary);
   const std::vector<char> file(std::istreambuf_iterator<char>(stream), {});
   ASSERT_FALSE(file.empty());
   const float scale = 2.0f;
   uint32_t constants[4] = {kThreads, kCount / kThreads, 0, 1};
   memcpy(&constants[2], &scale, sizeof(scale));
   Ref<iree_hal_executable_cache_t> cache;
   Ref<iree_hal_executable_t> executable;
   IREE_ASSERT_OK(iree_hal_executable_cache_create(device_, IREE_SV("own"), cache.out()));
   iree_hal_executable_params_t params;
   iree_hal_executable_params_initialize(&params);
   params.executable_format = IREE_SV("spirv");
   params.executable_data = iree_make_const_byte_span(file.data(), file.size());
   params.constants = constants;
   params.constant_count = IREE_ARRAYSIZE(constants);
   IREE_ASSERT_OK(iree_hal_executable_cache_prepare_executable(cache, &params, executable.out()));

   std::vector<float> input(kCount), expected(kCount);
   for (uint32_t i = 0; i < kCount; i++) {
      input[i] = static_cast<float>(i) - 20.0f;
      expected[kCount - 1 - i] = input[i] > 0.0f ? input[i] * scale : 0.0f;
   }
   Ref<iree_hal_buffer_t> from, to;
   IREE_ASSERT_OK(CreateDeviceBufferWithData(input.data(), 4 * kCount, from.out()));
   IREE_ASSERT_OK(CreateZeroedDeviceBuffer(4 * kCount, to.out()));
   const iree_hal_buffer_ref_t refs[] = {iree_hal_make_buffer_ref(from, 0, 4 * kCount),
                                         iree_hal_make_buffer_ref(to, 0, 4 * kCount)};
   SemaphoreList none, done(device_, {0}, {1});
   IREE_ASSERT_OK(iree_hal_device_queue_dispatch(
      device_, kAnyQueue, none, done, executable, iree_hal_executable_function_from_index(0),
      iree_hal_make_static_dispatch_config(1, 1, 1), iree_const_byte_span_empty(),
      iree_hal_buffer_ref_list_t{IREE_ARRAYSIZE(refs), refs}, IREE_HAL_DISPATCH_FLAG_NONE));
   Await(done);
   EXPECT_EQ(ReadBufferData<float>(to), expected);
}

} // namespace

CTS_REGISTER_TEST_SUITE(AgxTest);
CTS_REGISTER_TEST_SUITE(ForeignTest);
CTS_REGISTER_TEST_SUITE(RangeTest);

} // namespace iree::hal::cts
