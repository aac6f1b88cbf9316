package org.jrdma.tck.software;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jrdma.tck.software.JavaEquivalentsOfCFunctions.JavaName;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Generates the tables docs/reference/verbs.md and docs/reference/rdma_cm.md, which list the Java
 * form of every function of verbs.h and rdma_cma.h, and checks that the files are up to date. The
 * sources are the lists of functions beside the headers, the Javadoc of ibverbs-java, and the class
 * files of the conformance kit and of the tests with the recording library.
 */
class VerbsDocumentationTableTest {

    private static final Path LINKAGE =
            Path.of("../../ibverbs-java/src/main/java/org/jrdma/verbs/internal");
    private static final String COMMAND =
            "mvn test -pl system-tests/software -am -Dtest=VerbsDocumentationTableTest -Djrdma.write=true -Dsurefire.failIfNoSpecifiedTests=false";

    private static final String NEVER_OWNED = "not needed: the program creates its queue pairs";

    /** The functions of verbs.h that Java does not need, with the reasons. */
    private static final Map<String, String> NOT_NEEDED =
            Map.of(
                    "ibv_static_providers",
                            "not needed: for programs that link libibverbs statically",
                    "ibv_cq_ex_to_cq", "not needed: the structure starts with `struct ibv_cq`",
                    "ibv_fork_init", "not needed: the JDK starts programs without sharing pages",
                    "ibv_wr_opcode_str", "not needed: requests and completions have types",
                    "verbs_get_ctx", "not needed: a helper of the inline functions of the header");

    /** The functions of rdma_cma.h that Java does not need, with the reasons. */
    private static final Map<String, String> NOT_NEEDED_TO_CONNECT =
            Map.of(
                    "rdma_create_qp", NEVER_OWNED,
                    "rdma_create_qp_ex", NEVER_OWNED,
                    "rdma_destroy_qp", NEVER_OWNED,
                    "rdma_destroy_ep", "not needed: it would also destroy the queue pair",
                    "rdma_get_request",
                            "not needed: only for identifiers without a channel, which block",
                    "rdma_get_devices", "not needed: `Verbs#devices`",
                    "rdma_free_devices", "not needed: `Verbs#devices`",
                    "rdma_event_str", "not needed: an event has a type");

    /** A C header, and the document with the table of its functions. */
    enum Table {
        VERBS("libibverbs", "verbs.h", "functions.txt", "verbs.md", NOT_NEEDED),
        CONNECTIONS(
                "librdmacm",
                "rdma_cma.h",
                "connection-functions.txt",
                "rdma_cm.md",
                NOT_NEEDED_TO_CONNECT);

        private final String library;
        private final String header;
        private final Path list;
        private final Path file;

        @SuppressWarnings("ImmutableEnumChecker") // Map.of creates an immutable map.
        private final Map<String, String> notNeeded;

        Table(
                String library,
                String header,
                String list,
                String file,
                Map<String, String> notNeeded) {
            this.library = library;
            this.header = header;
            this.list = Path.of("../../headers/rdma").resolve(list);
            this.file = Path.of("../../docs/reference").resolve(file);
            this.notNeeded = notNeeded;
        }

        private List<String> functions() throws IOException {
            return Files.readAllLines(list);
        }
    }

    /**
     * The expressions in the binding that name a linked C function or a function pointer of a
     * structure.
     */
    private static final Pattern LINKED =
            Pattern.compile(
                    "rdma_h\\.(\\w+)\\$descriptor|(?:ibv_context_ops|verbs_context)\\.(\\w+)\\$offset");

    private static List<String> functions;
    private static JavaEquivalentsOfCFunctions java;
    private static ApiMethodsCalledByTests kit;

    @BeforeAll
    static void read() throws IOException {
        functions = new ArrayList<>();
        for (var table : Table.values()) {
            functions.addAll(table.functions());
        }
        java = JavaEquivalentsOfCFunctions.read();
        kit = ApiMethodsCalledByTests.read();
    }

    @ParameterizedTest
    @EnumSource
    void shouldContainTheTablesThatTheCodeGenerates(Table table) throws IOException {
        var content = content(table);
        if (Boolean.getBoolean("jrdma.write")) {
            Files.writeString(table.file, content);
        }

        assertThat(table.file).as("To update the table: " + COMMAND).hasContent(content);
    }

