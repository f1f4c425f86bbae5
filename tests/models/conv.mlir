// SPDX-License-Identifier: MIT
//
// A convolution net: 3x3 convolution with ReLU, 2x2 pooling, a depthwise and a pointwise
// convolution, the mean over the image; and a 3x3 convolution of 16-bit values.
func.func @conv(%x: tensor<1x34x34x4xf32>, %w0: tensor<3x3x4x16xf32>,
                %w1: tensor<3x3x16xf32>, %w2: tensor<1x1x16x32xf32>) -> tensor<32xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %area = arith.constant 196.0 : f32
  %e0 = tensor.empty() : tensor<1x32x32x16xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x32x32x16xf32>) -> tensor<1x32x32x16xf32>
  %c0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%x, %w0 : tensor<1x34x34x4xf32>, tensor<3x3x4x16xf32>)
    outs(%f0 : tensor<1x32x32x16xf32>) -> tensor<1x32x32x16xf32>
  %r0 = linalg.generic {
    indexing_maps = [affine_map<(n, y, x, c) -> (n, y, x, c)>, affine_map<(n, y, x, c) -> (n, y, x, c)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%c0 : tensor<1x32x32x16xf32>) outs(%e0 : tensor<1x32x32x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<1x32x32x16xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %e1 = tensor.empty() : tensor<1x16x16x16xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  %p1 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%r0, %window : tensor<1x32x32x16xf32>, tensor<2x2xf32>)
    outs(%f1 : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  %e2 = tensor.empty() : tensor<1x14x14x16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32>
  %d2 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%p1, %w1 : tensor<1x16x16x16xf32>, tensor<3x3x16xf32>)
    outs(%f2 : tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32>
  %e3 = tensor.empty() : tensor<1x14x14x32xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<1x14x14x32xf32>) -> tensor<1x14x14x32xf32>
  %c3 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%d2, %w2 : tensor<1x14x14x16xf32>, tensor<1x1x16x32xf32>)
    outs(%f3 : tensor<1x14x14x32xf32>) -> tensor<1x14x14x32xf32>
  %e4 = tensor.empty() : tensor<32xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<32xf32>) -> tensor<32xf32>
  %s4 = linalg.generic {
    indexing_maps = [affine_map<(c, n, y, x) -> (n, y, x, c)>, affine_map<(c, n, y, x) -> (c)>],
    iterator_types = ["parallel", "reduction", "reduction", "reduction"]}
    ins(%c3 : tensor<1x14x14x32xf32>) outs(%f4 : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<32xf32>
  %m4 = linalg.generic {
    indexing_maps = [affine_map<(c) -> (c)>, affine_map<(c) -> (c)>], iterator_types = ["parallel"]}
    ins(%s4 : tensor<32xf32>) outs(%e4 : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.divf %a, %area : f32
    linalg.yield %q : f32
  } -> tensor<32xf32>
  return %m4 : tensor<32xf32>
}

func.func @conv_f16(%x: tensor<1x18x18x8xf16>, %w: tensor<3x3x8x16xf16>) -> tensor<1x16x16x16xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x16x16x16xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x16x16x16xf16>) -> tensor<1x16x16x16xf16>
  %c = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%x, %w : tensor<1x18x18x8xf16>, tensor<3x3x8x16xf16>)
    outs(%f : tensor<1x16x16x16xf16>) -> tensor<1x16x16x16xf16>
  return %c : tensor<1x16x16x16xf16>
}
