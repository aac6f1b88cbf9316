package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.jrdma.volume.protocol.RequestHeader;
import org.junit.jupiter.api.Test;

class ClientOptionsTest {

    @Test
    void shouldOmitAddressesOfAHostThatDoNotFitIntoAMessage() {
        var addresses =
                IntStream.range(0, 50)
                        .mapToObj(number -> "sockets:10.0.0.%d:7471".formatted(number))
                        .toList();

        var options =
                new ClientOptions(
                        "server",
                        List.of(addresses),
                        addresses,
                        false,
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(5));

        assertThat(options.ownAddresses())
                .isEqualTo(addresses.subList(0, RequestHeader.MAX_ADDRESSES));
    }
}
