package org.jrdma.ffi.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LimitChecksTest {

    @TempDir private Path root;

    private void write(String path, String content) throws IOException {
        var file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content + "\n");
    }

    @Test
    void shouldReportASmallLimitOfLockedMemoryAsBrokenOnlyIfThereIsADevice() throws IOException {
        write("proc/self/limits", "Max locked memory         8388608   8388608  bytes");
        assertThat(LimitChecks.lockedMemory(new MachineFiles(root)).verdict())
                .isEqualTo(Verdict.DOUBTFUL);

        write("sys/class/infiniband/mlx5_0/node_type", "1: CA");
        assertThat(LimitChecks.lockedMemory(new MachineFiles(root)).verdict())
                .isEqualTo(Verdict.BROKEN);
    }

    @Test
    void shouldFormatNumbersIndependentlyOfTheLocale() {
        var originalLocale = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
        try {
            assertThat(LimitChecks.sharedMemory(64 << 20, 1 << 20).seen())
                    .isEqualTo("67,108,864 bytes, 1,048,576 of them free");
        } finally {
            Locale.setDefault(originalLocale);
        }
    }
}
