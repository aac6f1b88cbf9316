package org.jrdma.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.LibraryProvider;
import org.jrdma.sisci.FakeLibrary.Kind;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(30)
class SisciTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"SINGLE_THREADED", "WITH_CONSTANTS", "PLAIN"})
    void shouldFindFunctionsUnderEachExportedName(Kind kind) throws Exception {
        var library = new FakeLibrary(kind);

        try (var node = library.sisci.open();
                var segment = node.newSegment(7, 4096)) {
            segment.offer();
            try (var remote = node.connect(node.id(), 7, TIMEOUT);
                    var map = remote.map()) {
                map.putLongRelease(8, 42);
                map.flush();

                assertThat(segment.map().getLong(8)).isEqualTo(42);
            }
            assertThat(node.id()).isEqualTo(FakeLibrary.NODE);
        }
        assertThat(library.calls("SCIFlush")).isEqualTo(2);
        assertThat(library.sisci).hasToString(library.file.toString());
    }

    @Test
    void shouldReadConstantsThatTheLibraryExports() throws Exception {
        var library = new FakeLibrary(Kind.WITH_CONSTANTS);

        try (var node = library.sisci.open()) {
            assertThat(library.sisci.version()).isEqualTo("test");
            assertThat(node.adapter().query(Adapter.Query.SERIAL_NUMBER)).isEqualTo(1234);
            // The library's number of AUTO_ID differs from the number in the header. With the
            // number of the header, the second segment would fail because its id is in use.
            try (var first = node.newSegment(SegmentOptions.withFreeId(7, 4096));
                    var second = node.newSegment(SegmentOptions.withFreeId(7, 4096))) {
                assertThat(first.id()).isEqualTo(7);
                assertThat(second.id()).isEqualTo(8);
            }
        }
    }

    @Test
    void shouldRejectAQueryIfItsNumberIsUnknown() throws Exception {
        var library = new FakeLibrary(Kind.SINGLE_THREADED);

        try (var node = library.sisci.open()) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> node.adapter().query(Adapter.Query.SERIAL_NUMBER))
                    .withMessage(
                            "%s does not export _SISCI_PUBLIC_CONST_SCI_Q_ADAPTER, and its number is not publicly documented",
                            library.file);
        }
    }

    @Test
    void shouldNameAMissingFunction() throws Exception {
        var library = new FakeLibrary(Kind.SINGLE_THREADED);

        try (var node = library.sisci.open()) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> node.requestDmaChannel(DmaChannel.Engine.ANY))
                    .withMessage("%s has no function SCIRequestDMAChannel", library.file);
        }
    }

    @Test
    void shouldRejectALibraryOfVersion1() throws Exception {
        var file = FakeLibrary.copy(Kind.VERSION_1);

        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(() -> Sisci.load(file))
                .withMessageContaining("is version 1 of SISCI (DIS 4.4 or older)");
    }

    @Test
    void shouldRejectAnotherLibrary() {
        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(() -> Sisci.from(new EmptyProvider()))
                .withMessage(
                        "nothing has neither the function _SISCI_PUBLIC_FUNC_MT_SCIInitialize nor _SISCI_PUBLIC_FUNC_ST_SCIInitialize: it is not a libsisci.");
    }

    private static final class EmptyProvider implements LibraryProvider {
        @Override
        public String name() {
            return "nothing";
        }

        @Override
        public SymbolLookup symbols() {
            return _ -> Optional.empty();
        }
    }

    @Test
    void shouldReportTheSearchedPlacesAndTheAlternativesOfAMissingLibrary() {
        assumeFalse(Files.exists(Path.of("/opt/DIS/lib64/libsisci.so")), "SISCI is installed");

        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(Sisci::system)
                .withMessageStartingWith(
                        "libsisci.so could not be opened. Searched: the dynamic linker's search path (LD_LIBRARY_PATH is ")
                .withMessageContaining(
                        "), /opt/DIS/lib64/libsisci.so. The library comes with the driver")
                .withMessageContaining("Dolphin's adapters")
                .withMessageEndingWith(
                        "To use the software fabric, call Sisci.software(), or Sisci.configured() with -Djrdma.fabric=software.");
    }

    @Test
    void shouldNameTheMissingDependencyOfTheSoftwareFabric() {
        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(Sisci::software)
                .withMessageContaining("Add the dependency org.jrdma:sisci-soft")
                .withMessageContaining("--add-modules org.jrdma.soft.sisci");
    }

    @Test
    void shouldRejectAnInvalidFabricProperty() {
        System.setProperty("jrdma.fabric", "hardware");
        try {
            assertThatIllegalArgumentException()
                    .isThrownBy(Sisci::configured)
                    .withMessage(
                            "The system property jrdma.fabric is \"hardware\". It must be system or software.");
        } finally {
            System.clearProperty("jrdma.fabric");
        }
    }

    @Test
    void shouldInitializeWithTheFirstNodeAndTerminateWithTheLast() throws Exception {
        var library = new FakeLibrary(Kind.SINGLE_THREADED);

        var first = library.sisci.open();
        var second = library.sisci.open();
        first.close();
        assertThat(library.calls("SCIInitialize")).isOne();
        assertThat(library.calls("SCITerminate")).isZero();

        second.close();
        assertThat(library.calls("SCITerminate")).isOne();

        library.sisci.open().close();
        assertThat(library.calls("SCIInitialize")).isEqualTo(2);
        assertThat(library.calls("SCITerminate")).isEqualTo(2);
    }

    @Test
    void shouldInitializeALibraryOnceIfLoadedTwice() throws Exception {
        var library = new FakeLibrary(Kind.SINGLE_THREADED);

        var first = library.sisci.open();
        var second = Sisci.load(library.file).open();
        assertThat(library.calls("SCIInitialize")).isOne();
        first.close();
        assertThat(library.calls("SCITerminate")).isZero();
        second.close();
        assertThat(library.calls("SCITerminate")).isOne();
    }

    @Test
    void shouldTerminateAfterANodeThatCouldNotBeOpened() throws Exception {
        var library = new FakeLibrary(Kind.SINGLE_THREADED);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> library.sisci.open(1))
                .withMessage(
                        "SCIGetLocalNodeId failed for adapter 1: NO_SUCH_ADAPTER (0x40000909). Adapters are numbered from 0. Check that the driver is loaded and has found the adapter.")
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.NO_SUCH_ADAPTER))
                .satisfies(
                        e -> assertThat(e.code()).isEqualTo(sisci_h.SCI_ERR_NO_SUCH_ADAPTERNO()));

        assertThat(library.calls("SCITerminate")).isOne();
    }
}
