// Emitted sources include <cuda.h> for declarations of the driver, which kernels do not use.
#pragma once
