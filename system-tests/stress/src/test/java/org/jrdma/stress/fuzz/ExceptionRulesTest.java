package org.jrdma.stress.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ExceptionRulesTest {

    private static final String JDK = "jdk.internal.foreign.MemorySessionImpl";
    private static final String INTERNAL = "org.jrdma.verbs.queue.RequestWriter";
    private static final String API = Lifetime.class.getName();

    private final ExceptionRules findings;

    ExceptionRulesTest() throws Exception {
        findings = new ExceptionRules(new ApiSurface(List.of(Lifetime.class)), List.of());
    }

    @Test
    void shouldReportAnExceptionOfTheJdkThatAnInternalClassCaused() {
        judge(JDK, INTERNAL, API);

        assertThat(findings.isEmpty()).isFalse();
    }

    @Test
    void shouldAcceptAnExceptionOfTheJdkThatTheApiCaused() {
        judge(JDK, API);

        assertThat(findings.isEmpty()).isTrue();
    }

    @Test
    void shouldAcceptAnExceptionThatAnInternalClassThrows() {
        judge(INTERNAL, API);

        assertThat(findings.isEmpty()).isTrue();
    }

    static Stream<Throwable> undocumented() {
        return Stream.of(
                new OutOfMemoryError(),
                new StackOverflowError(),
                new NoClassDefFoundError(),
                new BootstrapMethodError(),
                new AssertionError(),
                new NullPointerException(),
                new ClassCastException(),
                new NoSuchElementException(),
                new IOException());
    }

    @ParameterizedTest
    @MethodSource("undocumented")
    void shouldReportAnExceptionThatTheApiDoesNotDocument(Throwable thrown) {
        findings.judge("call", thrown, List.of(), false);

        assertThat(findings.isEmpty()).isFalse();
    }

    @Test
    void shouldAcceptADeclaredExceptionAndTheRejectionOfANull() {
        findings.judge("call", new IOException(), List.of(IOException.class), false);
        findings.judge("call", new NullPointerException(), List.of(), true);

        assertThat(findings.isEmpty()).isTrue();
    }

    @Test
    void shouldReportAnErrorOfAFabricWithoutAMessage() {
        findings.judge("call", new FabricException(""), List.of(FabricException.class), false);

        assertThat(findings.isEmpty()).isFalse();
    }

    private void judge(String... classes) {
        var thrown = new IllegalStateException("Already closed");
        thrown.setStackTrace(
                Stream.of(classes)
                        .map(name -> new StackTraceElement(name, "method", null, 1))
                        .toArray(StackTraceElement[]::new));
        findings.judge("call", thrown, List.of(), false);
    }
}
