package org.jrdma.cli;

/**
 * The main class of jrdma.jar. It is compiled for Java 8, so that an older Java reports the
 * required version instead of an UnsupportedClassVersionError.
 */
public final class VersionCheckingLauncher {

    private static final int REQUIRED = 25;

    private VersionCheckingLauncher() {}

    public static void main(String[] arguments) throws Exception {
        String version = System.getProperty("java.specification.version");
        if (version.startsWith("1.") || Integer.parseInt(version) < REQUIRED) {
            System.err.println(
                    "jrdma needs Java "
                            + REQUIRED
                            + " or newer, but this is Java "
                            + version
                            + " in "
                            + System.getProperty("java.home")
                            + ".");
            System.exit(1);
        }
        Class.forName("org.jrdma.cli.Jrdma")
                .getDeclaredMethod("main", String[].class)
                .invoke(null, (Object) arguments);
    }
}
