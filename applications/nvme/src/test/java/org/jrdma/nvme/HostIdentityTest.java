package org.jrdma.nvme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.jrdma.nvme.model.HostIdentifier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostIdentityTest {

    @TempDir Path directory;

    @Test
    void shouldKeepTheIdentityInAFile() throws Exception {
        var file = directory.resolve("folder").resolve("id");
        var created = HostIdentity.inFile(file);
        assertThat(HostIdentity.inFile(file)).isEqualTo(created);
        assertThat(created.name())
                .isEqualTo("nqn.2014-08.org.nvmexpress:uuid:" + Files.readString(file).strip());
        assertThat(file.getParent().toFile().list()).containsExactly("id");
    }

    @Test
    void shouldEncodeTheUuidInNetworkByteOrder() {
        var uuid = UUID.fromString("01020304-0506-0708-090a-0b0c0d0e0f10");
        assertThat(HostIdentity.of(uuid).identifier())
                .isEqualTo(
                        new HostIdentifier(0x0807_0605_0403_0201L, 0x100f_0e0d_0c0b_0a09L, true));
    }

    @Test
    void shouldRejectAFileWithoutAUuid() throws Exception {
        var file = Files.writeString(directory.resolve("id"), "something");
        assertThatThrownBy(() -> HostIdentity.inFile(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.toString());
        assertThat(file).hasContent("something");
    }

    @Test
    void shouldRejectInvalidIdentities() {
        var identifier = new HostIdentifier(1, 2, true);
        assertThatThrownBy(() -> new HostIdentity("", identifier))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new HostIdentity("nqn.host", HostIdentifier.of(1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new HostIdentity("nqn.host", new HostIdentifier(0, 0, true)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
