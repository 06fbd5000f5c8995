// Package faultproxy puts a chosen fault between a Redis client and a real server.
//
// The proxy reads RESP in both directions and knows which reply belongs to which command, so a [Rule] can name one
// command and say what happens to it: it never arrives, it runs and its reply is lost or late, another reply takes its
// place, or its bytes stay under way and arrive after their sender has gone. What is not named passes untouched, byte
// for byte.
//
// Three ideas make the faults true to a network's:
//   - A connection is a stream. Bytes behind lost or late bytes are lost or late too: a dropped reply silences its
//     connection, and a withheld command holds back all that its client writes after it.
//   - The two halves of a connection end apart. Withheld bytes outlive the client's side; only the server, asked by
//     CLIENT KILL for instance, can keep them from running. The server knows the connection by the proxy's address
//     (see [Conn]), not by the client's.
//   - Events are states to wait for. [Handle.Hit] closes when a rule first applies and [Handle.Release] returns when
//     the server has answered the withheld bytes or closed their connection, so that no test needs to guess a time.
//
// Everything that passes is recorded, see [Proxy.Record].
//
// A connection on which a replica asks for its master's data is passed on as it is from there, neither recorded nor changed.
//
// Not understood: TLS, CLIENT REPLY OFF and SKIP, and the rest of a connection that issued MONITOR is passed unpaired.
package faultproxy
