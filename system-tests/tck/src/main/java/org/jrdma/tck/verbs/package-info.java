/**
 * The verbs conformance kit: JUnit classes for every library and device. The kernel's software
 * devices, the software fabric and hardware run the same classes.
 *
 * <p>{@link org.jrdma.tck.verbs.Fabric} is the test subject, {@link org.jrdma.tck.verbs.Profile}
 * lists the deviations of a provider from the specification, and {@link org.jrdma.tck.verbs.Run}
 * runs all classes in one JVM.
 */
@NullMarked
package org.jrdma.tck.verbs;

import org.jspecify.annotations.NullMarked;
