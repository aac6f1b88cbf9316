package org.jrdma.ffi.linkage;

import java.nio.file.Path;
import java.util.List;

/**
 * The name of a shared library, and the instructions for its installation.
 *
 * @param soname the name with its version, such as {@code libibverbs.so.1}
 * @param folders the installation folders that are not in the dynamic linker's search path
 * @param advice the installation instructions, in sentences
 */
public record LibraryNameAndInstallation(String soname, List<Path> folders, String advice) {

    /**
     * Describes a library that Linux distributions offer as a package.
     *
     * @param soname the name with its version, such as {@code libibverbs.so.1}
     * @param debianPackages the packages of Debian and Ubuntu
     * @param fedoraPackages the packages of Fedora and RHEL
     * @param susePackages the packages of SUSE
     */
    public LibraryNameAndInstallation(
            String soname, String debianPackages, String fedoraPackages, String susePackages) {
        this(
                soname,
                List.of(),
                "Install it with \"apt install %s\" (Debian, Ubuntu), \"dnf install %s\" (Fedora, RHEL) or \"zypper install %s\" (SUSE), or name the file."
                        .formatted(debianPackages, fedoraPackages, susePackages));
    }
}
