package org.jrdma.cli.net;

/**
 * A JVM that runs on this machine.
 *
 * @param pid its number here
 * @param program its main class or jar, as far as its command line tells
 * @param isOfThisUser whether it belongs to who asks
 * @param user to whom it belongs
 * @param isContained whether it is in a PID namespace below ours, as a container's processes are
 */
record Jvm(long pid, String program, boolean isOfThisUser, String user, boolean isContained) {}
