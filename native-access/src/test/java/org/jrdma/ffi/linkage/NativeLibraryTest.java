package org.jrdma.ffi.linkage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jrdma.ffi.CapturedLog;
import org.jrdma.ffi.ChildJvm;
import org.jrdma.ffi.JavaImplementedLibrary;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.LibraryProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NativeLibraryTest {

    /** A library that every JVM has already opened, so that the dynamic linker finds it by name. */
    private static final LibraryNameAndInstallation PRESENT = name("libjava.so");

    private static final Path PRESENT_FILE =
            Path.of(System.getProperty("java.home"), "lib", "libjava.so");
    private static final String PRESENT_SYMBOL = "JNI_OnLoad";

    private static LibraryNameAndInstallation name(String soname) {
        return new LibraryNameAndInstallation(
                soname, "libfabled1 fabled-providers", "fabled", "libfabled-1");
    }

    @Test
    void shouldReportTheSearchedPathsAndThePackagesOfAMissingLibrary() {
        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(() -> NativeLibrary.open(name("libfabled.so.1")))
                .withMessageStartingWith(
                        "libfabled.so.1 could not be opened. Searched: the dynamic linker's search path (LD_LIBRARY_PATH is ")
                .withMessageContaining(
                        "\"apt install libfabled1 fabled-providers\" (Debian, Ubuntu)")
                .withMessageContaining("\"dnf install fabled\" (Fedora, RHEL)")
                .withMessageContaining("\"zypper install libfabled-1\" (SUSE)")
                .withMessageEndingWith("or name the file.");
    }

    @Test
    void shouldSearchTheInstallationFoldersAfterTheDynamicLinkersPath() throws Exception {
        var folder = PRESENT_FILE.getParent();
        var elsewhere = Path.of("/nowhere");

        var found =
                NativeLibrary.open(
                        new LibraryNameAndInstallation(
                                "libverify.so", List.of(elsewhere, folder), ""));

        assertThat(found).hasToString(folder.resolve("libverify.so").toString());
        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(() ->
                        NativeLibrary.open(
                                new LibraryNameAndInstallation(
                                        "libfabled.so.1",
                                        List.of(elsewhere, folder),
                                        "The library is fictional.")))
                .withMessageEndingWith(
                        "), /nowhere/libfabled.so.1, %s. The library is fictional.",
                        folder.resolve("libfabled.so.1"));
    }

    @Test
    void shouldReportTheDependencyOfAMissingSoftwareLibrary() {
        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(
                        () -> NativeLibrary.software("libfabled.so.1", "fabled-soft", "org.fabled"))
                .withMessage(
                        "Cannot find a software implementation of libfabled.so.1. Add the dependency org.jrdma:fabled-soft and, on the module path, --add-modules org.fabled.");
    }

    /**
     * Each of the two class loaders can be the only one that finds the library: the loader of the
     * SDK on a thread of a framework, and the context class loader if the SDK is installed in the
     * framework but the library in its application.
     */
    @ParameterizedTest
    @ValueSource(classes = {SoftwareOfSdkLoader.class, SoftwareOfContextLoader.class})
    void shouldFindASoftwareLibraryWithTheLoaderThatHasIt(Class<?> main, @TempDir Path folder)
            throws Exception {
        var services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(
                services.resolve(JavaImplementedLibrary.class.getName()),
                FabledLibrary.class.getName());

        var child = ChildJvm.onClassPath(main, "-Dtest.folder=" + folder);

        assertThat(child.output()).contains("found fabled-soft");
        assertThat(child.exitCode()).isZero();
    }

    @Test
    void shouldThrowTheErrorThatPreventedTheCreationOfASoftwareLibrary(@TempDir Path folder)
            throws Exception {
        var services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(
                services.resolve(JavaImplementedLibrary.class.getName()),
                LargeLibrary.class.getName());

        var child = ChildJvm.onClassPath(TooLargeSoftware.class, "-Dtest.folder=" + folder);

        assertThat(child.output()).contains("thrown java.lang.OutOfMemoryError: too large");
        assertThat(child.exitCode()).isZero();
    }

    /** Main program whose software library cannot be created. */
    static final class TooLargeSoftware {

        private TooLargeSoftware() {}

        public static void main(String... arguments) throws Exception {
            var thread = Thread.currentThread();
            try (var loader =
                    new URLClassLoader(
                            new URL[] {SoftwareOfSdkLoader.folder()},
                            thread.getContextClassLoader())) {
                thread.setContextClassLoader(loader);
                NativeLibrary.software("libfabled.so.1", "fabled-soft", "org.fabled");
            } catch (OutOfMemoryError e) {
                System.out.println("thrown " + e);
            }
        }
    }

    /** A software library whose creation fails for lack of memory. */
    public static final class LargeLibrary implements JavaImplementedLibrary {

        public LargeLibrary() {
            throw new OutOfMemoryError("too large");
        }

        @Override
        public String soname() {
            return "libfabled.so.1";
        }

        @Override
        public String name() {
            return "fabled-soft";
        }

        @Override
        public SymbolLookup symbols() {
            return _ -> Optional.empty();
        }
    }

    /** A software library that is registered as a service only in a folder of a test. */
    public static final class FabledLibrary implements JavaImplementedLibrary {

        @Override
        public String soname() {
            return "libfabled.so.1";
        }

        @Override
        public String name() {
            return "fabled-soft";
        }

        @Override
        public SymbolLookup symbols() {
            return _ -> Optional.empty();
        }
    }

    /** Main program whose SDK has a class loader of its own, which is not the context loader. */
    static final class SoftwareOfSdkLoader {

        private SoftwareOfSdkLoader() {}

        public static void main(String... arguments) throws Exception {
            var urls = new ArrayList<URL>();
            urls.add(folder());
            for (var path : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
                urls.add(Path.of(path).toUri().toURL());
            }
            var platform = ClassLoader.getPlatformClassLoader();
            try (var sdk = new URLClassLoader(urls.toArray(URL[]::new), platform)) {
                Thread.currentThread().setContextClassLoader(platform);
                var found =
                        sdk.loadClass(NativeLibrary.class.getName())
                                .getMethod("software", String.class, String.class, String.class)
                                .invoke(null, "libfabled.so.1", "fabled-soft", "org.fabled");
                System.out.println("found " + found);
            }
        }

        static URL folder() throws MalformedURLException {
            return Path.of(System.getProperty("test.folder")).toUri().toURL();
        }
    }

    /** Main program whose context class loader has a library that the SDK does not see. */
    static final class SoftwareOfContextLoader {

        private SoftwareOfContextLoader() {}

        public static void main(String... arguments) throws Exception {
            var sdk = SoftwareOfContextLoader.class.getClassLoader();
            try (var application =
                    new URLClassLoader(new URL[] {SoftwareOfSdkLoader.folder()}, sdk)) {
                Thread.currentThread().setContextClassLoader(application);
                System.out.println(
                        "found "
                                + NativeLibrary.software(
                                        "libfabled.so.1", "fabled-soft", "org.fabled"));
            }
        }
    }

    @Test
    void shouldNameAMissingFile(@TempDir Path folder) {
        var file = folder.resolve("libfabled.so.1");

        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(() -> NativeLibrary.open(file))
                .withMessage(
                        "%s could not be opened: it is missing, not readable, or not a shared library for %s.",
                        file, System.getProperty("os.arch"));
    }

    @Test
    void shouldRejectAFileThatIsNotALibrary(@TempDir Path folder) throws Exception {
        var file = Files.writeString(folder.resolve("libfabled.so.1"), "no library");

        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(() -> NativeLibrary.open(file))
                .withMessageStartingWith(file + " could not be opened")
                .withMessageContaining("not a shared library");
    }

    @Test
    void shouldLogTheFileOfALibrary() throws Exception {
        try (var log = new CapturedLog()) {
            var library = NativeLibrary.open(PRESENT);

            assertThat(library).hasToString(PRESENT_FILE.toRealPath().toString());
            assertThat(library.isProvided()).isFalse();
            assertThat(log.toString()).contains("INFO", "Using " + library);
        }
    }

    @Test
    void shouldFindTheFileOfALibraryWhileAFileWhoseNameIsNotUtf8IsMapped(@TempDir Path folder)
            throws Exception {
        var exitCode =
                new ProcessBuilder(
                                "sh",
                                "-c",
                                "name=$(printf 'x\\351') && echo x > \"$name\" && ln -s \"$name\" link")
                        .directory(folder.toFile())
                        .start()
                        .waitFor();
        assertThat(exitCode).isZero();

        try (var arena = Arena.ofConfined();
                var channel = FileChannel.open(folder.resolve("link"))) {
            var mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);

            assertThat(NativeLibrary.open(PRESENT))
                    .hasToString(PRESENT_FILE.toRealPath().toString());
            assertThat(mapped.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 'x');
        }
    }

    @Test
    void shouldOpenALibraryFromAFile() throws Exception {
        var library = NativeLibrary.open(PRESENT_FILE);

        assertThat(library).hasToString(PRESENT_FILE.toString());
        assertThat(library.isProvided()).isFalse();
        assertThat(library.require(PRESENT_SYMBOL).address()).isNotZero();
        assertThat(library.find(PRESENT_SYMBOL)).contains(library.require(PRESENT_SYMBOL));
    }

    @Test
    void shouldNotFindAMissingSymbol() throws Exception {
        assertThat(NativeLibrary.open(PRESENT).find("ibv_of_next_year")).isEmpty();
    }

    @Test
    void shouldNameTheLibraryThatLacksARequiredSymbol() throws Exception {
        var library = NativeLibrary.open(PRESENT_FILE);

        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(() -> library.require("ibv_of_next_year"))
                .withMessage(
                        "%s has no function ibv_of_next_year. It is too old, or it is a different library.",
                        PRESENT_FILE);
    }

    @Test
    void shouldLookUpSymbolsOfAProvider() throws Exception {
        var address = MemorySegment.ofAddress(4711);
        var library =
                NativeLibrary.from(
                        provider(symbol ->
                                symbol.equals("sum") ? Optional.of(address) : Optional.empty()));

        assertThat(library.isProvided()).isTrue();
        assertThat(library).hasToString("fabled-soft");
        assertThat(library.require("sum")).isEqualTo(address);
        assertThat(library.find("difference")).isEmpty();
        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(() -> library.require("difference"))
                .withMessageStartingWith("fabled-soft has no function difference");
    }

    @Test
    void shouldNameTheOptionForTheModuleIfNativeAccessIsDenied() throws Exception {
        var child =
                ChildJvm.onModulePath(OpenWithoutPermission.class, "--illegal-native-access=deny");

        assertThat(child.output())
                .contains(
                        "by name: This JVM denies native access. Start java with --enable-native-access=org.jrdma.ffi.",
                        "by file: This JVM denies native access. Start java with --enable-native-access=org.jrdma.ffi.",
                        "from a provider: This JVM denies native access. Start java with --enable-native-access=org.jrdma.ffi.");
        assertThat(child.exitCode()).isZero();
    }

    @Test
    void shouldNameTheOptionForTheClassPathIfNativeAccessIsDenied() throws Exception {
        var child =
                ChildJvm.onClassPath(OpenWithoutPermission.class, "--illegal-native-access=deny");

        assertThat(child.output())
                .contains(
                        "by name: This JVM denies native access. Start java with --enable-native-access=ALL-UNNAMED.",
                        "by file: This JVM denies native access. Start java with --enable-native-access=ALL-UNNAMED.",
                        "from a provider: This JVM denies native access. Start java with --enable-native-access=ALL-UNNAMED.");
        assertThat(child.exitCode()).isZero();
    }

    @Test
    void shouldOpenLibrariesWithTheNamedOption() throws Exception {
        var onModulePath =
                ChildJvm.onModulePath(
                        OpenWithoutPermission.class,
                        "--illegal-native-access=deny",
                        "--enable-native-access=org.jrdma.ffi");
        var onClassPath =
                ChildJvm.onClassPath(
                        OpenWithoutPermission.class,
                        "--illegal-native-access=deny",
                        "--enable-native-access=ALL-UNNAMED");

        assertThat(onModulePath.output()).contains("by name: opened", "by file: opened");
        assertThat(onClassPath.output()).contains("by name: opened", "by file: opened");
    }

    /** Main program of a separate JVM that denies native access. */
    static final class OpenWithoutPermission {

        private OpenWithoutPermission() {}

        private interface Opening {
            Object open() throws LibraryNotFoundException;
        }

        public static void main(String... arguments) throws LibraryNotFoundException {
            print("by name", () -> NativeLibrary.open(PRESENT));
            print("by file", () -> NativeLibrary.open(PRESENT_FILE));
            print("from a provider", () -> NativeLibrary.from(provider(_ -> Optional.empty())));
        }

        private static void print(String what, Opening opening) throws LibraryNotFoundException {
            try {
                opening.open();
                System.out.println(what + ": opened");
            } catch (IllegalCallerException e) {
                System.out.println(what + ": " + e.getMessage());
            }
        }
    }

    private static LibraryProvider provider(SymbolLookup symbols) {
        return new LibraryProvider() {
            @Override
            public String name() {
                return "fabled-soft";
            }

            @Override
            public SymbolLookup symbols() {
                return symbols;
            }
        };
    }
}
