/**
 * The functions and structures of librdmacm: event channels, identifiers, address resolution,
 * connection establishment, SIDR and multicast.
 */
@NullMarked
package org.jrdma.soft.roce.abi.cm;

import org.jspecify.annotations.NullMarked;
