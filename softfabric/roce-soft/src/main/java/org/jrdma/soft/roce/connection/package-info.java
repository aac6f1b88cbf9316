/**
 * Connection management: the messages with which the connection managers of two machines connect
 * their queue pairs, including the header that librdmacm adds to private data. Like the engine,
 * this package has no threads, sockets or C structures, and its caller advances the clock.
 *
 * <p>Datagrams are not authenticated, so the sender of a message may be any host that can send with
 * the address of a peer. A message changes an existing connection or SIDR exchange only if its
 * source is the address of the peer, the state permits the message, and the following fields match.
 * The IDs, the queue pair numbers and the sequence numbers of this side are random:
 *
 * <table>
 * <caption>Fields that must match</caption>
 * <tr><th>Message<th>Fields<th>States that it changes
 * <tr><td>REQ with the ID of a known request<td>remote ID<td>none: the last answer is repeated
 * <tr><td>REQ with the queue pair of another connection<td>adapter GUID, remote queue pair
 *     <td>none: see {@code Connection.verify}
 * <tr><td>REP<td>local ID, and in later states remote ID<td>request sent
 * <tr><td>RTU<td>local and remote ID<td>reply sent
 * <tr><td>MRA of a REQ<td>local ID<td>request sent
 * <tr><td>MRA of a REP<td>local and remote ID<td>reply sent
 * <tr><td>REJ of a REQ<td>local ID<td>request sent
 * <tr><td>REJ because of a timeout<td>remote ID, adapter GUID<td>request received, reply sent
 * <tr><td>other REJ<td>local and remote ID<td>all until the disconnect
 * <tr><td>DREQ<td>local and remote ID, local queue pair<td>reply sent, established, disconnecting
 * <tr><td>DREP<td>local and remote ID<td>disconnecting
 * <tr><td>SIDR_REQ with a known ID<td>remote request ID<td>none: the answer is repeated
 * <tr><td>SIDR_REP<td>local request ID<td>request sent
 * <tr><td>LAP, APR and others<td><td>none: they are dropped
 * </table>
 *
 * <p>The source port proves nothing, because peers may use several. The time for which a message of
 * this side is repeated is limited, because a peer chooses the timeout and may not exist.
 */
@NullMarked
package org.jrdma.soft.roce.connection;

import org.jspecify.annotations.NullMarked;
