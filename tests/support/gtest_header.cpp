// SPDX-License-Identifier: BSD-3-Clause
// The empty source of the target that precompiles the header of GoogleTest for all tests.
