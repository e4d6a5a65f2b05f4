// SPDX-License-Identifier: BSD-3-Clause
// The empty source of the target that precompiles headers for all tests.
