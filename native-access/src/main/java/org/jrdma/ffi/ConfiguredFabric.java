package org.jrdma.ffi;

/** The fabric that the system property {@code jrdma.fabric} selects. */
public enum ConfiguredFabric {
    /** The libraries and devices of the operating system. The default. */
    SYSTEM,

    /** The software fabrics of this SDK. */
    SOFTWARE;

    /** The name of the system property. Its values are {@code system} and {@code software}. */
    public static final String PROPERTY = "jrdma.fabric";

    /**
     * Returns the selected fabric.
     *
     * @throws IllegalArgumentException if the property has another value
     */
    public static ConfiguredFabric get() {
        var value = System.getProperty(PROPERTY, "system");
        return switch (value) {
            case "system" -> SYSTEM;
            case "software" -> SOFTWARE;
            default ->
                    throw new IllegalArgumentException(
                            "The system property %s is \"%s\". It must be system or software."
                                    .formatted(PROPERTY, value));
        };
    }
}
