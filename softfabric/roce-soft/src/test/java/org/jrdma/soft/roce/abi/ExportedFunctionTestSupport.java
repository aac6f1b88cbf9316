package org.jrdma.soft.roce.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.SecureRandom;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.soft.roce.abi.verbs.DeviceObject;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.model.NetworkFaults;

/** Support for tests that call the exported functions as a C program does. */
public final class ExportedFunctionTestSupport {

    private ExportedFunctionTestSupport() {}

    /** Creates a device at the first free one of many loopback addresses. */
    public static DeviceObject newDevice() {
        var candidates =
                IntStream.rangeClosed(1, 254)
                        .mapToObj(host -> RoceGid.ipv4(127 << 24 | 77 << 8 | host))
                        .toList();
        return new DeviceObject(
                "soft", candidates, NetworkFaults.NONE, null, true, new SecureRandom());
    }

    /** Asserts that a call fails with an error code. */
    public static void assertRejected(int errno, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        ErrnoException.class,
                        exception -> assertThat(exception.errno()).isEqualTo(errno));
    }
}
