module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f32>) -> (tensor<1000000xf32> {jax.result_info = ""}) {
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<1000000xf32>
    %0 = stablehlo.convert %arg0 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1000000xf32>
    %2 = stablehlo.add %cst, %1 : tensor<1000000xf32>
    return %2 : tensor<1000000xf32>
  }
}
