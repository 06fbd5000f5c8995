// Package faultproxy puts a chosen fault between a Redis client and a real server.
//
// The proxy reads RESP in both directions and knows which reply belongs to which command, so a [Rule] can name one
// command and choose its fate: the command never arrives; it runs and its reply is lost, late or replaced; or its bytes
// are delayed and arrive after their sender is gone. All other bytes pass unchanged.
//
// Three ideas make the faults behave as those of a network:
//   - A connection is a stream. Bytes behind lost or late bytes are lost or late too: a dropped reply silences its
//     connection, and a withheld command holds back all that its client writes after it.
//   - The two halves of a connection end separately. Withheld bytes outlive the client's side; only the server can keep
//     them from running, for example after CLIENT KILL. The server knows the connection by the proxy's address
//     (see [Conn]), not by the client's.
//   - Tests wait for states, not for a guessed time. [Handle.Hit] closes when a rule first applies, and
//     [Handle.Release] returns when the server has answered the withheld bytes or closed their connection.
//
// The proxy records all exchanges, see [Proxy.Record].
//
// Once a replica asks for its master's data (PSYNC), its connection passes unchanged and unrecorded.
//
// Not supported: TLS, CLIENT REPLY OFF and SKIP. After MONITOR the lines of a connection are paired with no command.
package faultproxy
