package org.jrdma.soft.roce.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.SecureRandom;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.soft.roce.Trouble;
import org.jrdma.soft.roce.engine.Address;

/** What every test needs that does as a caller in C would. */
final class Caller {

    private Caller() {}

    /** A device at the first of many addresses that is free. */
    static DeviceObject newDevice() {
        var anywhere =
                IntStream.rangeClosed(1, 254)
                        .mapToObj(host -> Address.ipv4(127 << 24 | 77 << 8 | host))
                        .toList();
        return new DeviceObject("soft", anywhere, Trouble.NONE, null, new SecureRandom());
    }

    static void assertRefused(int errno, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.errno()).isEqualTo(errno));
    }
}
