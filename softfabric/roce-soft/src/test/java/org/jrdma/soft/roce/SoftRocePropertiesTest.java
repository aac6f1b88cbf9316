package org.jrdma.soft.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the system properties that configure the software devices. */
class SoftRocePropertiesTest {

    private final Map<String, String> originalValues = new HashMap<>();

    private void set(String name, String value) {
        var key = "jrdma.soft." + name;
        originalValues.put(key, System.getProperty(key));
        System.setProperty(key, value);
    }

    @AfterEach
    void restore() {
        originalValues.forEach((key, value) -> {
            if (value == null) {
                System.clearProperty(key);
            } else {
                System.setProperty(key, value);
            }
        });
    }

    @Test
    void shouldReadTheNetworkFaults() {
        set("loss", "0.1");
        set("duplication", "0.2");
        set("reordering", "0.3");
        set("corruption", "0.4");
        set("delay", "0.5");
        set("lateness", "20");
        set("seed", "-7");

        assertThat(SoftRoceProperties.faults())
                .isEqualTo(new NetworkFaults(0.1, 0.2, 0.3, 0.4, 0.5, Duration.ofMillis(20), -7));
    }

    @Test
    void shouldHaveNoFaultsByDefault() {
        assertThat(SoftRoceProperties.faults().isNone()).isTrue();
    }

    @Test
    void shouldShareMemoryUnlessThePropertyIsOff() {
        assertThat(SoftRoceProperties.sharesMemory()).isTrue();
        set("sharedmemory", "off");
        assertThat(SoftRoceProperties.sharesMemory()).isFalse();
        set("sharedmemory", "on");
        assertThat(SoftRoceProperties.sharesMemory()).isTrue();
    }

    @Test
    void shouldRejectAnotherValueOfTheSharedMemoryProperty() {
        set("sharedmemory", "false");
        assertThatThrownBy(() -> SoftRoce.onLoopback(1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("jrdma.soft.sharedmemory")
                .hasMessageContaining("false");
    }

    @Test
    void shouldReadTheAddressesOfTheDevices() {
        set("devices", "127.0.5.1, ::1");

        assertThat(SoftRoceProperties.addresses())
                .containsExactly(
                        List.of(RoceGid.of(InetAddress.ofLiteral("127.0.5.1"))),
                        List.of(RoceGid.of(InetAddress.ofLiteral("::1"))));
        assertThat(SoftRoceProperties.devices())
                .extracting(Object::toString)
                .containsExactly("soft0", "soft1");
    }

    @Test
    void shouldUseTheAddressOfAnInterface() {
        set("devices", "lo");

        assertThat(SoftRoceProperties.addresses())
                .containsExactly(List.of(RoceGid.of(InetAddress.ofLiteral("127.0.0.1"))));
    }

    @Test
    void shouldRejectAnUnknownProperty() {
        set("los", "0.5");

        assertThatThrownBy(SoftRoceProperties::devices)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Unknown system property jrdma.soft.los.")
                .hasMessageContaining("loss");
    }

    @ParameterizedTest
    @CsvSource({
        "devices, localhost, is neither an address",
        "devices, '127.0.0.1,', is neither an address",
        "devices, '::1,::1', is a duplicate address",
        "devices, '127.0.0.1,lo', is a duplicate address",
        "devices, '127.0.0.1,::ffff:127.0.0.1', is a duplicate address",
        "loss, some, is not a probability",
        "duplication, 1.5, is not a probability",
        "reordering, -0.1, is not a probability",
        "corruption, NaN, is not a probability",
        "delay, '', is not a probability",
        "lateness, 1.5, is not an integer",
        "lateness, -1, must not be negative",
        "seed, tomorrow, is not an integer",
        "seed, 99999999999999999999, is not an integer"
    })
    void shouldRejectInvalidValuesAndQuoteThem(String name, String value, String reason) {
        set(name, value);

        var quoted = name.equals("devices") ? value.substring(value.indexOf(',') + 1) : value;
        assertThatThrownBy(SoftRoceProperties::devices)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("jrdma.soft.%s: \"%s\" %s".formatted(name, quoted, reason));
    }
}
