/**
 * What C sees of the fabric: the functions of libibverbs as stubs that C can call, and its
 * structures with a Java object behind each.
 *
 * <p>The {@code …Exports} hold the functions: they take what C passes, find the objects, and keep
 * C's conventions. The {@code …Object}s do the work.
 */
@NullMarked
package org.jrdma.soft.roce.abi;

import org.jspecify.annotations.NullMarked;
