// SPDX-License-Identifier: MIT
//
// A small multilayer perceptron: 64 -> 128 -> 96 -> 10 with ReLU, a batch of 32, and the
// same with weights and activations of 16 bits.
func.func @mlp(%x: tensor<32x64xf32>, %w0: tensor<64x128xf32>, %b0: tensor<128xf32>,
               %w1: tensor<128x96xf32>, %b1: tensor<96xf32>, %w2: tensor<96x10xf32>)
    -> tensor<32x10xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<32x128xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<32x128xf32>) -> tensor<32x128xf32>
  %m0 = linalg.matmul ins(%x, %w0 : tensor<32x64xf32>, tensor<64x128xf32>)
                      outs(%f0 : tensor<32x128xf32>) -> tensor<32x128xf32>
  %h0 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%m0, %b0 : tensor<32x128xf32>, tensor<128xf32>) outs(%e0 : tensor<32x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<32x128xf32>
  %e1 = tensor.empty() : tensor<32x96xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<32x96xf32>) -> tensor<32x96xf32>
  %m1 = linalg.matmul ins(%h0, %w1 : tensor<32x128xf32>, tensor<128x96xf32>)
                      outs(%f1 : tensor<32x96xf32>) -> tensor<32x96xf32>
  %h1 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%m1, %b1 : tensor<32x96xf32>, tensor<96xf32>) outs(%e1 : tensor<32x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<32x96xf32>
  %e2 = tensor.empty() : tensor<32x10xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<32x10xf32>) -> tensor<32x10xf32>
  %m2 = linalg.matmul ins(%h1, %w2 : tensor<32x96xf32>, tensor<96x10xf32>)
                      outs(%f2 : tensor<32x10xf32>) -> tensor<32x10xf32>
  return %m2 : tensor<32x10xf32>
}

func.func @mlp_f16(%x: tensor<32x64xf16>, %w0: tensor<64x128xf16>, %w1: tensor<128x16xf16>)
    -> tensor<32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<32x128xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<32x128xf32>) -> tensor<32x128xf32>
  %m0 = linalg.matmul ins(%x, %w0 : tensor<32x64xf16>, tensor<64x128xf16>)
                      outs(%f0 : tensor<32x128xf32>) -> tensor<32x128xf32>
  %eh = tensor.empty() : tensor<32x128xf16>
  %h0 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%m0 : tensor<32x128xf32>) outs(%eh : tensor<32x128xf16>) {
  ^bb0(%a: f32, %o: f16):
    %r = arith.maximumf %a, %zero : f32
    %t = arith.truncf %r : f32 to f16
    linalg.yield %t : f16
  } -> tensor<32x128xf16>
  %e1 = tensor.empty() : tensor<32x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<32x16xf32>) -> tensor<32x16xf32>
  %m1 = linalg.matmul ins(%h0, %w1 : tensor<32x128xf16>, tensor<128x16xf16>)
                      outs(%f1 : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %m1 : tensor<32x16xf32>
}
