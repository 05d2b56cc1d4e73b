/* The version of dav1d's interface. */
#ifndef DAV1D_VERSION_H
#define DAV1D_VERSION_H

#define DAV1D_API_VERSION_MAJOR 7
#define DAV1D_API_VERSION_MINOR 0
#define DAV1D_API_VERSION_PATCH 0

#endif
