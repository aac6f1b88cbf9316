package org.jrdma.architecture;

import java.util.Collection;

/**
 * A dependency between two types or two packages.
 *
 * @param user the type or package that uses the other
 * @param used the type or package that is used
 */
record Dependency(String user, String used) {

    /**
     * Returns the package of a top-level type. The types of a package {@code p.access} count as
     * types of the package {@code p}, to whose members they give access.
     */
    static String packageOf(String type) {
        var name = type.substring(0, Math.max(0, type.lastIndexOf('.')));
        return name.endsWith(".access") ? name.substring(0, name.lastIndexOf('.')) : name;
    }

    Dependency ofPackages() {
        return new Dependency(packageOf(user), packageOf(used));
    }

    boolean staysInPackage() {
        return packageOf(user).equals(packageOf(used));
    }

    boolean isAmong(Collection<String> names) {
        return names.contains(user) && names.contains(used);
    }
}
