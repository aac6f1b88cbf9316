/**
 * The verbs conformance kit: JUnit classes that test a library and a device. The same classes test
 * the software devices of the kernel, the software fabric and hardware.
 *
 * <p>{@link org.jrdma.tck.verbs.Fabric} is the test subject. {@link org.jrdma.tck.verbs.Profile}
 * lists the deviations of a provider from the specification. {@link org.jrdma.tck.verbs.KitMain}
 * runs all classes in one JVM.
 */
@NullMarked
package org.jrdma.tck.verbs;

import org.jspecify.annotations.NullMarked;
