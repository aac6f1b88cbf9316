package org.jrdma.ffi.linkage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpenFileTest {

    private static final int OUTPUT = 1;

    @TempDir private Path folder;

    @Test
    void shouldStayOpenUntilClosed() throws Exception {
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
    void shouldNotBlockOnAFifoWithoutAWriter() throws Exception {
        var path = folder.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", path.toString()).start().waitFor()).isZero();

        assertTimeoutPreemptively(Duration.ofSeconds(30), () -> OpenFile.forReading(path).close());
    }

    @Test
    void shouldRejectTheUseOfAClosedDescriptor() throws Exception {
        var file = OpenFile.of(LinuxCalls.duplicate(OUTPUT));
        var link = Path.of("/proc/self/fd", String.valueOf(file.number()));
        assertThat(Files.readSymbolicLink(link))
                .isEqualTo(Files.readSymbolicLink(Path.of("/proc/self/fd/1")));

        file.close();

        assertThatIllegalStateException().isThrownBy(file::number);
    }

    @Test
    void shouldNameTheDescriptorThatCannotBeDuplicated() {
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> LinuxCalls.duplicate(-1))
                .withMessageContaining("F_DUPFD_CLOEXEC for descriptor -1")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EBADF));
    }

    @Test
    void shouldNameAMissingFile() {
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> OpenFile.forReading(folder.resolve("nowhere")))
                .withMessageMatching(".*/nowhere cannot be opened: ENOENT \\(2\\)")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.ENOENT));
    }
}
