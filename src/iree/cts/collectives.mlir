// What four processes do together: each adds its number to what it is given, so that results tell who sent what.
!one = tensor<4xf32>
!all = tensor<16xf32>
#channel = #stablehlo.channel_handle<handle = 1, type = 1>
module @collectives {
  func.func @all(%given : !one) -> (!one, !all, !all, !all) {
    %id = stablehlo.replica_id : tensor<ui32>
    %number = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
    %numbers = stablehlo.broadcast_in_dim %number, dims = [] : (tensor<f32>) -> !one
    %mine = stablehlo.add %given, %numbers : !one
    %sum = "stablehlo.all_reduce"(%mine) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
    }) {channel_handle = #channel, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
        use_global_device_ids} : (!one) -> !one
    %gathered = "stablehlo.all_gather"(%mine) {all_gather_dim = 0 : i64, channel_handle = #channel,
        replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids} : (!one) -> !all
    // A quarter of the sum of what all have gathered is four times what the process had.
    %quarter = "stablehlo.reduce_scatter"(%gathered) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
    }) {scatter_dimension = 0 : i64, channel_handle = #channel, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
        use_global_device_ids} : (!all) -> !one
    %exchanged = "stablehlo.all_to_all"(%quarter) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64,
        channel_handle = #channel, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (!one) -> !one
    %turned = "stablehlo.collective_permute"(%mine) {
        source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>, channel_handle = #channel} : (!one) -> !one
    %all_exchanged = "stablehlo.all_gather"(%exchanged) {all_gather_dim = 0 : i64, channel_handle = #channel,
        replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids} : (!one) -> !all
    %all_turned = "stablehlo.all_gather"(%turned) {all_gather_dim = 0 : i64, channel_handle = #channel,
        replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids} : (!one) -> !all
    return %sum, %gathered, %all_exchanged, %all_turned : !one, !all, !all, !all
  }
}
