package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.memory.RegisteredArena.PageSize;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests registration at the limits of locked memory and huge pages. The tests change these limits
 * and therefore need root privileges.
 */
@Tag("machine")
class LockedAndHugePageLimitsTest {

    private static final Path HUGE_PAGES = Path.of("/proc/sys/vm/nr_hugepages");

    private final Fabric fabric = Fabric.underTest();

    @BeforeEach
    void needPrivileges() {
        PrivilegedCommands.need();
    }

    @Test
    void shouldReportHowManyHugePagesToReserve() throws Exception {
        reserveHugePages("0");
        try (var device = fabric.open();
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(PageSize.HUGE, LOCAL_WRITE)) {
            assertThatThrownBy(() -> memory.region(1 << 20))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("vm.nr_hugepages")
                    .hasMessageContaining("/proc/meminfo");
        }
    }

    @Test
    void shouldRegisterMemoryInHugePages() throws Exception {
        if (!Files.exists(HUGE_PAGES)) {
            throw new Fabric.Listed("the kernel was built without huge pages");
        }
        reserveHugePages("4");
        try (var device = fabric.open();
                var domain = device.newProtectionDomain()) {
            var memory = domain.newArena(PageSize.HUGE, LOCAL_WRITE);
            var region = memory.region((2 << 20) + 1);
            assertThat(region.length()).isEqualTo((2 << 20) + 1);
            assertThat(region.segment().address() % (2 << 20)).isZero();
            assertThat(region.segment().mismatch(MemorySegment.ofArray(new byte[(2 << 20) + 1])))
                    .isEqualTo(-1);
            assertThat(freeHugePages()).isEqualTo(2);
            memory.close();
            assertThat(freeHugePages()).isEqualTo(4);
        } finally {
            reserveHugePages("0");
        }
    }

    private static void reserveHugePages(String count) throws Exception {
        if (Files.exists(HUGE_PAGES)) {
            Files.writeString(HUGE_PAGES, count);
        }
    }

    private static int freeHugePages() throws Exception {
        try (var lines = Files.lines(Path.of("/proc/meminfo"))) {
            return lines.filter(line -> line.startsWith("HugePages_Free:"))
                    .map(line -> Integer.parseInt(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void shouldReportTheLimitOfLockedMemoryAndHowToRaiseIt() throws Exception {
        fabric.needs(Feature.LOCKING_MEMORY);
        var command =
                new ArrayList<>(
                        List.of(
                                "prlimit",
                                "--memlock=131072:131072",
                                "setpriv",
                                // The capability CAP_IPC_LOCK would exempt the process from the
                                // limit.
                                "--bounding-set=-ipc_lock",
                                "--inh-caps=-ipc_lock",
                                ProcessHandle.current().info().command().orElseThrow(),
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED",
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"));
        for (var property : List.of("library", "device", "profile")) {
            var value = System.getProperty("jrdma.tck." + property);
            if (value != null) {
                command.add("-Djrdma.tck." + property + "=" + value);
            }
        }
        command.addAll(
                List.of(
                        "-cp",
                        System.getProperty("java.class.path"),
                        Unprivileged.class.getName()));

        var result = PrivilegedCommands.tryRun(command);

        assertThat(result.exitCode()).as("%s", result.output()).isZero();
        assertThat(result.output())
                .contains("ibv_reg_mr failed for 16,777,216 bytes")
                .contains("ENOMEM")
                .contains("may lock 131,072 bytes of memory (RLIMIT_MEMLOCK)")
                .contains("ulimit -l unlimited")
                .contains("LimitMEMLOCK=infinity")
                .contains("--ulimit memlock=-1");
    }

    /**
     * A program that registers more memory than its RLIMIT_MEMLOCK allows, and prints the error.
     */
    static final class Unprivileged {

        private Unprivileged() {}

        public static void main(String... arguments) throws FabricException {
            try (var device = Fabric.underTest().open();
                    var domain = device.newProtectionDomain();
                    var memory = domain.newArena(LOCAL_WRITE)) {
                memory.region(16 << 20);
                throw new AssertionError("16 MiB were registered in spite of RLIMIT_MEMLOCK");
            } catch (VerbsException e) {
                System.out.println(e.getMessage());
            }
        }
    }
}
