package org.jrdma.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LeaksTest {

    @Test
    void shouldReportAForgottenObjectOnce() throws Exception {
        var child = ChildJvm.onClassPath(ForgottenObjects.class);

        assertThat(child.exitCode()).isZero();
        assertThat(child.output().lines().filter(line -> line.contains("the forgotten one")))
                .singleElement()
                .asString()
                .contains(
                        "WARN",
                        "the forgotten one was never closed; -Djrdma.leaks=trace shows where it was made");
    }

    @Test
    void shouldReportNeitherWhatWasClosedNorWhatIsInUse() throws Exception {
        var child = ChildJvm.onClassPath(ForgottenObjects.class);

        assertThat(child.output())
                .contains("the last one was never closed")
                .doesNotContain("the closed one", "the owner");
    }

    @Test
    void shouldReportWhereAForgottenObjectWasMadeWhenTracing() throws Exception {
        var child = ChildJvm.onClassPath(ForgottenObjects.class, "-Djrdma.leaks=trace");

        assertThat(child.exitCode()).isZero();
        assertThat(child.output())
                .contains(
                        "the forgotten one was never closed",
                        "made here",
                        "at org.jrdma.ffi.ForgottenObjects.make(ForgottenObjects.java:")
                .doesNotContain("shows where");
    }

    @Test
    void shouldReportNothingWhenOff() throws Exception {
        var child = ChildJvm.onClassPath(ForgottenObjects.class, "-Djrdma.leaks=off");

        assertThat(child.exitCode()).isZero();
        assertThat(child.output()).doesNotContain("never closed");
    }
}
