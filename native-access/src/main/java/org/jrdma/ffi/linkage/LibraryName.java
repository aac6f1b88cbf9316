package org.jrdma.ffi.linkage;

/**
 * A shared library as the dynamic linker knows it, and where people get it.
 *
 * @param soname the name with its version, as {@code libibverbs.so.1}
 * @param debianPackages what to install on Debian and Ubuntu
 * @param fedoraPackages what to install on Fedora and its kin
 * @param susePackages what to install on SUSE
 */
public record LibraryName(
        String soname, String debianPackages, String fedoraPackages, String susePackages) {

    String advice() {
        return "Install it with \"apt install %s\" (Debian, Ubuntu), \"dnf install %s\" (Fedora, RHEL) or \"zypper install %s\" (SUSE), or name the file."
                .formatted(debianPackages, fedoraPackages, susePackages);
    }
}
