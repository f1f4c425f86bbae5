// With addresses in place of descriptors; as pair.mlir, with --iree-vulkan-dispatch-abi=bda -o one.bin.
#scaled = #hal.pipeline.layout<constants = 2, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>
]>
hal.executable.source public @one {
  hal.executable.export public @scale_by_constants ordinal(0) layout(#scaled) count(%device: !hal.device) -> (index, index, index) {
    %one = arith.constant 1 : index
    hal.return %one, %one, %one : index, index, index
  }
  builtin.module {
    func.func @scale_by_constants() {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %factor = hal.interface.constant.load layout(#scaled) ordinal(0) : i32
      %offset = hal.interface.constant.load layout(#scaled) ordinal(1) : i32
      %in = hal.interface.binding.subspan layout(#scaled) binding(0) : memref<2xi32>
      %out = hal.interface.binding.subspan layout(#scaled) binding(1) : memref<2xi32>
      %v = memref.load %in[%c0] : memref<2xi32>
      %m = arith.muli %v, %factor : i32
      memref.store %m, %out[%c0] : memref<2xi32>
      %w = memref.load %in[%c1] : memref<2xi32>
      %s = arith.addi %w, %offset : i32
      memref.store %s, %out[%c1] : memref<2xi32>
      return
    }
  }
}
