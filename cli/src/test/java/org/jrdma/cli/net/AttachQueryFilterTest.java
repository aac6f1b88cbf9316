package org.jrdma.cli.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InvalidClassException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

class AttachQueryFilterTest {

    @SuppressWarnings("BanSerializableRead") // the filter restricts the classes
    private static Object copyThroughFilter(Object value) throws Exception {
        var bytes = new ByteArrayOutputStream();
        try (var output = new ObjectOutputStream(bytes)) {
            output.writeObject(value);
        }
        try (var input = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            input.setObjectInputFilter(JvmConnectionsQuery.FILTER);
            return input.readObject();
        }
    }

    @Test
    void shouldDeserializeOnlyClassesThatAnAgentSends() throws Exception {
        var name = new ObjectName("a:type=B");
        assertThat(copyThroughFilter(List.of(name, 1L))).isEqualTo(List.of(name, 1L));

        assertThatExceptionOfType(InvalidClassException.class)
                .isThrownBy(() -> copyThroughFilter(List.of(new File("a"))));
    }
}
