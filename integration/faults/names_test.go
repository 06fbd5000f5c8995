package faults

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// nameServer answers this process's questions for names of its own, so that a name can be given another address while
// somebody uses it. What it answers may not be kept.
type nameServer struct {
	conn net.PacketConn
	done sync.WaitGroup

	mu    sync.Mutex // guards names
	names map[string]netip.Addr
}

var names nameServer

// serve takes the place of the process's resolver until the test ends.
func (s *nameServer) serve(t *testing.T) {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.conn, s.names = conn, map[string]netip.Addr{}
	s.done.Go(func() {
		b := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			if answer := s.answer(b[:n]); answer != nil {
				_, _ = conn.WriteTo(answer, from) // who hears nothing asks again
			}
		}
	})
	usual := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = usual
		conn.Close()
		s.done.Wait()
	})
}

// set gives name an address, from now on.
func (s *nameServer) set(name, address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[name] = netip.MustParseAddr(address)
}

// answer takes one question, RFC 1035 section 4. Names that are not its own do not exist.
func (s *nameServer) answer(question []byte) []byte {
	const header, typeA, classIN = 12, 1, 1
	if len(question) < header || binary.BigEndian.Uint16(question[4:]) != 1 {
		return nil
	}
	var labels []string
	at := header
	for at < len(question) && question[at] != 0 {
		end := at + 1 + int(question[at])
		if end > len(question) {
			return nil
		}
		labels = append(labels, string(question[at+1:end]))
		at = end
	}
	if at += 1 + 4; at > len(question) {
		return nil
	}
	s.mu.Lock()
	address, known := s.names[strings.ToLower(strings.Join(labels, "."))]
	s.mu.Unlock()
	flags := uint16(0x8580) // a response of an authority that resolves further
	if !known {
		flags |= 3 // no such name
	}
	asksA := binary.BigEndian.Uint16(question[at-4:]) == typeA
	answers := uint16(0)
	if known && asksA {
		answers = 1
	}
	b := append([]byte(nil), question[:2]...)
	for _, n := range []uint16{flags, 1, answers, 0, 0} {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	b = append(b, question[header:at]...)
	if answers == 1 {
		b = binary.BigEndian.AppendUint16(b, 0xc000|header) // the name, as in the question
		b = binary.BigEndian.AppendUint16(b, typeA)
		b = binary.BigEndian.AppendUint16(b, classIN)
		b = binary.BigEndian.AppendUint32(b, 0) // seconds to keep it
		b = binary.BigEndian.AppendUint16(b, 4)
		a4 := address.As4()
		b = append(b, a4[:]...)
	}
	return b
}

func TestNamesMove(t *testing.T) {
	names.serve(t)
	for _, address := range []string{"127.0.0.1", "127.0.0.2"} {
		names.set("a.moves.test", address)
		got, err := net.DefaultResolver.LookupHost(t.Context(), "a.moves.test")
		if err != nil || len(got) != 1 || got[0] != address {
			t.Errorf("%v, %v, want %s", got, err, address)
		}
	}
	if got, err := net.DefaultResolver.LookupHost(t.Context(), "b.moves.test"); err == nil {
		t.Errorf("a name that is not there is %v", got)
	}
}
