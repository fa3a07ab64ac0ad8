module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x2xf32>, %arg1: tensor<5x3xf32>) -> (tensor<5x2xf32> {jax.result_info = "['aux'][0]"}, tensor<5x2xi1> {jax.result_info = "['aux'][1][0]"}, tensor<f32> {jax.result_info = "['loss']"}) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
    %2 = stablehlo.subtract %0, %1 : tensor<5x2xf32>
    %3 = stablehlo.multiply %2, %2 : tensor<5x2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x2xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %5 = stablehlo.divide %4, %cst_1 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
    %7 = stablehlo.compare GT, %2, %6, FLOAT : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x2xi1>
    return %2, %7, %5 : tensor<5x2xf32>, tensor<5x2xi1>, tensor<f32>
  }
}
