// Two entry points, one with constants. Compiled by iree-base-compiler 3.13.0:
//    iree-compile --compile-mode=hal-executable --iree-hal-target-device=vulkan --iree-vulkan-target=ampere
//       --iree-vulkan-dispatch-abi=descriptors --iree-hal-executable-debug-level=3 pair.mlir -o pair.bin
#scaled = #hal.pipeline.layout<constants = 2, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>
]>
#halved = #hal.pipeline.layout<bindings = [
  #hal.pipeline.binding<storage_buffer>
]>
hal.executable.source public @pair {
  hal.executable.export public @scale_by_constants ordinal(0) layout(#scaled) count(%device: !hal.device) -> (index, index, index) {
    %one = arith.constant 1 : index
    hal.return %one, %one, %one : index, index, index
  } 
  hal.executable.export public @halve_in_place ordinal(1) layout(#halved) count(%device: !hal.device) -> (index, index, index) {
    %one = arith.constant 1 : index
    hal.return %one, %one, %one : index, index, index
  } 
  builtin.module {
    func.func @scale_by_constants() {
      %factor = hal.interface.constant.load layout(#scaled) ordinal(0) : i32
      %offset = hal.interface.constant.load layout(#scaled) ordinal(1) : i32
      %in = hal.interface.binding.subspan layout(#scaled) binding(0) : memref<32xi32>
      %out = hal.interface.binding.subspan layout(#scaled) binding(1) : memref<32xi32>
      %x = gpu.thread_id x
      %v = memref.load %in[%x] : memref<32xi32>
      %m = arith.muli %v, %factor : i32
      %s = arith.addi %m, %offset : i32
      memref.store %s, %out[%x] : memref<32xi32>
      return
    }
    func.func @halve_in_place() {
      %data = hal.interface.binding.subspan layout(#halved) binding(0) : memref<2x8xf32>
      %half = arith.constant 0.5 : f32
      %x = gpu.thread_id x
      %y = gpu.thread_id y
      %v = memref.load %data[%y, %x] : memref<2x8xf32>
      %m = arith.mulf %v, %half : f32
      memref.store %m, %data[%y, %x] : memref<2x8xf32>
      return
    }
  }
}
