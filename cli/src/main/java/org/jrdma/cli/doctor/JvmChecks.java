package org.jrdma.cli.doctor;

import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.doctor.Finding;
import org.jrdma.ffi.doctor.Machine;
import org.jrdma.ffi.guard.Barrier;

/** The JVM that programs run on. */
final class JvmChecks {

    private JvmChecks() {}

    static Stream<Finding> on(Machine machine) {
        var version =
                Finding.fine(
                        "Java",
                        "%s, %s".formatted(Runtime.version(), System.getProperty("os.arch")));
        return Stream.of(version, nativeAccess(), barrierOfClose());
    }

    private static Finding nativeAccess() {
        return isNativeAccessEnabled()
                ? Finding.fine(
                        "native access",
                        "allowed; a program needs --enable-native-access=org.jrdma.ffi, on the class path --enable-native-access=ALL-UNNAMED")
                : Finding.broken(
                        "native access",
                        "denied to this JVM",
                        "no library can be opened",
                        "java --enable-native-access=org.jrdma.ffi, on the class path --enable-native-access=ALL-UNNAMED");
    }

    private static Finding barrierOfClose() {
        var subject = "close()";
        if (!isNativeAccessEnabled()) {
            return Finding.hidden(subject, "native access is denied");
        }
        return switch (Barrier.ofThisProcess()) {
            case MEMBARRIER -> Finding.fine(subject, "uses membarrier(2)");
            case HANDSHAKE ->
                    Finding.doubtful(
                            subject,
                            "uses thread handshakes, because membarrier(2) is not available",
                            "closing an object takes longer the more threads a program has",
                            "Linux 4.14 or newer, and a seccomp profile that allows membarrier(2)");
        };
    }

    private static boolean isNativeAccessEnabled() {
        return FabricException.class.getModule().isNativeAccessEnabled();
    }
}
