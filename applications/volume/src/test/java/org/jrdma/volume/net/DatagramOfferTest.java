package org.jrdma.volume.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.Arrays;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;
import org.junit.jupiter.api.Test;

/** Tests the private data with which nodes agree on datagrams. */
final class DatagramOfferTest {

    /** The lengths of the private data of a connect request and of a reply, with padding. */
    private static final int REQUEST_BYTES = 56;

    private static final int REPLY_BYTES = 196;

    private static final DatagramOffer OFFER =
            new DatagramOffer(
                    new Endpoint(3, 0xABCDEF, 5, new Gid(1, 2)), 0x7FFF_FFFF, 4096, Long.MIN_VALUE);

    private static PrivateData padded(byte[] data, int length) {
        return PrivateData.of(Arrays.copyOf(data, length));
    }

    @Test
    void shouldDecodeAnOfferWithPadding() {
        assertThat(DatagramOffer.decode(padded(OFFER.encode(), REQUEST_BYTES))).contains(OFFER);
    }

    @Test
    void shouldFindNoOfferInThePrivateDataOfANodeWithoutDatagrams() {
        assertThat(DatagramOffer.decode(PrivateData.of())).isEmpty();
        assertThat(DatagramOffer.decode(PrivateData.of(new byte[REQUEST_BYTES]))).isEmpty();
    }

    @Test
    void shouldRejectAMalformedOffer() {
        var bytes = OFFER.encode();
        assertThat(DatagramOffer.decode(padded(bytes, bytes.length - 1))).isEmpty();
        var queuePairNumber = 6;
        bytes[queuePairNumber] = 1; // more than 24 bits
        assertThat(DatagramOffer.decode(padded(bytes, REQUEST_BYTES))).isEmpty();
        var small = new DatagramOffer(OFFER.endpoint(), 1, 255, 1).encode();
        assertThat(DatagramOffer.decode(padded(small, REQUEST_BYTES))).isEmpty();
    }

    @Test
    void shouldBeForTheAddressOfItsGid() throws Exception {
        var ipv4 = InetAddress.getByName("10.0.0.1");
        var ipv6 = InetAddress.getByName("fd00::1");

        assertThat(offer(0, Gid.of(ipv4)).isFor(ipv4)).isTrue();
        assertThat(offer(0, Gid.of(ipv6)).isFor(ipv6)).isTrue();
        assertThat(offer(0, Gid.of(ipv6)).isFor(ipv4)).isFalse();
        assertThat(offer(0, Gid.of(InetAddress.getByName("10.0.0.2"))).isFor(ipv4)).isFalse();
        assertThat(offer(0, Gid.NONE).isFor(ipv4)).isFalse();
        assertThat(offer(3, Gid.of(ipv4)).isFor(ipv4)).isFalse();
    }

    private static DatagramOffer offer(int lid, Gid gid) {
        return new DatagramOffer(new Endpoint(lid, 1, 0, gid), 1, 4096, 1);
    }

    @Test
    void shouldDecodeAnAnswer() {
        assertThat(DatagramOffer.decodeAnswer(padded(DatagramOffer.answer(1024), REPLY_BYTES)))
                .isEqualTo(1024);
        assertThat(DatagramOffer.decodeAnswer(padded(DatagramOffer.answer(255), REPLY_BYTES)))
                .isZero();
        assertThat(DatagramOffer.decodeAnswer(padded(DatagramOffer.answer(-1), REPLY_BYTES)))
                .isZero();
        assertThat(DatagramOffer.decodeAnswer(PrivateData.of(new byte[REPLY_BYTES]))).isZero();
        assertThat(DatagramOffer.decodeAnswer(PrivateData.of())).isZero();
    }
}
