/**
 * The common parts of the libibverbs and librdmacm implementations: symbols for annotated Java
 * methods, error conventions, native structures with their Java objects, and device limits.
 */
@NullMarked
package org.jrdma.soft.roce.abi;

import org.jspecify.annotations.NullMarked;
