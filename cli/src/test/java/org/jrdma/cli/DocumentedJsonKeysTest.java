package org.jrdma.cli;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Verifies that docs/use/command.md documents exactly the JSON keys of the commands. */
class DocumentedJsonKeysTest {

    private static final Pattern KEY = Pattern.compile("(?m)^\\| `([^`]+)` \\|");

    private final StringWriter output = new StringWriter();

    @TempDir private Path folder;

    private static Set<String> documented(String section) throws Exception {
        var page = Files.readString(Path.of("..", "docs", "use", "command.md"));
        var start = page.indexOf("\n## " + section + "\n");
        assertThat(start).as(section).isPositive();
        var end = page.indexOf("\n## ", start + 1);
        return KEY.matcher(page.substring(start, end < 0 ? page.length() : end))
                .results()
                .map(key -> key.group(1))
                .collect(toCollection(TreeSet::new));
    }

    /** The script {@code jrdma} runs the demo. The other commands are in the jar too. */
    @Test
    void shouldListTheCommands() throws Exception {
        var commands = new TreeSet<>(Jrdma.commandLine().getSubcommands().keySet());
        commands.add("demo");

        var page = Files.readString(Path.of("..", "docs", "use", "command.md"));
        var table = page.substring(page.indexOf("\n| Command |"), page.indexOf("\n| Exit code |"));

        assertThat(KEY.matcher(table).results().map(key -> key.group(1)))
                .containsExactlyInAnyOrderElementsOf(commands);
    }

    /** Returns the keys of the JSON form of a type that consists of records. */
    private static Stream<String> keysOf(Type type) {
        return switch (type) {
            case ParameterizedType list when list.getRawType() == List.class ->
                    keysOf(list.getActualTypeArguments()[0]).map(key -> "[]" + key);
            case ParameterizedType optional when optional.getRawType() == Optional.class ->
                    keysOf(optional.getActualTypeArguments()[0]);
            case Class<?> fields when fields.isRecord() ->
                    Arrays.stream(fields.getRecordComponents())
                            .flatMap(field ->
                                    keysOf(field.getGenericType())
                                            .map(key -> "." + field.getName() + key));
            default -> Stream.of("");
        };
    }

    /** Returns the keys in a decoded JSON value. */
    private static Stream<String> keysIn(@Nullable Object value) {
        return switch (value) {
            case Map<?, ?> object ->
                    object.entrySet().stream()
                            .flatMap(field ->
                                    keysIn(field.getValue())
                                            .map(key -> "." + field.getKey() + key));
            case List<?> array ->
                    array.stream().flatMap(each -> keysIn(each).map(key -> "[]" + key));
            case null, default -> Stream.of("");
        };
    }

    @ParameterizedTest
    @CsvSource({
        "devices, org.jrdma.cli.Devices",
        "doctor, org.jrdma.ffi.doctor.Finding",
        "lend, org.jrdma.cli.LendSoftwareDeviceCommand$Line",
        "lend available, org.jrdma.cli.SetLendAvailabilityCommand$Changed",
        "net, org.jrdma.cli.net.ProcessConnections",
        "nvme discover, org.jrdma.cli.nvme.DiscoverCommand$Subsystem",
        "nvme serve, org.jrdma.cli.nvme.ServeCommand$Served",
        "nvme list, org.jrdma.cli.nvme.ListNamespacesCommand$Drive",
        "perf, org.jrdma.cli.perf.Result",
        "perf --compare, org.jrdma.cli.perf.BaselineComparison",
        "nvme perf, org.jrdma.cli.perf.NvmeResult",
        "perf nvme, org.jrdma.cli.perf.NvmeResult",
        "perf volume, org.jrdma.cli.perf.VolumeResult",
        "ping, org.jrdma.cli.perf.PingCommand$Line",
        "volume create, org.jrdma.cli.volume.CreateCommand$Created",
        "volume serve, org.jrdma.cli.volume.ServeCommand$Line",
        "volume ls, org.jrdma.cli.volume.LsCommand$Entry",
        "volume cp, org.jrdma.cli.volume.CpCommand$Copied",
        "volume check, org.jrdma.cli.volume.CheckCommand$Checked",
        "volume nodes, org.jrdma.cli.volume.NodeStatus",
        "volume net, org.jrdma.cli.volume.ListConnectionsCommand$Connection",
        "volume demo, org.jrdma.cli.volume.Demo$Result"
    })
    void shouldDocumentEveryKey(String section, String type) throws Exception {
        assertThat(documented(section))
                .isEqualTo(
                        keysOf(Class.forName(type))
                                .map(key -> key.substring(1))
                                .collect(toCollection(TreeSet::new)));
    }

    private void assertPrints(String section, String value, String... words) throws Exception {
        var documented = documented(section);

        Jrdma.commandLine().setOut(new PrintWriter(output, true)).execute(words);

        assertThat(output.toString().lines())
                .isNotEmpty()
                .allSatisfy(line ->
                        assertThat(keysIn(StrictJson.parse(line)))
                                .isNotEmpty()
                                .allSatisfy(key -> assertThat(key).startsWith(value))
                                .extracting(key -> key.substring(value.length()))
                                .isSubsetOf(documented));
    }

    @Test
    void shouldDocumentTheKeysOfDevices() throws Exception {
        assertPrints("devices", ".", "devices", "--json");
    }

    @Test
    void shouldDocumentTheKeysOfDoctor() throws Exception {
        assertPrints("doctor", "[].", "doctor", "--json");
    }

    @Test
    void shouldDocumentTheKeysOfNet() throws Exception {
        var file =
                Files.writeString(
                        folder.resolve("report"),
                        """
                        jrdma sockets\tprocess 7\ta.B\t2026-11-22T10:00:00Z\trunning
                        local\tpeer\taccepted\ttransport\treceived\tsent\tsince\twhy not faster
                        a:1\tb:2\ttrue\ttcp\t3\t0\t2026-11-22T10:00:00Z\tbecause of "this"
                        """);

        assertPrints("net", "[].", "net", "--json", file.toString());
    }

    @Test
    @Tag("slow")
    void shouldDocumentTheKeysOfPerf() throws Exception {
        assertPrints(
                "perf",
                "[].",
                "perf",
                "--json",
                "tcp",
                "write",
                "-s64",
                "-t20",
                "--fabric=SOFTWARE");
    }

    @Test
    @Tag("slow")
    void shouldDocumentTheKeysOfPing() throws Exception {
        assertPrints("ping", ".", "ping", "--json", "-c2", "-i20", "--fabric=SOFTWARE");
    }
}
