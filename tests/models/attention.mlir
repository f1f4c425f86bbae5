// SPDX-License-Identifier: MIT
//
// One attention block of 4 heads over 64 positions of width 32: scores, softmax, mix, and a
// normalisation by the root mean square; and the scores of 16-bit values.
func.func @attention(%q: tensor<4x64x32xf32>, %k: tensor<4x64x32xf32>, %v: tensor<4x64x32xf32>)
    -> tensor<4x64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.17677669 : f32
  %width = arith.constant 32.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %es = tensor.empty() : tensor<4x64x64xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %scores = linalg.generic {
    indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>,
                     affine_map<(h, i, j, d) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<4x64x32xf32>, tensor<4x64x32xf32>) outs(%fs : tensor<4x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x64x64xf32>
  %er = tensor.empty() : tensor<4x64xf32>
  %fm = linalg.fill ins(%low : f32) outs(%er : tensor<4x64xf32>) -> tensor<4x64xf32>
  %max = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%scores : tensor<4x64x64xf32>) outs(%fm : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<4x64xf32>
  %exps = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>,
                     affine_map<(h, i, j) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%scores, %max : tensor<4x64x64xf32>, tensor<4x64xf32>) outs(%es : tensor<4x64x64xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %t = arith.mulf %d, %scale : f32
    %e = math.exp %t : f32
    linalg.yield %e : f32
  } -> tensor<4x64x64xf32>
  %ft = linalg.fill ins(%zero : f32) outs(%er : tensor<4x64xf32>) -> tensor<4x64xf32>
  %total = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%exps : tensor<4x64x64xf32>) outs(%ft : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  %eo = tensor.empty() : tensor<4x64x32xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  %mix = linalg.batch_matmul ins(%exps, %v : tensor<4x64x64xf32>, tensor<4x64x32xf32>)
                             outs(%fo : tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  %out = linalg.generic {
    indexing_maps = [affine_map<(h, i, d) -> (h, i, d)>, affine_map<(h, i, d) -> (h, i)>,
                     affine_map<(h, i, d) -> (h, i, d)>],
    iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%mix, %total : tensor<4x64x32xf32>, tensor<4x64xf32>) outs(%eo : tensor<4x64x32xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %r = arith.divf %a, %t : f32
    linalg.yield %r : f32
  } -> tensor<4x64x32xf32>
  %fq = linalg.fill ins(%zero : f32) outs(%er : tensor<4x64xf32>) -> tensor<4x64xf32>
  %squares = linalg.generic {
    indexing_maps = [affine_map<(h, i, d) -> (h, i, d)>, affine_map<(h, i, d) -> (h, i)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%out : tensor<4x64x32xf32>) outs(%fq : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  %normal = linalg.generic {
    indexing_maps = [affine_map<(h, i, d) -> (h, i, d)>, affine_map<(h, i, d) -> (h, i)>,
                     affine_map<(h, i, d) -> (h, i, d)>],
    iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%out, %squares : tensor<4x64x32xf32>, tensor<4x64xf32>) outs(%eo : tensor<4x64x32xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %m = arith.divf %t, %width : f32
    %n = arith.addf %m, %eps : f32
    %r = math.rsqrt %n : f32
    %y = arith.mulf %a, %r : f32
    linalg.yield %y : f32
  } -> tensor<4x64x32xf32>
  return %normal : tensor<4x64x32xf32>
}

func.func @scores_f16(%q: tensor<4x64x32xf16>, %k: tensor<4x32x64xf16>) -> tensor<4x64x64xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4x64x64xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<4x64x64xf16>) -> tensor<4x64x64xf16>
  %s = linalg.batch_matmul ins(%q, %k : tensor<4x64x32xf16>, tensor<4x32x64xf16>)
                           outs(%f : tensor<4x64x64xf16>) -> tensor<4x64x64xf16>
  return %s : tensor<4x64x64xf16>
}
