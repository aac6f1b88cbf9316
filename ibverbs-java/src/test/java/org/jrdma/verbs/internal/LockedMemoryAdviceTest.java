package org.jrdma.verbs.internal;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jrdma.ffi.Errno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockedMemoryAdviceTest {

    @ParameterizedTest
    @ValueSource(ints = {Errno.ENOMEM, Errno.EAGAIN, Errno.EPERM})
    void shouldReportTheMemoryLockLimit(int errno) throws Exception {
        var limit =
                Files.readAllLines(Path.of("/proc/self/limits")).stream()
                        .filter(line -> line.startsWith("Max locked memory"))
                        .map(line -> line.split("\\s{2,}", -1)[1])
                        .findFirst()
                        .orElseThrow();

        if (limit.equals("unlimited")) {
            assertThat(LockedMemoryAdvice.advice(errno)).isEmpty();
        } else {
            assertThat(LockedMemoryAdvice.advice(errno))
                    .startsWith(
                            String.format(
                                    Locale.ROOT,
                                    "The process may lock %,d bytes of memory (RLIMIT_MEMLOCK) and has locked ",
                                    Long.valueOf(limit)));
        }
    }

    @Test
    void shouldReadTheStatusOfAProcessWhoseNameIsNotUtf8(@TempDir Path folder) throws Exception {
        var status =
                Files.write(
                        folder.resolve("status"),
                        "Name:\tx\u00e9\nVmPin:\t     8 kB\n".getBytes(ISO_8859_1));

        assertThat(LockedMemoryAdvice.field(status, "VmPin:")).contains("8");
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.EINVAL, Errno.EBADF, 0})
    void shouldGiveNoAdviceOnOtherErrors(int errno) {
        assertThat(LockedMemoryAdvice.advice(errno)).isEmpty();
    }

    @Test
    void shouldAdviseOnAFailedRegistration() {
        assertThat(LockedMemoryAdvice.adviceOnRegistering(Errno.EINVAL, true))
                .isEqualTo("REMOTE_WRITE and REMOTE_ATOMIC require LOCAL_WRITE.");
        assertThat(LockedMemoryAdvice.adviceOnRegistering(Errno.EINVAL, false)).isEmpty();
        assertThat(LockedMemoryAdvice.adviceOnRegistering(Errno.EFAULT, false))
                .isEqualTo("The memory is not mapped or not writable.");
        assertThat(LockedMemoryAdvice.adviceOnRegistering(Errno.ENOMEM, false))
                .isEqualTo(LockedMemoryAdvice.advice(Errno.ENOMEM));
    }
}
