/* SPDX-License-Identifier: BSD-3-Clause */
/* The version of Trireme that these headers belong to. */
#ifndef TRIREME_VERSION_H
#define TRIREME_VERSION_H

#define TRIREME_VERSION_MAJOR 0
#define TRIREME_VERSION_MINOR 2
#define TRIREME_VERSION_PATCH 0
#define TRIREME_VERSION "0.2.0"

/* True where the headers are of version major.minor.patch or newer. */
#define TRIREME_VERSION_GE(major, minor, patch) \
  (TRIREME_VERSION_MAJOR > (major) ||           \
   (TRIREME_VERSION_MAJOR == (major) &&         \
    (TRIREME_VERSION_MINOR > (minor) ||         \
     (TRIREME_VERSION_MINOR == (minor) && TRIREME_VERSION_PATCH >= (patch)))))

#endif
