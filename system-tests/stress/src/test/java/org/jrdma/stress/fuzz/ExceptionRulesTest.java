package org.jrdma.stress.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.jrdma.ffi.Lifetime;
import org.junit.jupiter.api.Test;

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

    private void judge(String... classes) {
        var thrown = new IllegalStateException("Already closed");
        thrown.setStackTrace(
                Stream.of(classes)
                        .map(name -> new StackTraceElement(name, "method", null, 1))
                        .toArray(StackTraceElement[]::new));
        findings.judge("call", thrown, List.of(), false);
    }
}
