package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests access to a region of a mapped file that was truncated after registration. */
class TruncatedMappingTest {

    private static final int BYTES = 1 << 20;

    @Test
    void shouldRejectMemoryOfATruncatedFile(@TempDir Path folder) throws IOException {
        try (var arena = Arena.ofShared();
                var file =
                        FileChannel.open(
                                folder.resolve("mapped"),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE)) {
            var mapped = file.map(MapMode.READ_WRITE, 0, BYTES, arena);
            var registry = new MemoryRegistry(new Random(1));
            var domain = new ProtectionDomain();
            var region = registry.register(domain, mapped, 0, EnginePair.ALL);
            var packet = arena.allocate(4096);
            assertThat(registry.write(domain, region.key(), 0, Access.REMOTE_READ, packet, 0, 4096))
                    .isTrue();
            file.truncate(0);
            assertThat(registry.write(domain, region.key(), 0, Access.REMOTE_READ, packet, 0, 4096))
                    .isFalse();
            assertThat(registry.read(domain, region.key(), 0, Access.REMOTE_READ, packet, 0, 4096))
                    .isFalse();
            registry.deregister(region);
        }
    }
}
