/**
 * What the functions of libibverbs and librdmacm share: symbols made from annotated Java methods,
 * error conventions, native structures with the Java objects behind them, and device limits.
 */
@NullMarked
package org.jrdma.soft.roce.abi;

import org.jspecify.annotations.NullMarked;
