package org.jrdma.soft.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the creation of software devices. */
class SoftRoceTest {

    @Test
    void shouldCreateTheMaximumNumberOfDevicesOnLoopback() {
        assertThat(SoftRoce.onLoopback(SoftRoce.MAX_ON_LOOPBACK).devices())
                .hasSize(254)
                .last()
                .extracting(SoftDevice::name)
                .isEqualTo("soft253");
        assertThat(SoftRoce.onLoopback(0).devices()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 255})
    void shouldRejectAnInvalidNumberOfDevices(int devices) {
        assertThatThrownBy(() -> SoftRoce.onLoopback(devices))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Cannot create %d devices on loopback: the number must be 0 to 254.",
                        devices);
    }

    @Test
    void shouldRejectADuplicateAddress() {
        var address = InetAddress.ofLiteral("127.0.3.1");

        assertThatThrownBy(() -> SoftRoce.at(address, InetAddress.ofLiteral("::1"), address))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Duplicate address 127.0.3.1:");
    }
}
