package org.jrdma.cli.nvme;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jrdma.cli.Jrdma;
import org.jrdma.cli.JrdmaProcess;
import org.jrdma.processes.Program;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the commands for NVMe over RDMA: serves a drive in one process, and uses the drive in other
 * processes, on the software fabric.
 */
class NvmeCommandTest {

    private static final Pattern ADDRESS = Pattern.compile(" at ([0-9.:]+):");
    private static final String NAME = "nqn.2014-08.org.jrdma:disk";

    @TempDir private Path folder;

    private static Program start(String... arguments) throws IOException {
        var words = new ArrayList<>(List.of("nvme"));
        words.addAll(List.of(arguments));
        return JrdmaProcess.start(
                List.of("-Djrdma.fabric=software", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"),
                words);
    }

    private String run(String... arguments) throws Exception {
        var words = new ArrayList<>(List.of(arguments));
        words.add("--host-id=" + folder.resolve("host"));
        try (var program = start(words.toArray(String[]::new))) {
            assertThat(program.await()).as(program.output()).isZero();
            return program.output();
        }
    }

    @Test
    @Tag("slow")
    void shouldServeDiscoverAndListADrive() throws Exception {
        var file = folder.resolve("blocks");
        try (var server =
                start("serve", "-s", "1", "-a", "0.0.0.0:0", "-n", NAME, file.toString())) {
            server.awaitOutput("until Ctrl+C\n");
            assertThat(server.output()).endsWith(": 2,048 blocks of 512 bytes, until Ctrl+C\n");
            var matcher = ADDRESS.matcher(server.output());
            assertThat(matcher.find()).isTrue();
            var address = matcher.group(1);

            assertThat(run("discover", address))
                    .startsWith(NAME + "  nvm at 127.0.0.")
                    .endsWith(", by rdma\n");
            assertThat(run("discover", "--json", address))
                    .startsWith("[{\"name\":\"" + NAME + "\",\"kind\":\"nvm\",");
            assertThat(run("list", address, NAME))
                    .startsWith(NAME + ": jrdma target, serial number jrdma-")
                    .endsWith("\nnamespace 1: 2,048 blocks of 512 bytes\n");
            assertThat(run("list", "--json", address, NAME))
                    .endsWith("\"namespaces\":[{\"id\":1,\"blocks\":2048,\"blockBytes\":512}]}\n");
            try (var refused = start("list", address, NAME + "x")) {
                assertThat(refused.await()).isOne();
                assertThat(refused.output())
                        .contains("invalid parameter of the Connect command (0x182)")
                        .hasLineCount(1);
            }
        }
        assertThat(Files.size(file)).isEqualTo(1 << 20);
    }

    @Test
    void shouldGiveEachDriveNamesOfItsOwn() throws Exception {
        var file = Files.createFile(folder.resolve("blocks")).toString();
        var names = new ArrayList<String>();
        for (var storage : List.of("memory", "memory", file, file)) {
            names.add(ServeCommand.newSubsystem(storage, null).qualifiedName());
        }
        assertThat(names).allMatch(name -> name.startsWith("nqn.2014-08.org.nvmexpress:uuid:"));
        assertThat(Set.copyOf(names)).hasSize(3);
        assertThat(names.get(2)).isEqualTo(names.get(3));
        assertThat(ServeCommand.newSubsystem(file, NAME).qualifiedName()).isEqualTo(NAME);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nvme | Missing required subcommand. See jrdma nvme --help.",
                "nvme discover 1:2:3 | Invalid value for positional parameter at index 0 (TARGET): \"1:2:3\" is not an address such as 10.0.0.1, 10.0.0.1:4420 or [fd00::1]:4420. See jrdma nvme discover --help.",
                "nvme discover 1.2.3.4:70000 | Invalid value for positional parameter at index 0 (TARGET): The port 70000 is too large. See jrdma nvme discover --help.",
                "nvme list 1.2.3.4 | Missing required parameter: 'NQN'. See jrdma nvme list --help."
            })
    void shouldRejectAnInvalidCommandLineInOneLine(String words, String message) {
        var errors = new StringWriter();

        assertThat(
                        Jrdma.commandLine()
                                .setErr(new PrintWriter(errors, true))
                                .execute(words.split(" ", -1)))
                .isEqualTo(2);

        assertThat(errors.toString()).isEqualTo(message + "\n");
    }
}
