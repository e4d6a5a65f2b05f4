// SPDX-License-Identifier: BSD-3-Clause
// MPI for one process, in builds without MPI (TRIREME_MPI=OFF): the functions that Trireme calls,
// with the meaning that the standard gives them on a communicator of one rank. The only rank never
// sends a message, since no other one has what it needs.
//
// All functions are inline C++, so that they do not meet the functions of an MPI that a program
// loads for itself.
#ifndef TRIREME_PARALLEL_ONE_PROCESS_MPI_H
#define TRIREME_PARALLEL_ONE_PROCESS_MPI_H

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

using MPI_Comm = int;
using MPI_Datatype = int;  // its size in bytes
using MPI_Op = int;
using MPI_Request = int;
using MPI_Info = int;
using MPI_Errhandler = int;
struct MPI_Status {};

inline constexpr MPI_Comm MPI_COMM_NULL = 0, MPI_COMM_WORLD = 1, MPI_COMM_SELF = 2;
inline constexpr int MPI_SUCCESS = 0;
inline constexpr int MPI_COMM_TYPE_SHARED = 0;
inline constexpr MPI_Info MPI_INFO_NULL = 0;
inline constexpr MPI_Errhandler MPI_ERRORS_RETURN = 0;
inline constexpr MPI_Request MPI_REQUEST_NULL = 0;
inline constexpr int MPI_THREAD_FUNNELED = 1, MPI_THREAD_MULTIPLE = 3;

inline constexpr MPI_Datatype MPI_DATATYPE_NULL = 0, MPI_BYTE = 1, MPI_CHAR = 1, MPI_C_BOOL = 1,
                              MPI_INT = 4, MPI_INT32_T = 4, MPI_INT64_T = 8, MPI_UINT64_T = 8,
                              MPI_FLOAT = 4, MPI_DOUBLE = 8, MPI_2INT = 8;
inline constexpr MPI_Op MPI_SUM = 0, MPI_MAX = 1, MPI_MIN = 2;

#define MPI_IN_PLACE (static_cast<void*>(nullptr))
#define MPI_STATUS_IGNORE (static_cast<MPI_Status*>(nullptr))
#define MPI_STATUSES_IGNORE (static_cast<MPI_Status*>(nullptr))

namespace trireme::one_process {

inline void copy(const void* from, std::size_t first_from, void* to, std::size_t first_to,
                 std::size_t count, MPI_Datatype type) {
  const auto size = static_cast<std::size_t>(type);
  if (from == MPI_IN_PLACE || count == 0) return;
  std::memcpy(static_cast<char*>(to) + first_to * size,
              static_cast<const char*>(from) + first_from * size, count * size);
}

inline int no_other_rank() {
  throw std::logic_error("a message between ranks in a build for one process");
}

}  // namespace trireme::one_process

inline int MPI_Init(int*, char***) { return MPI_SUCCESS; }
inline int MPI_Init_thread(int*, char***, int required, int* provided) {
  *provided = required;
  return MPI_SUCCESS;
}
inline int MPI_Initialized(int* flag) {
  *flag = 1;
  return MPI_SUCCESS;
}
inline int MPI_Finalize() { return MPI_SUCCESS; }
inline int MPI_Finalized(int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}
[[noreturn]] inline int MPI_Abort(MPI_Comm, int code) { std::_Exit(code); }

inline int MPI_Comm_rank(MPI_Comm, int* rank) {
  *rank = 0;
  return MPI_SUCCESS;
}
inline int MPI_Comm_size(MPI_Comm, int* size) {
  *size = 1;
  return MPI_SUCCESS;
}
inline int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  *copy = comm;
  return MPI_SUCCESS;
}
inline int MPI_Comm_split(MPI_Comm comm, int, int, MPI_Comm* part) {
  return MPI_Comm_dup(comm, part);
}
inline int MPI_Comm_split_type(MPI_Comm comm, int, int, MPI_Info, MPI_Comm* part) {
  return MPI_Comm_dup(comm, part);
}
inline int MPI_Comm_free(MPI_Comm* comm) {
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
inline int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler) { return MPI_SUCCESS; }

inline int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype* made) {
  *made = count * type;
  return MPI_SUCCESS;
}
inline int MPI_Type_commit(MPI_Datatype*) { return MPI_SUCCESS; }
inline int MPI_Type_free(MPI_Datatype* type) {
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

inline int MPI_Barrier(MPI_Comm) { return MPI_SUCCESS; }
inline int MPI_Ibarrier(MPI_Comm, MPI_Request*) { return MPI_SUCCESS; }
inline int MPI_Bcast(void*, int, MPI_Datatype, int, MPI_Comm) { return MPI_SUCCESS; }
inline int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op,
                         MPI_Comm) {
  trireme::one_process::copy(from, 0, to, 0, static_cast<std::size_t>(count), type);
  return MPI_SUCCESS;
}
inline int MPI_Exscan(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) {
  return MPI_SUCCESS;  // what rank 0 gets is not defined
}
inline int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int,
                         MPI_Datatype, MPI_Comm) {
  trireme::one_process::copy(from, 0, to, 0, static_cast<std::size_t>(count), type);
  return MPI_SUCCESS;
}
inline int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* to, const int*,
                          const int* starts, MPI_Datatype, MPI_Comm) {
  trireme::one_process::copy(from, 0, to, static_cast<std::size_t>(starts[0]),
                             static_cast<std::size_t>(count), type);
  return MPI_SUCCESS;
}
inline int MPI_Alltoall(const void* from, int count, MPI_Datatype type, void* to, int, MPI_Datatype,
                        MPI_Comm) {
  trireme::one_process::copy(from, 0, to, 0, static_cast<std::size_t>(count), type);
  return MPI_SUCCESS;
}
inline int MPI_Alltoallv(const void* from, const int* counts, const int* starts, MPI_Datatype type,
                         void* to, const int*, const int* starts_of_received, MPI_Datatype,
                         MPI_Comm) {
  trireme::one_process::copy(from, static_cast<std::size_t>(starts[0]), to,
                             static_cast<std::size_t>(starts_of_received[0]),
                             static_cast<std::size_t>(counts[0]), type);
  return MPI_SUCCESS;
}

inline int MPI_Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) {
  return trireme::one_process::no_other_rank();
}
inline int MPI_Irecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) {
  return trireme::one_process::no_other_rank();
}
inline int MPI_Send_init(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) {
  return trireme::one_process::no_other_rank();
}
inline int MPI_Recv_init(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) {
  return trireme::one_process::no_other_rank();
}
inline int MPI_Startall(int, MPI_Request*) { return MPI_SUCCESS; }
inline int MPI_Waitall(int, MPI_Request*, MPI_Status*) { return MPI_SUCCESS; }
inline int MPI_Test(MPI_Request*, int* done, MPI_Status*) {
  *done = 1;
  return MPI_SUCCESS;
}
inline int MPI_Request_free(MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

#endif
