/**
 * The common parts of the implementations of libibverbs and librdmacm: C function pointers for
 * annotated Java methods, error conventions, native structures that belong to Java objects, and
 * device limits.
 */
@NullMarked
package org.jrdma.soft.roce.abi;

import org.jspecify.annotations.NullMarked;
