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
 * Runs a test with software RDMA devices that exist only for this test, on a network with the given
 * faults.
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
 *   <li>{@link Device}: the devices, in the order {@code soft0}, {@code soft1} and so on. They are
 *       closed after the test.
 *   <li>{@link InetAddress}: the IP addresses of these devices in the same order, for listeners and
 *       connections.
 *   <li>{@link SoftDevice}: the software side of these devices in the same order, to unplug cables,
 *       trace packets and change the faults of the network.
 *   <li>{@link Verbs}: the library of the devices, for code that opens devices itself.
 *   <li>{@link ConnectionManager}: the connection manager of the devices, for code that connects by
 *       address with rdma_cm or {@link RdmaChannel}.
 * </ul>
 *
 * <p>A test that leaves an object open that it created fails, and the failure names the object.
 * With {@code -Djrdma.leaks=trace}, the failure also has the stack trace of the creation. Tests
 * need not close injected objects.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Test
@ExtendWith(SoftFabricExtension.class)
@SuppressWarnings("exports") // only JUnit uses the extension, and the module is open to JUnit
public @interface SoftFabricTest {

    /** The number of devices, from 1 to 254. All devices are on the same network. */
    int devices() default 1;

    /** The probability that a packet is lost, from 0 to 1; see {@link NetworkFaults}. */
    double loss() default 0;

    /** The probability that a packet arrives twice, from 0 to 1. */
    double duplication() default 0;

    /** The probability that a packet arrives after a few later packets, from 0 to 1. */
    double reordering() default 0;

    /** The probability that a packet is corrupted and dropped by the receiver, from 0 to 1. */
    double corruption() default 0;

    /** The probability that a packet is delayed, from 0 to 1. */
    double delay() default 0;

    /** The delay of a delayed packet in milliseconds, from 0 to {@link Integer#MAX_VALUE}. */
    long delayMillis() default 1;

    /**
     * The seed of the random faults. The same seed and the same sequence of packets cause the same
     * faults.
     */
    long seed() default 0;
}
