package org.jrdma.volume.net;

/**
 * The division of the data of a read into datagrams.
 *
 * @param bytes the length of the data
 * @param datagramBytes the length of the data of each datagram except for the last one
 */
record DatagramLayout(int bytes, int datagramBytes) {

    /** Returns the number of datagrams. */
    int count() {
        return Math.ceilDiv(bytes, datagramBytes);
    }

    /** Returns the offset of the data of a datagram. */
    int offset(int index) {
        return index * datagramBytes;
    }

    /** Returns the length of the data of a datagram. */
    int length(int index) {
        return Math.min(datagramBytes, bytes - offset(index));
    }
}
