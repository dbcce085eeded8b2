# The two wheels that we build against, found through the Python that builds us.
find_package(Python COMPONENTS Interpreter REQUIRED)

execute_process(
  COMMAND "${Python_EXECUTABLE}" -m tvm_ffi.config --cmakedir
  OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE tvm_ffi_ROOT COMMAND_ERROR_IS_FATAL ANY)
find_package(tvm_ffi CONFIG REQUIRED)

# The shared library only, located without importing the package.
execute_process(
  COMMAND "${Python_EXECUTABLE}" -c
    "import importlib.util as u, os; print(os.path.join(os.path.dirname(u.find_spec('tvm').origin), 'lib'))"
  OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE TVM_LIB_DIR COMMAND_ERROR_IS_FATAL ANY)
add_library(tvm_compiler SHARED IMPORTED)
set_target_properties(tvm_compiler PROPERTIES IMPORTED_LOCATION "${TVM_LIB_DIR}/libtvm_compiler.so")
