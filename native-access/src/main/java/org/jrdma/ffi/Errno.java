package org.jrdma.ffi;

import java.util.HashMap;
import java.util.Map;

/** The error numbers of Linux, which are the same on x86-64 and aarch64. */
public final class Errno {

    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int ENXIO = 6;
    public static final int EBADF = 9;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EFAULT = 14;
    public static final int EBUSY = 16;
    public static final int EEXIST = 17;
    public static final int ENODEV = 19;
    public static final int EINVAL = 22;
    public static final int ENFILE = 23;
    public static final int EMFILE = 24;
    public static final int ENOSPC = 28;
    public static final int EPIPE = 32;
    public static final int ERANGE = 34;
    public static final int ENOSYS = 38;
    public static final int ENODATA = 61;
    public static final int EPROTO = 71;
    public static final int EOVERFLOW = 75;
    public static final int EMSGSIZE = 90;
    public static final int EPROTONOSUPPORT = 93;
    public static final int EOPNOTSUPP = 95;
    public static final int EAFNOSUPPORT = 97;
    public static final int EADDRINUSE = 98;
    public static final int EADDRNOTAVAIL = 99;
    public static final int ENETDOWN = 100;
    public static final int ENETUNREACH = 101;
    public static final int ECONNABORTED = 103;
    public static final int ECONNRESET = 104;
    public static final int ENOBUFS = 105;
    public static final int EISCONN = 106;
    public static final int ENOTCONN = 107;
    public static final int ETIMEDOUT = 110;
    public static final int ECONNREFUSED = 111;
    public static final int EHOSTUNREACH = 113;
    public static final int EALREADY = 114;
    public static final int EINPROGRESS = 115;
    public static final int ESTALE = 116;
    public static final int ECANCELED = 125;

    private static final Map<Integer, String> NAMES = names();

    private Errno() {}

    /**
     * Formats an error number with its name, such as {@code ENOMEM (12)}, or {@code errno 4711} if
     * its name is unknown.
     */
    public static String describe(int errno) {
        var name = NAMES.get(errno);
        return name == null ? "errno " + errno : name + " (" + errno + ")";
    }

    private static Map<Integer, String> names() {
        var names = new HashMap<Integer, String>();
        for (var field : Errno.class.getFields()) {
            try {
                names.put(field.getInt(null), field.getName());
            } catch (IllegalAccessException e) {
                throw new AssertionError(e);
            }
        }
        return Map.copyOf(names);
    }
}
