// SPDX-License-Identifier: MIT
//
// A product of matrices of bytes, summed in words: what is left of a quantised layer.
func.func @bytes(%x: tensor<64x128xi8>, %w: tensor<128x64xi8>) -> tensor<64x64xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x64xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  %m = linalg.matmul ins(%x, %w : tensor<64x128xi8>, tensor<128x64xi8>)
                     outs(%f : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %m : tensor<64x64xi32>
}
