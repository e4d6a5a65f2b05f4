# The CMakeLists.txt of the consumer: what a user of the installed library writes.
cmake_minimum_required(VERSION 3.25)
project(Consumer LANGUAGES C CXX)
find_package(Trireme REQUIRED)
add_executable(consumer consumer.cpp)
target_link_libraries(consumer PRIVATE Trireme::petsc)
