/**
 * The functions and structures of libibverbs.
 *
 * <p>Classes named {@code ...Exports} hold exported symbols, classes named {@code ...Functions}
 * hold functions that C finds in a context, a completion queue or a queue pair. Both convert
 * arguments and follow the error conventions of C. Classes named {@code ...Object} stand behind a
 * native structure and do the work.
 */
@NullMarked
package org.jrdma.soft.roce.abi.verbs;

import org.jspecify.annotations.NullMarked;
