/**
 * Calls the C functions of libibverbs and librdmacm. Each class links one part of a library and
 * states the signatures and the error conventions of its functions. The package contains no policy
 * and is not exported.
 */
@NullMarked
package org.jrdma.verbs.internal;

import org.jspecify.annotations.NullMarked;
