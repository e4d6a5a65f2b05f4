# The CMakeLists.txt of the consumer: what a user of the installed library writes.
cmake_minimum_required(VERSION 3.25)
project(Consumer LANGUAGES C CXX)
find_package(Trireme 0.2 REQUIRED)
add_executable(consumer consumer.c)
target_link_libraries(consumer PRIVATE Trireme::petsc)

add_executable(core core.cpp)
target_link_libraries(core PRIVATE Trireme::core)
