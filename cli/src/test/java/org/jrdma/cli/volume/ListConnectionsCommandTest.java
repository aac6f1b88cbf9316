package org.jrdma.cli.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.model.DataPathState;
import org.jrdma.volume.model.RequestRedirection;
import org.junit.jupiter.api.Test;

class ListConnectionsCommandTest {

    private static String line(Optional<RequestRedirection> redirection) {
        var report =
                new ClientReport(
                        "client",
                        "1.0",
                        new ConnectionDescription(
                                List.of("verbs:two:1"), "verbs", "verbs (soft0) to two", List.of()),
                        redirection,
                        new DataPathState(
                                DataPathState.Kind.NONE, Optional.empty(), "the client starts", 0));
        return ListConnectionsCommand.line(ListConnectionsCommand.metadata(report, "one"));
    }

    @Test
    void shouldNameTheServerThatForwardsTheRequestsOfAClientAndTheReason() {
        assertThat(line(Optional.of(new RequestRedirection("two", "Connection refused"))))
                .isEqualTo(
                        "client, metadata: redirected to two over verbs (soft0) to two (Connection refused)");
    }

    @Test
    void shouldNameTheCoordinatorOfAClientThatReachesIt() {
        assertThat(line(Optional.empty()))
                .isEqualTo("client, metadata: connected to one over verbs (soft0) to two");
    }
}
