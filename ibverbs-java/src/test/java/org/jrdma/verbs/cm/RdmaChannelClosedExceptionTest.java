package org.jrdma.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.junit.jupiter.api.Test;

class RdmaChannelClosedExceptionTest {

    @Test
    void shouldKeepItsCauseWhenItIsSerialized() throws Exception {
        var termination = new TerminationCause(TerminationCause.Cause.LOST, "the cable was cut");
        var bytes = new ByteArrayOutputStream();
        try (var objects = new ObjectOutputStream(bytes)) {
            objects.writeObject(new ChannelClosedException("connection 1", termination, null));
        }

        try (var objects = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            var copy = (ChannelClosedException) objects.readObject();

            assertThat(copy.termination()).isEqualTo(termination);
            assertThat(copy).hasMessageContaining("the cable was cut");
        }
    }
}
