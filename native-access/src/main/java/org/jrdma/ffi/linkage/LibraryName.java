package org.jrdma.ffi.linkage;

import java.nio.file.Path;
import java.util.List;

/**
 * A shared library as the dynamic linker knows it, and where people get it.
 *
 * @param soname the name with its version, as {@code libibverbs.so.1}
 * @param folders where its installer puts it besides the path of the dynamic linker
 * @param advice how to get it, in sentences
 */
public record LibraryName(String soname, List<Path> folders, String advice) {

    /**
     * One that distributions have packages of.
     *
     * @param soname the name with its version, as {@code libibverbs.so.1}
     * @param debianPackages what to install on Debian and Ubuntu
     * @param fedoraPackages what to install on Fedora and its kin
     * @param susePackages what to install on SUSE
     */
    public LibraryName(
            String soname, String debianPackages, String fedoraPackages, String susePackages) {
        this(
                soname,
                List.of(),
                "Install it with \"apt install %s\" (Debian, Ubuntu), \"dnf install %s\" (Fedora, RHEL) or \"zypper install %s\" (SUSE), or name the file."
                        .formatted(debianPackages, fedoraPackages, susePackages));
    }
}
