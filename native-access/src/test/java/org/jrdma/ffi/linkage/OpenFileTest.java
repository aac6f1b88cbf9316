package org.jrdma.ffi.linkage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpenFileTest {

    @TempDir private Path folder;

    @Test
    void shouldBeOpenUntilItIsClosed() throws Exception {
        var path = Files.createFile(folder.resolve("ĉi tie"));
        var file = OpenFile.forReading(path);
        var link = Path.of("/proc/self/fd", String.valueOf(file.number()));
        assertThat(Files.readSymbolicLink(link)).isEqualTo(path.toRealPath());

        file.close();
        file.close();

        assertThat(link)
                .satisfiesAnyOf(
                        closed -> assertThat(closed).doesNotExist(),
                        reused -> assertThat(Files.readSymbolicLink(reused)).isNotEqualTo(path));
    }

    @Test
    void shouldSayWhichFileThereIsNot() {
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> OpenFile.forReading(folder.resolve("nowhere")))
                .withMessageMatching(".*/nowhere cannot be opened: ENOENT \\(2\\)")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.ENOENT));
    }
}
