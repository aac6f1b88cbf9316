package org.jrdma.soft.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.net.InetAddress;
import org.jrdma.soft.roce.SoftDevice;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.RdmaChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs a test on RDMA devices in software that exist for this test only, on a network with the
 * given faults.
 *
 * <pre>{@code
 * @SoftFabricTest(devices = 2, loss = 0.05, seed = 1)
 * void shouldArriveOverALossyNetwork(Device sender, Device receiver) { ... }
 * }</pre>
 *
 * <p>On a method, this annotation replaces {@code @Test} and cannot be combined with another kind
 * of test. On a class, it applies to all tests of the class, parameterized and repeated ones
 * included. Test methods, {@code @BeforeEach} methods and {@code @AfterEach} methods can declare
 * parameters of these types:
 *
 * <ul>
 *   <li>{@link Device}: the first such parameter is {@code soft0}, the second {@code soft1}, and so
 *       on. They are closed after the test.
 *   <li>{@link InetAddress}: the IP addresses of the same devices, in the same order, to listen at
 *       and to connect to.
 *   <li>{@link SoftDevice}: the same devices, to unplug their cables, to trace their packets and to
 *       change the faults of the network.
 *   <li>{@link Verbs}: the library that offers the devices, for code that opens devices itself.
 *   <li>{@link ConnectionManager}: connects these devices by address, for code on rdma_cm and for
 *       {@link RdmaChannel}.
 * </ul>
 *
 * <p>A test that leaves an object open that it created fails, and the failure names the object;
 * {@code -Djrdma.leaks=trace} adds where it was created. Injected objects need no closing.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Test
@ExtendWith(SoftFabricExtension.class)
@SuppressWarnings("exports") // the extension is for JUnit alone, which the module is open to
public @interface SoftFabricTest {

    /** The number of devices, 1 to 254. Each of them can reach the others. */
    int devices() default 1;

    /** The probability that a packet is lost, 0 to 1; see {@link NetworkFaults}. */
    double loss() default 0;

    /** The probability that a packet arrives twice, 0 to 1. */
    double duplication() default 0;

    /** The probability that a packet is overtaken by a few later ones, 0 to 1. */
    double reordering() default 0;

    /** The probability that a packet arrives damaged and is dropped by its receiver, 0 to 1. */
    double corruption() default 0;

    /** The probability that a packet is delayed, 0 to 1. */
    double delay() default 0;

    /** The delay of a delayed packet in milliseconds, 0 to {@link Integer#MAX_VALUE}. */
    long latenessMillis() default 1;

    /**
     * The seed of the network's decisions, which are the same for the same packets in the same
     * order.
     */
    long seed() default 0;
}
