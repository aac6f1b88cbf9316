package org.jrdma.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import org.jrdma.architecture.ArchitectureRules.Violation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the {@link ArchitectureRules} with small modules, which each test writes and compiles. */
class ArchitectureViolationDetectionTest {

    @TempDir Path repository;

    private final List<Path> sources = new ArrayList<>();

    @Test
    void shouldAcceptPackagesThatFormNoCycle() throws IOException {
        write("a.A", "b.B other;");
        write("b.B", "c.C other;");
        write("c.C", "");

        assertThat(violations()).isEmpty();
    }

    @Test
    void shouldReportEachPackageOfACycleWithTheTypesThatFormIt() throws IOException {
        write("a.A", "b.B other;");
        write("b.B", "c.C other;");
        write("c.C", "a.A other;");
        write("d.D", "a.A other;");

        assertThat(violations())
                .extracting(Violation::key)
                .containsExactlyInAnyOrder(
                        "package-cycle m a", "package-cycle m b", "package-cycle m c");
        assertThat(violations())
                .extracting(Violation::details)
                .allSatisfy(details ->
                        assertThat(details)
                                .contains("a -> b: A -> B", "b -> c: B -> C", "c -> a: C -> A")
                                .doesNotContain("D"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Object method() { return new b.B(); }",
                "void method(b.B argument) {}",
                "java.util.List<b.B> field;",
                "static class Nested extends b.B {}",
                "@b.Marker void method() {}",
                "boolean method(Object object) { return object instanceof b.B[]; }",
                "java.util.function.Supplier<Object> field = b.B::new;",
                "b.B.Nested field;"
            })
    void shouldDetectEachKindOfUse(String member) throws IOException {
        write("a.A", member);
        write("b.B", "a.A other; public static class Nested {}");
        writeSource("b.Marker", "package b; public @interface Marker {}");

        assertThat(violations())
                .extracting(Violation::key)
                .containsExactlyInAnyOrder("package-cycle m a", "package-cycle m b");
    }

    @Test
    void shouldCountAnAccessorAsPartOfThePackageThatItOpens() throws IOException {
        write("a.A", "a.access.Access accessor;");
        write("a.access.Access", "a.A opened;");
        write("b.B", "a.access.Access accessor;");

        assertThat(violations()).isEmpty();

        write("a.A", "a.access.Access accessor; b.B user;");

        assertThat(violations())
                .extracting(Violation::key)
                .containsExactlyInAnyOrder("package-cycle m a", "package-cycle m b");
    }

    @Test
    void shouldReportACycleOfMoreThan15TypesInAPackage() throws IOException {
        writeCycle(15);
        assertThat(violations()).isEmpty();

        writeCycle(16);
        assertThat(violations())
                .singleElement()
                .satisfies(violation -> {
                    assertThat(violation.key()).isEqualTo("class-cycle m a");
                    assertThat(violation.details()).contains("16 types", "T3: T4", "T15: T0");
                });
    }

    private void writeCycle(int length) throws IOException {
        for (var i = 0; i < length; i++) {
            write("a.T" + i, "static class Nested { a.T%d other; }".formatted((i + 1) % length));
        }
    }

    @Test
    void shouldReportAnExportedPackageOfMoreThan45Types() throws IOException {
        writeSource("module-info", "module m { exports a; exports b to java.base; }");
        writeSource("a.package-info", "@Deprecated package a;");
        for (var i = 0; i < 45; i++) {
            write("a.T" + i, "static class Nested {}");
            write("b.T" + i, "");
            write("c.T" + i, "");
        }
        assertThat(violations()).isEmpty();

        write("a.OneMore", "");
        write("b.OneMore", "");
        write("c.OneMore", "");
        assertThat(violations())
                .containsExactly(new Violation("large-package m a", "46 top-level types"));
    }

    @Test
    void shouldReportInternalTypesThatUseTheApi() throws IOException {
        writeSource("module-info", "module m { exports a; exports a.model; exports exported; }");
        write("a.Api", "");
        writeSource("a.ApiException", "package a; public class ApiException extends Exception {}");
        write("a.model.Value", "");
        write("a.internal.Good", "a.model.Value value; void method() throws a.ApiException {}");
        write("exported.User", "a.Api api;");
        assertThat(violations()).isEmpty();

        write("a.queue.Bad", "a.Api api;");
        assertThat(violations())
                .containsExactly(new Violation("internal-uses-api m a.queue.Bad", "a.Api"));
    }

    @Test
    void shouldReportASourceFileOfMoreThan500Lines() throws IOException {
        writeSource("a.A", "package a;\n".concat("//\n".repeat(498)).concat("class A {}\n"));
        assertThat(violations()).isEmpty();

        writeSource("a.A", "package a;\n".concat("//\n".repeat(499)).concat("class A {}\n"));
        assertThat(violations())
                .containsExactly(new Violation("long-file m src/main/java/a/A.java", "501 lines"));
    }

    private void write(String type, String members) throws IOException {
        var dot = type.lastIndexOf('.');
        writeSource(
                type,
                "package %s; public class %s { %s }"
                        .formatted(type.substring(0, dot), type.substring(dot + 1), members));
    }

    private void writeSource(String type, String text) throws IOException {
        var file = repository.resolve("m/src/main/java", type.replace('.', '/') + ".java");
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
        if (!sources.contains(file)) {
            sources.add(file);
        }
    }

    private List<Violation> violations() throws IOException {
        var compiler = ToolProvider.getSystemJavaCompiler();
        var output = new StringWriter();
        try (var files = compiler.getStandardFileManager(null, null, null)) {
            var options = List.of("-d", repository.resolve("m/target/classes").toString());
            var task =
                    compiler.getTask(
                            output,
                            files,
                            null,
                            options,
                            null,
                            files.getJavaFileObjectsFromPaths(sources));
            assertThat(task.call()).as(output.toString()).isTrue();
        }
        return ArchitectureRules.violations(
                CompiledModule.read(repository, repository.resolve("m")));
    }
}
