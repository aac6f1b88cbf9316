package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressRangeTest {

    @ParameterizedTest
    @CsvSource({
        "10.1.0.0/16, 10.1.0.0, 10.2.0.0",
        "10.1.0.0/16, 10.1.255.255, 10.0.255.255",
        "10.1.2.3/16, 10.1.7.7, 10.3.2.3",
        "10.1.2.128/25, 10.1.2.129, 10.1.2.127",
        "10.1.2.3, 10.1.2.3, 10.1.2.2",
        "10.1.2.3/32, 10.1.2.3, 10.1.2.2",
        "128.0.0.0/1, 255.0.0.1, 127.0.0.1",
        "0.0.0.0/0, 203.0.113.1, 2001:db8::1",
        "2001:db8::/32, 2001:db8:1::1, 2001:db9::1",
        "2001:db8::1, 2001:db8::1, 2001:db8::2",
        "::/0, 2001:db8::1, 10.1.2.3"
    })
    void shouldContainOnlyTheAddressesOfTheSubnet(String range, String inside, String outside) {
        assertThat(AddressRange.parse(range).contains(InetAddress.ofLiteral(inside))).isTrue();
        assertThat(AddressRange.parse(range).contains(InetAddress.ofLiteral(outside))).isFalse();
    }

    @Test
    void shouldBeSingleOnlyIfItHasOneAddress() {
        assertThat(AddressRange.parse("10.1.2.3").isSingle()).isTrue();
        assertThat(AddressRange.parse("2001:db8::1/128").isSingle()).isTrue();
        assertThat(AddressRange.parse("10.1.2.3/31").isSingle()).isFalse();
    }

    @Test
    void shouldBeFormattedAsItWasSpecified() {
        assertThat(AddressRange.parse("10.1.0.0/16")).hasToString("10.1.0.0/16");
        assertThat(AddressRange.parse("10.1.2.3")).hasToString("10.1.2.3");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "ib0",
                "/16",
                "10.1.0.0/",
                "10.1.0.0/33",
                "10.1.0.0/-1",
                "10.1.0.0/255.255.0.0",
                "10.1.0.0/16/16",
                "2001:db8::/129"
            })
    void shouldRejectWhatIsNeitherAnAddressNorASubnet(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> AddressRange.parse(text))
                .withMessageContaining("\"%s\" is neither an IP address nor a subnet", text);
    }
}
