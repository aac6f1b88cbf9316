package org.jrdma.nvme.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.US_ASCII;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/** The qualified names (NQN) of hosts and subsystems. */
public final class QualifiedName {

    /** The name of the discovery subsystem of every target. */
    public static final String DISCOVERY = "nqn.2014-08.org.nvmexpress.discovery";

    /** The largest number of characters. */
    public static final int MAX_LENGTH = 223;

    /** The size of a field with a name and the zero byte that ends it. */
    static final int FIELD_BYTES = 256;

    private static final String UUID_PREFIX = "nqn.2014-08.org.nvmexpress:uuid:";
    private static final Pattern NAME = Pattern.compile("[!-~]{1," + MAX_LENGTH + "}");

    private QualifiedName() {}

    /** Returns true for 1 to 223 printable ASCII characters without spaces. */
    public static boolean isValid(String name) {
        return NAME.matcher(name).matches();
    }

    /**
     * Returns the name.
     *
     * @throws IllegalArgumentException if the name is invalid
     */
    public static String requireValid(String name) {
        if (!isValid(name)) {
            throw new IllegalArgumentException(
                    "The qualified name \"%s\" is invalid. It has 1 to %d printable ASCII characters without spaces, such as nqn.2014-08.org.example:disk1."
                            .formatted(name, MAX_LENGTH));
        }
        return name;
    }

    /** Returns the name of a host or subsystem that is identified by a UUID. */
    public static String of(UUID uuid) {
        return UUID_PREFIX + uuid;
    }

    /** Decodes a field of 256 bytes; empty if it does not contain a valid name. */
    static Optional<String> decode(MemorySegment data, long offset) {
        var field = data.asSlice(offset, FIELD_BYTES).toArray(JAVA_BYTE);
        var length = 0;
        while (length < FIELD_BYTES && field[length] != 0) {
            length++;
        }
        return Optional.of(new String(field, 0, length, US_ASCII)).filter(QualifiedName::isValid);
    }

    /** Encodes a valid name into zeroed memory. */
    static void encode(MemorySegment data, long offset, String name) {
        data.setString(offset, name, US_ASCII);
    }
}
