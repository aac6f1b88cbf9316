package org.jrdma.cli.doctor;

import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.doctor.Finding;
import org.jrdma.ffi.doctor.MachineFiles;
import org.jrdma.ffi.guard.Barrier;

/** Checks of the JVM. */
final class JvmChecks {

    private JvmChecks() {}

    static Stream<Finding> on(MachineFiles machine) {
        var version =
                Finding.fine(
                        "Java",
                        "%s, %s".formatted(Runtime.version(), System.getProperty("os.arch")));
        return Stream.of(version, nativeAccess(), closeBarrier());
    }

    private static Finding nativeAccess() {
        return isNativeAccessEnabled()
                ? Finding.fine(
                        "native access",
                        "allowed; programs need --enable-native-access=org.jrdma.ffi, or on the class path --enable-native-access=ALL-UNNAMED")
                : Finding.broken(
                        "native access",
                        "denied to this JVM",
                        "no native library can be opened",
                        "Start java with --enable-native-access=org.jrdma.ffi, or on the class path with --enable-native-access=ALL-UNNAMED.");
    }

    private static Finding closeBarrier() {
        var subject = "close()";
        if (!isNativeAccessEnabled()) {
            return Finding.unknown(subject, "native access is denied");
        }
        return switch (Barrier.ofThisProcess()) {
            case MEMBARRIER -> Finding.fine(subject, "uses membarrier(2)");
            case HANDSHAKE ->
                    Finding.doubtful(
                            subject,
                            "uses thread handshakes, because membarrier(2) is not available",
                            "the time to close an object grows with the number of threads",
                            "Use Linux 4.14 or newer and a seccomp profile that allows membarrier(2).");
        };
    }

    private static boolean isNativeAccessEnabled() {
        return FabricException.class.getModule().isNativeAccessEnabled();
    }
}
