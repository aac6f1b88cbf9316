package org.jrdma.cli.doctor;

import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.doctor.Finding;
import org.jrdma.ffi.doctor.Machine;

/** The JVM that programs run on. */
final class JvmChecks {

    private JvmChecks() {}

    static Stream<Finding> on(Machine machine) {
        var version =
                Finding.fine(
                        "Java",
                        "%s, %s".formatted(Runtime.version(), System.getProperty("os.arch")));
        return Stream.of(version, nativeAccess());
    }

    private static Finding nativeAccess() {
        return FabricException.class.getModule().isNativeAccessEnabled()
                ? Finding.fine(
                        "native access",
                        "allowed; a program needs --enable-native-access=org.jrdma.ffi, on the class path --enable-native-access=ALL-UNNAMED")
                : Finding.broken(
                        "native access",
                        "denied to this JVM",
                        "no library can be opened",
                        "java --enable-native-access=org.jrdma.ffi, on the class path --enable-native-access=ALL-UNNAMED");
    }
}
