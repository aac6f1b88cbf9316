/**
 * What every verbs library and device must do, as JUnit classes: the kernel's software devices, the
 * software fabric and hardware run the same ones.
 *
 * <p>{@link org.jrdma.tck.verbs.Fabric} says what is tested, {@link org.jrdma.tck.verbs.Profile}
 * where a provider deviates from the specification, {@link org.jrdma.tck.verbs.Run} runs all of it
 * in one JVM.
 */
@NullMarked
package org.jrdma.tck.verbs;

import org.jspecify.annotations.NullMarked;
