// SPDX-License-Identifier: BSD-3-Clause
// The functions of AIJ that the type replaces, and its registration and conversion.
#include "petsc/mat/mat_trireme.hpp"

#include <fmt/format.h>
#include <trireme/petsc.h>

#include <algorithm>
#include <string>

#include "petsc/composed.hpp"
#include "petsc/mat/found_by_name.hpp"
#include "petsc/mat/mat_trireme_options.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/vec_product.hpp"

namespace trireme {
namespace {

constexpr const char* kData = "TriremeData";  // the composed object

// The functions of AIJ that ours replace and call.
struct AijFunctions {
  PetscErrorCode (*mult)(Mat, Vec, Vec) = nullptr;
  PetscErrorCode (*mult_add)(Mat, Vec, Vec, Vec) = nullptr;
  PetscErrorCode (*duplicate)(Mat, MatDuplicateOption, Mat*) = nullptr;
  PetscErrorCode (*view)(Mat, PetscViewer) = nullptr;
  PetscErrorCode (*set_from_options)(Mat, OptionItems) = nullptr;
  PetscErrorCode (*destroy)(Mat) = nullptr;
  TransposeSymbolic transpose_symbolic = nullptr;
};

// Calls visit(operation, member) for each of them that MatOperation names.
template <class Functions, class Visit>
void for_each_operation(Functions& functions, Visit&& visit) {
  visit(MATOP_MULT, functions.mult);
  visit(MATOP_MULT_ADD, functions.mult_add);
  visit(MATOP_DUPLICATE, functions.duplicate);
  visit(MATOP_VIEW, functions.view);
  visit(MATOP_SET_FROM_OPTIONS, functions.set_from_options);
  visit(MATOP_DESTROY, functions.destroy);
}

struct TriremeData {
  AijFunctions aij;
  AijProducts products;
  VecHandle sum;  // of MatMultAdd, made at its first use
};

bool is_parallel(Mat mat) {
  PetscOperation preallocate = nullptr;  // the type's name is lost while the matrix is destroyed
  petsc_check(
      PetscObjectQueryFunction(object_of(mat), "MatMPIAIJSetPreallocation_C", &preallocate));
  return preallocate != nullptr;
}

AijFunctions functions_of(Mat mat) {
  AijFunctions functions;
  for_each_operation(functions, [&](MatOperation operation, auto& member) {
    PetscOperation function = nullptr;
    petsc_check(MatGetOperation(mat, operation, &function));
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(function);
  });
  functions.transpose_symbolic = exchange_transpose_symbolic(mat, nullptr);
  exchange_transpose_symbolic(mat, functions.transpose_symbolic);
  return functions;
}

// The functions of an AIJ matrix that nobody has changed.
AijFunctions functions_of_aij(MPI_Comm comm, bool parallel) {
  MatHandle aij;
  petsc_check(MatCreate(comm, aij.put()));
  petsc_check(MatSetType(aij, parallel ? MATMPIAIJ : MATSEQAIJ));
  return functions_of(aij);
}

void attach_data(Mat mat, const AijFunctions& aij) {
  auto data = std::make_unique<TriremeData>();
  data->aij = aij;
  compose(object_of(mat), kData, std::move(data));
}

std::string type_name(bool parallel) { return parallel ? MATMPIAIJTRIREME : MATSEQAIJTRIREME; }
std::string aij_name(bool parallel) { return parallel ? MATMPIAIJ : MATSEQAIJ; }

void compose_functions(Mat mat, bool parallel);

// MatHeaderMerge gives a matrix the content of another one and leaves it its functions. Where that
// other one was a plain AIJ matrix, the data are made anew.
TriremeData& trireme_data(Mat mat) {
  if (auto* data = composed<TriremeData>(object_of(mat), kData)) return *data;
  const bool parallel = is_parallel(mat);
  attach_data(mat, functions_of_aij(comm_of(mat), parallel));
  compose_functions(mat, parallel);
  return *composed<TriremeData>(object_of(mat), kData);
}

const std::shared_ptr<Operator>& operator_for_product(Mat mat, TriremeData& data) {
  read_missing_options(mat, data.products);
  return data.products.operator_for(mat, AijProducts::Caller::mat_mult);
}

PetscErrorCode mat_mult(Mat mat, Vec x, Vec y) {
  return petsc_guard(comm_of(mat), [&] {
    TriremeData& data = trireme_data(mat);
    if (const auto& op = operator_for_product(mat, data))
      multiply(*op, x, y, ProductOf::exact_matrix);
    else
      petsc_check(data.aij.mult(mat, x, y));
  });
}

// sum = addend + A x, where sum and addend may be the same vector.
PetscErrorCode mat_mult_add(Mat mat, Vec x, Vec addend, Vec sum) {
  return petsc_guard(comm_of(mat), [&] {
    TriremeData& data = trireme_data(mat);
    const auto& op = operator_for_product(mat, data);
    if (!op) {
      petsc_check(data.aij.mult_add(mat, x, addend, sum));
    } else if (sum != addend) {
      multiply(*op, x, sum, ProductOf::exact_matrix);
      petsc_check(VecAXPY(sum, 1, addend));
    } else {
      if (!data.sum) petsc_check(VecDuplicate(sum, data.sum.put()));
      multiply(*op, x, data.sum, ProductOf::exact_matrix);
      petsc_check(VecAXPY(sum, 1, data.sum));
    }
  });
}

PetscErrorCode mat_duplicate(Mat mat, MatDuplicateOption option, Mat* copy) {
  return petsc_guard(comm_of(mat), [&] {
    TriremeData& data = trireme_data(mat);
    read_missing_options(mat, data.products);
    petsc_check(data.aij.duplicate(mat, option, copy));  // of this type
    AijProducts& of_copy = trireme_data(*copy).products;
    of_copy.set(data.products.settings());
    of_copy.options_read = true;
  });
}

std::string description(Mat mat, const AijProducts& products) {
  const ProductSettings& asked = products.settings();
  const std::string wishes =
      fmt::format("kernel {}, device {}, precision {}", asked.kernel.value_or("auto"),
                  word_of(asked.device.value_or(WantedDevice::automatic)),
                  word_of(asked.precision.value_or(Precision::full)));
  if (!split_alike(mat))
    return "products by AIJ itself: the matrix is not square, or rows and columns are split "
           "differently";
  const Operator* op = products.current();
  if (!op) return fmt::format("Trireme: {}; not built yet", wishes);
  return fmt::format(
      "Trireme: kernel {} on {}; asked for: {}\n"
      "Trireme: builds {}, updates of values {}, products since the last build {}",
      op->kernel(), products.on_gpu() ? "the GPU" : "the CPU", wishes, products.builds(),
      products.updates(), products.products_since_build());
}

PetscErrorCode mat_view(Mat mat, PetscViewer viewer) {
  return petsc_guard(comm_of(mat), [&] {
    TriremeData& data = trireme_data(mat);
    PetscBool ascii = PETSC_FALSE;
    petsc_check(
        PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
    PetscViewerFormat format = PETSC_VIEWER_DEFAULT;
    petsc_check(PetscViewerGetFormat(viewer, &format));
    if (ascii && (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL)) {
      read_missing_options(mat, data.products);
      const std::string text = description(mat, data.products);
      for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        petsc_check(
            PetscViewerASCIIPrintf(viewer, "%s\n", text.substr(begin, end - begin).c_str()));
        begin = end + 1;
      }
    }
    petsc_check(data.aij.view(mat, viewer));
  });
}

PetscErrorCode mat_set_from_options(Mat mat, OptionItems items) {
  return petsc_guard(comm_of(mat), [&] {
    TriremeData& data = trireme_data(mat);
    if (data.aij.set_from_options) petsc_check(data.aij.set_from_options(mat, items));
    set_products(mat, settings_from_options(items, data.products.settings()));
  });
}

PetscErrorCode mat_destroy(Mat mat);
PetscErrorCode pattern_of_transpose(Mat mat, Mat* transpose);

constexpr AijFunctions kFunctions = {
    mat_mult,    mat_mult_add,        mat_duplicate, mat_view, mat_set_from_options,
    mat_destroy, pattern_of_transpose};

void install_functions(Mat mat, const AijFunctions& functions) {
  for_each_operation(functions, [&](MatOperation operation, const auto& function) {
    petsc_check(MatSetOperation(mat, operation, petsc_operation(function)));
  });
  exchange_transpose_symbolic(mat, functions.transpose_symbolic);
}

PetscErrorCode from_aij(Mat from, MatType type, MatReuse reuse, Mat* to);
PetscErrorCode from_any(Mat from, MatType type, MatReuse reuse, Mat* to);
PetscErrorCode to_aij(Mat from, MatType type, MatReuse reuse, Mat* to);
PetscErrorCode to_itself(Mat from, MatType type, MatReuse reuse, Mat* to);

// Calls visit(name, function) for each function that is composed with a Mat of the type; PETSc
// finds these functions by their names.
template <class Visit>
void for_each_composed(Mat mat, bool parallel, Visit&& visit) {
  const std::string type = type_name(parallel), aij = aij_name(parallel);
  for (const std::string& target : {type, std::string(MATTRIREME)})
    for (const char* source : {MATSEQAIJ, MATMPIAIJ})
      visit(fmt::format("MatConvert_{}_{}_C", source, target), petsc_operation(from_aij));
  visit(fmt::format("MatConvert_{}_{}_C", type, aij), petsc_operation(to_aij));
  visit(fmt::format("MatConvert_{}_{}_C", type, MATTRIREME), petsc_operation(to_itself));
  for (const NamedFunction& conversion : conversions_of(mat, aij, type))
    visit(conversion.name, conversion.function);
  visit(kProductOfAnyType, petsc_operation(prepare_product));
}

void compose_functions(Mat mat, bool parallel) {
  for_each_composed(mat, parallel, [&](const std::string& name, PetscOperation function) {
    petsc_check(PetscObjectComposeFunction(object_of(mat), name.c_str(), function));
  });
}

void remove_functions(Mat mat, bool parallel) {
  for_each_composed(mat, parallel, [&](const std::string& name, PetscOperation) {
    petsc_check(PetscObjectComposeFunction(object_of(mat), name.c_str(), PetscOperation{nullptr}));
  });
}

// An AIJ matrix becomes one of the type.
void take_over(Mat mat) {
  const bool parallel = is_parallel(mat);
  attach_data(mat, functions_of(mat));
  install_functions(mat, kFunctions);
  petsc_check(MatSetOperation(mat, MATOP_CONVERT_FROM, petsc_operation(from_any)));
  compose_functions(mat, parallel);
  petsc_check(PetscObjectChangeTypeName(object_of(mat), type_name(parallel).c_str()));
}

// A matrix of the type becomes AIJ again.
void give_back(Mat mat) {
  const bool parallel = is_parallel(mat);
  const AijFunctions aij = trireme_data(mat).aij;
  install_functions(mat, aij);
  petsc_check(MatSetOperation(mat, MATOP_CONVERT_FROM, PetscOperation{nullptr}));
  remove_functions(mat, parallel);
  petsc_check(PetscObjectCompose(object_of(mat), kData, nullptr));
  petsc_check(PetscObjectChangeTypeName(object_of(mat), aij_name(parallel).c_str()));
}

PetscErrorCode mat_destroy(Mat mat) {
  return petsc_guard(comm_of(mat), [&] {
    const AijFunctions aij = trireme_data(mat).aij;
    remove_functions(mat, is_parallel(mat));
    petsc_check(PetscObjectCompose(object_of(mat), kData, nullptr));
    petsc_check(aij.destroy(mat));
  });
}

// Of type AIJ: AIJ's product A B^T sets the type of the transpose of B to that of A, and where that
// is AIJ, PETSc empties a matrix of this type.
PetscErrorCode pattern_of_transpose(Mat mat, Mat* transpose) {
  return petsc_guard(comm_of(mat), [&] {
    petsc_check(trireme_data(mat).aij.transpose_symbolic(mat, transpose));
    if (is_trireme(*transpose)) give_back(*transpose);
  });
}

PetscErrorCode from_aij(Mat from, MatType, MatReuse reuse, Mat* to) {
  return petsc_guard(comm_of(from), [&] {
    if (reuse == MAT_REUSE_MATRIX) {
      petsc_check(MatCopy(from, *to, DIFFERENT_NONZERO_PATTERN));
      return;
    }
    if (reuse == MAT_INITIAL_MATRIX) petsc_check(MatDuplicate(from, MAT_COPY_VALUES, to));
    take_over(*to);
  });
}

// By way of AIJ.
PetscErrorCode from_any(Mat from, MatType, MatReuse reuse, Mat* to) {
  return petsc_guard(comm_of(from), [&] {
    if (reuse == MAT_REUSE_MATRIX) {
      MatHandle aij;
      petsc_check(MatConvert(from, MATAIJ, MAT_INITIAL_MATRIX, aij.put()));
      petsc_check(MatCopy(aij, *to, DIFFERENT_NONZERO_PATTERN));
      return;
    }
    petsc_check(MatConvert(from, MATAIJ, reuse, to));
    petsc_check(MatConvert(*to, MATTRIREME, MAT_INPLACE_MATRIX, to));
  });
}

PetscErrorCode to_aij(Mat from, MatType, MatReuse reuse, Mat* to) {
  return petsc_guard(comm_of(from), [&] {
    if (reuse == MAT_REUSE_MATRIX) {
      petsc_check(MatCopy(from, *to, DIFFERENT_NONZERO_PATTERN));
      return;
    }
    if (reuse == MAT_INITIAL_MATRIX) petsc_check(MatDuplicate(from, MAT_COPY_VALUES, to));
    give_back(*to);
  });
}

PetscErrorCode to_itself(Mat from, MatType, MatReuse reuse, Mat* to) {
  return petsc_guard(comm_of(from), [&] {
    if (reuse == MAT_INITIAL_MATRIX) petsc_check(MatDuplicate(from, MAT_COPY_VALUES, to));
    if (reuse == MAT_REUSE_MATRIX) petsc_check(MatCopy(from, *to, DIFFERENT_NONZERO_PATTERN));
  });
}

PetscErrorCode mat_create(Mat mat, MatType aij) {
  return petsc_guard(comm_of(mat), [&] {
    petsc_check(MatSetType(mat, aij));
    take_over(mat);
  });
}
PetscErrorCode create_sequential(Mat mat) { return mat_create(mat, MATSEQAIJ); }
PetscErrorCode create_parallel(Mat mat) { return mat_create(mat, MATMPIAIJ); }

}  // namespace

void register_mat_types() {
  petsc_check(MatInitializePackage());
  PetscErrorCode (*known)(Mat) = nullptr;
  petsc_check(PetscFunctionListFind(MatList, MATSEQAIJTRIREME, &known));
  if (known) return;
  petsc_check(MatRegisterRootName(MATTRIREME, MATSEQAIJTRIREME, MATMPIAIJTRIREME));
  petsc_check(MatRegister(MATSEQAIJTRIREME, create_sequential));
  petsc_check(MatRegister(MATMPIAIJTRIREME, create_parallel));
}

bool is_trireme(Mat mat) {
  PetscBool same = PETSC_FALSE;
  petsc_check(PetscObjectTypeCompareAny(object_of(mat), &same, MATSEQAIJTRIREME, MATMPIAIJTRIREME,
                                        nullptr));
  return same == PETSC_TRUE;
}

AijProducts& products_of(Mat mat) { return trireme_data(mat).products; }

void set_products(Mat mat, const ProductSettings& settings) {
  if (!trireme_data(mat).products.set(settings)) return;
#if defined(PETSC_HAVE_CUDA) && defined(TRIREME_WITH_CUDA)
  if (settings.device == WantedDevice::cuda) petsc_check(MatSetVecType(mat, VECCUDA));
#endif
  note_change(mat);  // a KSP prepares itself anew
}

std::shared_ptr<Operator> trireme_operator(Mat mat, AijProducts::Caller caller) {
  if (!is_trireme(mat)) return nullptr;
  AijProducts& products = products_of(mat);
  read_missing_options(mat, products);
  return products.operator_for(mat, caller);
}

std::shared_ptr<DistributedMatrix> trireme_matrix(Mat mat) {
  if (!is_trireme(mat)) return nullptr;
  const auto& op = operator_for_product(mat, trireme_data(mat));
  return op ? op->shared_matrix() : nullptr;
}

}  // namespace trireme
