package org.jrdma.soft.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.jrdma.soft.roce.SoftDevice;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test on RDMA devices in software, which are there for this test alone, on a network as good or
 * bad as it says.
 *
 * <pre>{@code
 * @SoftFabricTest(devices = 2, loss = 0.05, seed = 1)
 * void shouldArriveOverABadNetwork(Device here, Device there) { ... }
 * }</pre>
 *
 * <p>On a method, it makes that a test, which can be of no other kind besides. On a class, it is
 * for all tests in it, of whichever kind: parameterized and repeated ones too. A test method, and
 * one to run before or after each test, can take as parameters
 *
 * <ul>
 *   <li>{@link Device}: the first is {@code soft0}, the second {@code soft1}, and so on. They are
 *       closed after the test.
 *   <li>{@link SoftDevice}: the same devices, to pull their cables, to watch their packets and to
 *       change the network.
 *   <li>{@link Verbs}: the library that has them, for code that opens devices itself.
 * </ul>
 *
 * <p>A test that leaves anything open that it made fails and names it; {@code -Djrdma.leaks=trace}
 * adds where each was made. It may leave open what it was given.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Test
@ExtendWith(SoftFabricExtension.class)
@SuppressWarnings("exports") // the extension is for JUnit alone, which the module is open to
public @interface SoftFabricTest {

    /** How many devices there are, 1 to 254. They reach each other. */
    int devices() default 1;

    /**
     * How probable it is of a packet that it never arrives, 0 to 1, as the others below; see {@link
     * NetworkFaults}.
     */
    double loss() default 0;

    /** That it arrives twice. */
    double duplication() default 0;

    /** That a few later ones overtake it. */
    double reordering() default 0;

    /** That it arrives damaged, and is dropped by its receiver. */
    double corruption() default 0;

    /** That it is late. */
    double delay() default 0;

    /** How late, in milliseconds, 0 to {@link Integer#MAX_VALUE}. */
    long latenessMillis() default 1;

    /** Where the network's decisions come from: the same for the same packets in the same order. */
    long seed() default 0;
}
