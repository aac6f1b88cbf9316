package org.jrdma.ffi;

import java.lang.foreign.SymbolLookup;
import java.util.Optional;
import org.jrdma.ffi.linkage.NativeLibrary;

/**
 * A test program that opens a library from a {@link LibraryProvider} and prints its name. Run by
 * {@link ChildJvm}.
 */
public final class LibraryOpeningProgram {

    private LibraryOpeningProgram() {}

    public static void main(String... arguments) {
        var library =
                NativeLibrary.from(
                        new LibraryProvider() {
                            @Override
                            public String name() {
                                return "a test";
                            }

                            @Override
                            public SymbolLookup symbols() {
                                return _ -> Optional.empty();
                            }
                        });
        System.out.println("Opened " + library);
    }
}
