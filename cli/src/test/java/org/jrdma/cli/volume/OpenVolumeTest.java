package org.jrdma.cli.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jrdma.volume.model.ConnectionDescription;
import org.junit.jupiter.api.Test;

class OpenVolumeTest {

    @Test
    void shouldDescribeWhyNoPreferredTransportIsUsed() {
        var connection =
                new ConnectionDescription(
                        List.of(),
                        "sockets",
                        "sockets (tcp) to node1:7471",
                        List.of("verbs:node1:7472: there is no device"));

        assertThat(OpenVolume.redirection(connection))
                .isEqualTo(
                        "redirected over sockets (tcp) to node1:7471; not verbs:node1:7472: there is no device");
    }
}
