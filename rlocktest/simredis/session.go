package simredis

import (
	"bytes"
	"slices"

	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// Session is a connection without a network: a command's reply is there when Do returns.
type Session struct {
	s    *Server
	peer *simnet.Peer
	out  bytes.Buffer
}

// Session connects.
func (s *Server) Session(host string) *Session {
	x := &Session{s: s}
	x.peer = simnet.Local(s.Addr, host, s, func(b []byte) { x.out.Write(b) })
	return x
}

// Do sends a command and returns what has come since the last one: messages, and its reply.
func (x *Session) Do(args ...string) []byte {
	x.s.Input(x.peer, appendReply(nil, args))
	return x.Received()
}

// Received returns what has come since the last call, such as the reply of a command that
// has waited.
func (x *Session) Received() []byte {
	b := slices.Clone(x.out.Bytes())
	x.out.Reset()
	return b
}

// Ended tells whether the server has closed the connection.
func (x *Session) Ended() bool { return x.peer.IsClosed() }
