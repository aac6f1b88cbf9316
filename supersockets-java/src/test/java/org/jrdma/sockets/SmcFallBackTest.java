package org.jrdma.sockets;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** SMC's own fall-back, where the kernel has SMC: that of the guest does. */
@Timeout(60)
class SmcFallBackTest {

    @BeforeEach
    void needSmc() {
        var why = Transport.smc().whyNot();
        assumeTrue(why.isEmpty(), () -> "smc: " + why.get());
    }

    @Test
    void shouldTellThatAStreamGoesOverTcpByItself() throws Exception {
        try (var listener = ChannelPair.listener(Implementation.TCP.provider());
                var channel =
                        FabricSockets.connect(
                                "127.0.0.1",
                                ((InetSocketAddress) listener.getLocalAddress()).getPort(),
                                List.of(Transport.smc()),
                                ofSeconds(30));
                var server = listener.accept()) {
            channel.write(Bytes.of("abc"));
            assertThat(Bytes.read(server, 3)).isEqualTo("abc");

            assertThat(channel.transport()).isSameAs(Transport.smc());
            assertThat(Connections.of(channel))
                    .hasToString(
                            "%s tcp (smc: over TCP by itself: the peer has no SMC (0x03010000))"
                                    .formatted(Connection.name(listener.getLocalAddress())));
        }
    }
}
