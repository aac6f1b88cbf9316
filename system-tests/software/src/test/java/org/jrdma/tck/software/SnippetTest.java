package org.jrdma.tck.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.jrdma.processes.FreePorts;
import org.jrdma.processes.Program;
import org.jrdma.volume.ServerOptions;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.FileDrive;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compiles the Java code in Markdown documents, and runs the code that is a complete program. */
class SnippetTest {

    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    /**
     * A fenced block of Java code. If the block is a fragment, an HTML comment before it contains
     * declarations that the fragment needs to compile.
     */
    private static final Pattern SNIPPET =
            Pattern.compile("(?:<!-- beside: (.*?) -->\n)?```java\n(.*?)```", Pattern.DOTALL);

    private static final Pattern CLASS = Pattern.compile("(?m)^class (\\w+)");

    private static final List<String> PACKAGES =
            List.of(
                    "org.jrdma.verbs",
                    "org.jrdma.verbs.cm",
                    "org.jrdma.verbs.cm.model",
                    "org.jrdma.verbs.flow",
                    "org.jrdma.verbs.flow.model",
                    "org.jrdma.verbs.memory",
                    "org.jrdma.verbs.model",
                    "org.jrdma.sisci",
                    "org.jrdma.sockets",
                    "org.jrdma.sockets.model",
                    "org.jrdma.soft.junit",
                    "java.lang.foreign");

    @TempDir private Path folder;

    record Snippet(String document, int line, String beside, String code) {

        /**
         * Returns the source file for the compiler. The code of a program is used unchanged, a
         * method is enclosed in a class, and statements are enclosed in a method.
         */
        String source() {
            if (CLASS.matcher(code).find()) {
                return code;
            }
            var imports = new StringBuilder("import static java.time.Duration.*;\n");
            PACKAGES.forEach(name -> imports.append("import %s.*;\n".formatted(name)));
            var body =
                    code.startsWith("@")
                            ? code
                            : "void snippet() throws Exception {\n" + code + "}\n";
            return imports + "abstract class Snippet {\n" + beside + "\n" + body + "}\n";
        }

        String className() {
            var name = CLASS.matcher(code);
            return name.find() ? name.group(1) : "Snippet";
        }

        @Override
        public String toString() {
            return document + ":" + line;
        }
    }

    static Stream<Snippet> snippets() throws Exception {
        var snippets = new ArrayList<Snippet>();
        for (var document : RepositoryFiles.endingWith(".md")) {
            snippets.addAll(in(document));
        }
        return snippets.stream();
    }

    private static List<Snippet> in(Path document) throws Exception {
        var text = Files.readString(document);
        return SNIPPET.matcher(text)
                .results()
                .map(found -> {
                    var line = 1 + (int) text.substring(0, found.start(2)).lines().count();
                    var beside = found.group(1) == null ? "" : found.group(1);
                    return new Snippet(
                            ROOT.relativize(document).toString(), line, beside, found.group(2));
                })
                .toList();
    }

    @ParameterizedTest
    @MethodSource("snippets")
    void shouldCompile(Snippet snippet) throws Exception {
        for (var other : in(ROOT.resolve(snippet.document()))) {
            write(other); // a program can use the other classes of its document
        }
        var file = write(snippet);
        var messages = new StringWriter();
        var compiler = ToolProvider.getSystemJavaCompiler();
        try (var files = compiler.getStandardFileManager(null, null, null)) {
            var options =
                    List.of(
                            "-proc:none",
                            "-cp",
                            System.getProperty("java.class.path"),
                            "-sourcepath",
                            folder.toString(),
                            "-d",
                            folder.toString());
            var compiled =
                    compiler.getTask(
                                    messages,
                                    files,
                                    null,
                                    options,
                                    null,
                                    files.getJavaFileObjects(file))
                            .call();

            assertThat(compiled).as("%s%n%s", snippet, messages).isTrue();
        }
    }

    private Path write(Snippet snippet) throws Exception {
        return Files.writeString(folder.resolve(snippet.className() + ".java"), snippet.source());
    }

