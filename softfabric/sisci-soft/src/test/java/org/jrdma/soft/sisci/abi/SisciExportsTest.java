package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jrdma.abi.sisci.sci_address_t;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.abi.sisci.sisci_query;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.Upcalls;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.fabric.SciException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests of the exported symbols and their signatures. */
class SisciExportsTest {

    private static final Path HEADER = Path.of("../../headers/sisci/sisci.h");
    private static final Path UNUSED_FOLDER = Path.of("/dev/shm/sisci-test-never-joined");
    private static final SoftSisciLibrary LIBRARY =
            new SoftSisciLibrary(() -> {
                throw new AssertionError("The library must not join a fabric.");
            });

    static Stream<Method> functions() {
        return Stream.of(
                        LibraryExports.class,
                        NodeExports.class,
                        LocalSegmentExports.class,
                        RemoteSegmentExports.class,
                        MapAndSequenceExports.class,
                        DmaExports.class,
                        InterruptExports.class,
                        DeviceExports.class)
                .flatMap(type -> Stream.of(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(Exported.class));
    }

    @ParameterizedTest
    @MethodSource("functions")
    void shouldHaveTheSignatureOfTheHeader(Method function) throws Exception {
        var exported = function.getAnnotation(Exported.class);
        var arguments = new ArrayList<>(List.of(function.getParameterTypes()));
        if (exported.reports()) {
            arguments.add(long.class);
        }
        var header =
                (FunctionDescriptor)
                        sisci_h.class.getMethod(exported.value() + "$descriptor").invoke(null);

        assertThat(Upcalls.descriptor(MethodType.methodType(function.getReturnType(), arguments)))
                .isEqualTo(withNumbersForPointers(header));
    }

    private static FunctionDescriptor withNumbersForPointers(FunctionDescriptor header) {
        var arguments =
                header.argumentLayouts().stream()
                        .map(SisciExportsTest::parameterLayout)
                        .toArray(MemoryLayout[]::new);
        return header.returnLayout()
                .map(result -> FunctionDescriptor.of(parameterLayout(result), arguments))
                .orElseGet(() -> FunctionDescriptor.ofVoid(arguments));
    }

    /**
     * Returns the layout of a parameter in the Java method. Pointers, and the only structure that
     * is passed by value, are integers of type {@code long}.
     */
    private static MemoryLayout parameterLayout(MemoryLayout layout) {
        var isNumber = layout instanceof AddressLayout || layout.equals(sci_address_t.layout());
        return isNumber ? ValueLayout.JAVA_LONG : layout.withoutName();
    }

    @ParameterizedTest
    @MethodSource("functions")
    void shouldExportEachFunctionUnderThreeNames(Method function) {
        var name = function.getAnnotation(Exported.class).value();
        var found = LIBRARY.find(name);

        assertThat(found).isPresent();
        assertThat(LIBRARY.find("_SISCI_PUBLIC_FUNC_MT_" + name)).isEqualTo(found);
        assertThat(LIBRARY.find("_SISCI_PUBLIC_FUNC_ST_" + name)).isEqualTo(found);
    }

    @Test
    void shouldNotExportUnsupportedFunctions() {
        assertThat(LIBRARY.find("SCIConnectDeviceSegmentPath")).isEmpty();
        assertThat(LIBRARY.find("_SISCI_PUBLIC_FUNC_MT_SCIAttachPhysicalMemory")).isEmpty();
        assertThat(LIBRARY.find("_SISCI_PUBLIC_CONST_SCI_FLAG_NO_SUCH_FLAG")).isEmpty();
    }

    @Test
    void shouldExportEveryConstantOfTheHeaderWithItsPublicNumber() throws Exception {
        var header = Files.readString(HEADER);
        var numbers = new HashMap<String, Integer>();
        var define = Pattern.compile("#define (SCI_\\w+) (0x\\w+)").matcher(header);
        while (define.find()) {
            numbers.put(
                    define.group(1), Integer.parseUnsignedInt(define.group(2).substring(2), 16));
        }
        var exported = new ArrayList<String>();
        var data = Pattern.compile("SISCI_DATA\\((SCI_\\w+)\\)").matcher(header);
        while (data.find()) {
            var name = data.group(1);
            exported.add(name);
            if (numbers.containsKey(name)) {
                assertThat(constant(name)).as(name).isEqualTo(numbers.get(name));
            } else {
                // An arbitrary number of more than 16 bits, which no program uses by accident.
                assertThat(Integer.toUnsignedLong(constant(name))).as(name).isGreaterThan(0xFFFF);
            }
        }
        assertThat(exported).hasSizeGreaterThan(80);
    }

    private static int constant(String name) {
        return Downcalls.memoryAt(
                        LIBRARY.find("_SISCI_PUBLIC_CONST_" + name).orElseThrow(), Integer.BYTES)
                .get(JAVA_INT, 0);
    }

    @Test
    void shouldHaveADistinctNumberForEachQuery() {
        assertThat(Stream.of(sisci_query.values()).map(QueryCommandNumbers::number))
                .doesNotHaveDuplicates();
    }

    @Test
    void shouldRejectAllCallsBeforeInitialization() {
        var program = new LibraryCaller(SoftSisciOptions.in(UNUSED_FOLDER));

        assertThat(program.attempt("SCIOpen", program.place().address(), 0))
                .isEqualTo("NOT_INITIALIZED");
        assertThat(program.attempt("SCIGetLocalNodeId", 0, program.place().address(), 0))
                .isEqualTo("NOT_INITIALIZED");
        assertThat(UNUSED_FOLDER).doesNotExist();
    }

    @Test
    void shouldRejectAStaleHandleWhoseSlotIsReused() {
        var handles = new Handles();
        var first = handles.add("first");
        handles.release(first);
        var second = handles.add("second");

        assertThat(handles.object(second, String.class)).isEqualTo("second");
        assertThatThrownBy(() -> handles.object(first, String.class))
                .isInstanceOf(SciException.class);
        assertThatThrownBy(() -> handles.object(second, Integer.class))
                .isInstanceOf(SciException.class);
    }

    @Test
    void shouldReturnATextForEachError() {
        var library = new LibraryCaller(SoftSisciOptions.in(UNUSED_FOLDER));
        var texts =
                Map.of(
                        sisci_h.SCI_ERR_BUSY(),
                        "busy",
                        sisci_h.SCI_ERR_NO_SUCH_SEGMENT(),
                        "no such intno, or no such segment",
                        constant("SCI_ERR_NO_SUCH_FDID"),
                        "no such fdid",
                        0x40000999,
                        "unknown error 0x40000999");

        texts.forEach((code, text) ->
                assertThat(
                                Downcalls.textAt(
                                        MemorySegment.ofAddress(
                                                library.plain("SCIGetErrorString", code))))
                        .isEqualTo(text));
    }
}
