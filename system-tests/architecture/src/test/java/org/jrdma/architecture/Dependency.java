package org.jrdma.architecture;

import java.util.Collection;

/** The use of one type or package by another. */
record Dependency(String user, String used) {

    /**
     * Returns the package of a top-level type. An accessor counts as part of the package that it
     * opens.
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