    /**
     * If the Javadoc of a method did not name its C function, the table would list the function as
     * missing.
     */
    @Test
    void shouldFindEachFunctionThatTheBindingCallsInJavadoc() throws IOException {
        var linked = new HashSet<String>();
        try (var files = Files.list(LINKAGE)) {
            for (var file : files.toList()) {
                LINKED.matcher(Files.readString(file))
                        .results()
                        .map(found ->
                                found.group(1) == null ? "ibv_" + found.group(2) : found.group(1))
                        .forEach(name -> linked.add(plain(name)));
            }
        }

        linked.retainAll(functions); // The structures also have members that are not functions.
        assertThat(linked)
                .contains("ibv_open_device", "ibv_post_send", "ibv_query_device_ex", "rdma_listen");
        assertThat(java.mentioned()).containsAll(linked);
    }

    /** Detects names in Javadoc that are misspelled or no longer exist. */
    @Test
    void shouldFindOnlyFunctionsOfTheHeadersInJavadoc() {
        var known = new HashSet<>(functions);

        assertThat(java.mentioned())
                .filteredOn(name -> name.matches("(ibv|mult|mbps|verbs|rdma)_.*"))
                .isSubsetOf(known);
    }

    /**
     * Checks one method for each case: all fabrics call {@code Verbs#open}, rxe and siw reject null
     * regions, the kit does not call {@code Verbs#software}, and only the recording library
     * supports dma-bufs.
     */
    @Test
    void shouldDistinguishFunctionsThatTheKitCallsFromOthers() {
        var open = new JavaName("Verbs", "open");
        var nullRegion = new JavaName("ProtectionDomain", "newNullRegion");
        var software = new JavaName("Verbs", "software");
        var dmaBuf = new JavaName("ProtectionDomain", "registerDmaBuf");

        assertThat(kit.onKernel(open)).isTrue();
        assertThat(kit.onSoftware(open)).isTrue();
        assertThat(kit.onKernel(nullRegion)).isFalse();
        assertThat(kit.onSoftware(nullRegion)).isTrue();
        assertThat(kit.onSoftware(software)).isFalse();
        assertThat(kit.onRecorder(dmaBuf)).isTrue();
        assertThat(kit.onKernel(dmaBuf)).isFalse();
        assertThat(kit.onSoftware(dmaBuf)).isFalse();
        assertThat(kit.onRecorder(nullRegion)).isFalse();
    }

    private static String content(Table table) throws IOException {
        var rows = new ArrayList<String>();
        var covered = 0;
        var all = table.functions();
        for (var function : all) {
            var names = java.of(plain(function));
            covered += names.isEmpty() ? 0 : 1;
            rows.add(
                    "| %s | %s | %s |"
                            .formatted(
                                    code(function),
                                    names.isEmpty()
                                            ? table.notNeeded.getOrDefault(function, "not yet")
                                            : names.stream()
                                                    .map(name -> code(name.toString()))
                                                    .collect(joining(", ")),
                                    names.isEmpty() ? "" : tested(names)));
        }
        return """
        # %2$s: from C to Java

        This table lists every function that %1$s declares, exported or inline, and its Java form: the type, or the method of a type, whose Javadoc names the function. The column
        "Tested" names where a test of the conformance kit calls that form: on the kernel's rxe or siw ("kernel"), or on the software fabric ("software"). "recorded" is a test with a
        library in C that records its arguments. Rejected calls do not count. Java has %3$d of %4$d functions.

        This file is generated. To update it:

            %5$s

        | C | Java | Tested |
        |---|---|---|
        %6$s
        """
                .formatted(
                        table.header,
                        table.library,
                        covered,
                        all.size(),
                        COMMAND,
                        String.join("\n", rows));
    }

    private static String tested(List<JavaName> names) {
        var where = new ArrayList<String>();
        if (names.stream().anyMatch(kit::onKernel)) {
            where.add("kernel");
        }
        if (names.stream().anyMatch(kit::onSoftware)) {
            where.add("software");
        }
        if (where.isEmpty() && names.stream().anyMatch(kit::onRecorder)) {
            where.add("recorded");
        }
        return where.isEmpty() ? "not" : String.join(", ", where);
    }

    private static String code(String text) {
        return "`" + text + "`";
    }

    /**
     * Removes leading underscores from a function name. A macro or an inline function with the
     * plain name calls such a function.
     */
    private static String plain(String function) {
        return function.replaceFirst("^_+", "");
    }
}