    @Test
    @Tag("slow")
    void shouldRunTheTutorial() throws Exception {
        for (var snippet : in(ROOT.resolve("docs/learn/tutorial.md"))) {
            write(snippet);
        }
        var port = FreePorts.one();

        try (var server = start("127.0.74.1", "StoreServer", "0.0.0.0", port + "")) {
            server.awaitOutput("serving at ");
            assertThat(answer(port, "notes", "Saluton, mondo")).isEqualTo("Saluton, mondo\n");
            assertThat(answer(port, "other", "Adiau")).isEqualTo("Adiau\n");

            assertThat(answer(port, "notes")).isEqualTo("Saluton, mondo\n");
            assertThat(answer(port, "other")).isEqualTo("Adiau\n");
            assertThat(server.isRunning()).as(server.output()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    void shouldRunTheSmallestVolume() throws Exception {
        var port = FreePorts.one() + "";

        try (var server = startSmallVolume(port)) {
            assertThat(volume("put", port, "notes", "Saluton, mondo"))
                    .isEqualTo("committed extent 0\n");
            assertThat(volume("put", port, "other", "x".repeat(5000)))
                    .isEqualTo("committed extent 1\n");
            assertThat(volume("put", port, "notes", "Adiau")).isEqualTo("committed extent 3\n");

            assertThat(volume("get", port, "notes")).isEqualTo("extent 3: Adiau\n");
            assertThat(volume("get", port, "other"))
                    .isEqualTo("extent 1: " + "x".repeat(5000) + "\n");
            assertThat(server.isRunning()).as(server.output()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    void shouldRejectInvalidRequestsToTheSmallestVolumeAndKeepItsBlocksAndFiles() throws Exception {
        var port = FreePorts.one();

        try (var server = startSmallVolume(port + "");
                var client = new SmallVolumeClient("127.0.74.1", port);
                var other = new SmallVolumeClient("127.0.74.1", port)) {
            for (var request :
                    List.of(
                            "put -8192 x",
                            "put 0 x",
                            "put 9999999999 x",
                            "put x",
                            "get",
                            "",
                            "?")) {
                assertThat(client.request(request)).isEqualTo("error: invalid request");
            }
            assertThat(client.request("put 2000000 x")).isEqualTo("error: too few free blocks");
            var first = client.reserve("put 4 x", 0);
            var second = other.reserve("put 4 y", 1);

            assertThat(client.requestWithImmediate("x", 0)).isEqualTo("error: invalid request");
            assertThat(client.request("\0\0\0\0")).isEqualTo("error: invalid request");
            assertThat(client.write(second, 1)).isEqualTo("error: no such extent is reserved");
            assertThat(client.write(first.slice(0, 3), 0))
                    .isEqualTo("error: no such extent is reserved");
            assertThat(client.request("get x")).isEqualTo("error: no such file");
            assertThat(client.request("get y")).isEqualTo("error: no such file");

            assertThat(other.write(second, 1)).isEqualTo("committed extent 1");
            assertThat(client.request("get y")).isEqualTo("1 " + second);
            var rest = client.reserve("put %d z".formatted(254 * 4096), 2);
            assertThat(other.request("put 1 y")).isEqualTo("error: too few free blocks");
            assertThat(client.write(rest, 2)).isEqualTo("committed extent 2");
            assertThat(server.isRunning()).as(server.output()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    void shouldFailAClientOfTheSmallestVolumeWhoseRequestIsRejected() throws Exception {
        var port = FreePorts.one() + "";

        try (var server = startSmallVolume(port);
                var client = start("127.0.74.2", "SmallVolume", "get", "127.0.74.1", port, "x")) {
            assertThat(client.await()).isEqualTo(1);
            assertThat(client.output()).contains("error: no such file");
            assertThat(server.isRunning()).as(server.output()).isTrue();
        }
    }

    private Program startSmallVolume(String port) throws Exception {
        for (var snippet : in(ROOT.resolve("docs/learn/volume.md"))) {
            write(snippet);
        }
        var server = start("127.0.74.1", "SmallVolume", "serve", "0.0.0.0", port);
        server.awaitOutput("serving at ");
        return server;
    }

    private String volume(String command, String port, String... file) throws Exception {
        var arguments = new ArrayList<>(List.of(command, "127.0.74.1", port));
        arguments.addAll(List.of(file));
        try (var client = start("127.0.74.2", "SmallVolume", arguments.toArray(String[]::new))) {
            assertThat(client.await()).as(client.output()).isZero();
            return client.output();
        }
    }

    /** Runs the program with a server in this process. */
    @Tag("slow")
    @Test
    void shouldRunTheProgramOfTheVolumePage() throws Exception {
        for (var snippet : in(ROOT.resolve("docs/use/volume.md"))) {
            write(snippet);
        }
        var node =
                NodeOptions.of(TransportKind.SOCKETS)
                        .socketAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        try (var drive = FileDrive.create(folder.resolve("drive"), 4096)) {
            VolumeServer.create(drive);
            try (var server = VolumeServer.start(drive, ServerOptions.named("server").node(node))) {
                var address = server.addresses().getFirst().replace("sockets:", "");

                try (var first = start("127.0.74.1", "Notes", address, "one", "Saluton, mondo")) {
                    assertThat(first.await()).as(first.output()).isZero();
                    assertThat(first.output()).contains("one: Saluton, mondo\n99 % free\n");
                }
                try (var second = start("127.0.74.1", "Notes", address, "two", "Adiau")) {
                    assertThat(second.await()).as(second.output()).isZero();
                    assertThat(second.output()).contains("one: Saluton, mondo\ntwo: Adiau\n");
                }
            }
            assertThat(VolumeServer.check(drive)).isEmpty();
        }
    }

    @Test
    void shouldRunTheProgramOfTheBuffersPage() throws Exception {
        for (var snippet : in(ROOT.resolve("docs/use/buffers.md"))) {
            write(snippet);
        }

        try (var program = start("127.0.74.1", "BufferKinds", "soft0")) {
            assertThat(program.await()).as(program.output()).isZero();
            assertThat(program.output()).contains("from the JDK\n").contains("from Netty\n");
        }
    }

    @Test
    void shouldRunTheProgramOfTheReadme() throws Exception {
        for (var snippet : in(ROOT.resolve("README.md"))) {
            write(snippet);
        }

        try (var program = start("127.0.74.1", "FirstWrite", "soft0")) {
            assertThat(program.await()).as(program.output()).isZero();
            assertThat(program.output()).contains("Saluton, mondo\n");
        }
    }

    @Test
    void shouldRunTheFirstProgramOfVerbs() throws Exception {
        for (var snippet : in(ROOT.resolve("docs/learn/ibverbs-java.md"))) {
            write(snippet);
        }

        try (var program = start("127.0.74.1", "FirstRead", "soft0")) {
            assertThat(program.await()).as(program.output()).isZero();
            assertThat(program.output()).contains("read from there\n");
        }
    }

    @Test
    void shouldRunTheFirstProgramOfSisci() throws Exception {
        for (var snippet : in(ROOT.resolve("docs/learn/sisci-java.md"))) {
            write(snippet);
        }

        try (var owner = start("127.0.74.1", "FirstStore")) {
            owner.awaitOutput("node 4\n");
            try (var other = start("127.0.74.2", "FirstStore", "4")) {
                assertThat(other.await()).as(other.output()).isZero();
                assertThat(owner.await()).as(owner.output()).isZero();
                assertThat(owner.output()).contains("stored from there\n");
            }
        }
    }

    @Test
    void shouldRunTheProgramsOfTheDevicesPage() throws Exception {
        for (var snippet : in(ROOT.resolve("docs/use/borrowing-devices.md"))) {
            write(snippet);
        }

        try (var lender = start("127.0.74.1", "LendEdu")) {
            lender.awaitOutput("device 0x401 of node 4\n");
            try (var borrower = start("127.0.74.2", "BorrowEdu")) {
                assertThat(borrower.await()).as(borrower.output()).isZero();
                assertThat(borrower.output()).contains("5! = 120\ncopied 42\n");
            }
        }
    }

    @Test
    void shouldRunTheFirstProgramOfSockets() throws Exception {
        for (var snippet : in(ROOT.resolve("docs/learn/supersockets-java.md"))) {
            write(snippet);
        }

        try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                var program =
                        start(
                                "127.0.74.1",
                                "FirstStream",
                                "127.0.0.1",
                                listener.getLocalPort() + "")) {
            assertThat(program.await()).as(program.output()).isZero(); // before accept() can block
            assertThat(program.output()).contains(" tcp");
            try (var stream = listener.accept()) {
                assertThat(stream.getInputStream().readAllBytes())
                        .asString()
                        .isEqualTo("Saluton, mondo\n");
            }
        }
    }

    private String answer(int port, String... file) throws Exception {
        var arguments = new ArrayList<>(List.of("127.0.74.1", port + ""));
        arguments.addAll(List.of(file));
        try (var client = start("127.0.74.2", "StoreClient", arguments.toArray(String[]::new))) {
            assertThat(client.await()).as(client.output()).isZero();
            return client.output();
        }
    }

    private Program start(String device, String name, String... arguments) throws Exception {
        var command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "--enable-native-access=ALL-UNNAMED",
                                "-Djrdma.fabric=software",
                                "-Djrdma.soft.devices=" + device,
                                "-Djrdma.sisci.fabric=" + folder.resolve("fabric"),
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                                "-cp",
                                System.getProperty("java.class.path"),
                                folder.resolve(name + ".java").toString()));
        command.addAll(List.of(arguments));
        return Program.start(command);
    }
}
