package org.jrdma.sockets;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.List;
import org.jrdma.ffi.AddressText;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the fallback of the kernel's SMC. Requires a kernel with SMC, as in the guest. */
@Tag("real-kernel")
@Timeout(60)
class SmcFallbackTest {

    @Test
    void shouldReportThatAStreamHasFallenBackToTcp() throws Exception {
        try (var listener = ChannelPair.listener(Implementation.TCP.provider());
                var channel =
                        FabricSockets.connect(
                                "127.0.0.1",
                                ((InetSocketAddress) listener.getLocalAddress()).getPort(),
                                List.of(Transports.smc()),
                                ofSeconds(30));
                var server = listener.accept()) {
            channel.write(TestBytes.of("abc"));
            assertThat(TestBytes.read(server, 3)).isEqualTo("abc");

            assertThat(channel.transport()).isSameAs(Transports.smc());
            assertThat(OpenConnections.of(channel))
                    .hasToString(
                            "%s tcp (smc: fell back to TCP: the peer has no SMC (0x03010000))"
                                    .formatted(AddressText.of(listener.getLocalAddress())));
        }
    }
}
