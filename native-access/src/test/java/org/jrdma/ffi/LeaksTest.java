package org.jrdma.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LeaksTest {

    @Test
    void shouldReportALeakedObjectOnce() throws Exception {
        var child = ChildJvm.onClassPath(LeakingProgram.class);

        assertThat(child.exitCode()).isZero();
        assertThat(child.output().lines().filter(line -> line.contains("the leaked object")))
                .singleElement()
                .asString()
                .contains(
                        "WARN",
                        "the leaked object was never closed; -Djrdma.leaks=trace shows where it was created");
    }

    @Test
    void shouldNotReportClosedAndReachableObjects() throws Exception {
        var child = ChildJvm.onClassPath(LeakingProgram.class);

        assertThat(child.output())
                .contains("the last object was never closed")
                .doesNotContain("the closed object", "the owner");
    }

    @Test
    void shouldReportWhereALeakedObjectWasCreatedIfTracing() throws Exception {
        var child = ChildJvm.onClassPath(LeakingProgram.class, "-Djrdma.leaks=trace");

        assertThat(child.exitCode()).isZero();
        assertThat(child.output())
                .contains(
                        "the leaked object was never closed",
                        "Created here",
                        "at org.jrdma.ffi.LeakingProgram.create(LeakingProgram.java:")
                .doesNotContain("shows where");
    }

    @Test
    void shouldRejectAnUnknownMode() throws Exception {
        var child = ChildJvm.onClassPath(LibraryOpeningProgram.class, "-Djrdma.leaks=tarce");

        assertThat(child.exitCode()).isOne();
        assertThat(child.output())
                .contains(
                        "IllegalArgumentException: The system property jrdma.leaks is \"tarce\". It must be report, trace or off.")
                .doesNotContain("Opened a test");
    }

    @Test
    void shouldReportNothingIfOff() throws Exception {
        var child = ChildJvm.onClassPath(LeakingProgram.class, "-Djrdma.leaks=off");

        assertThat(child.exitCode()).isZero();
        assertThat(child.output()).doesNotContain("never closed");
    }
}
