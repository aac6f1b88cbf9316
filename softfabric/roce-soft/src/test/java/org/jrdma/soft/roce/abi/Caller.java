package org.jrdma.soft.roce.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.SecureRandom;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.soft.roce.abi.verbs.DeviceObject;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.model.NetworkFaults;

/** Support for tests that call the functions as a C program would. */
public final class Caller {

    private Caller() {}

    /** Creates a device at the first free one of many addresses. */
    public static DeviceObject newDevice() {
        var anywhere =
                IntStream.rangeClosed(1, 254)
                        .mapToObj(host -> Address.ipv4(127 << 24 | 77 << 8 | host))
                        .toList();
        return new DeviceObject("soft", anywhere, NetworkFaults.NONE, null, new SecureRandom());
    }

    public static void assertRejected(int errno, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        ErrnoException.class,
                        refusal -> assertThat(refusal.errno()).isEqualTo(errno));
    }
}
