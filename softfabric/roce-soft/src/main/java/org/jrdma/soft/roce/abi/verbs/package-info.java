/**
 * The functions and structures of libibverbs.
 *
 * <p>Classes named {@code ...Exports} contain exported symbols. Classes named {@code ...Functions}
 * contain functions that C calls through pointers in a context, a completion queue or a queue pair.
 * Both convert arguments and follow the error conventions of C. Classes named {@code ...Object}
 * implement a native structure.
 */
@NullMarked
package org.jrdma.soft.roce.abi.verbs;

import org.jspecify.annotations.NullMarked;
