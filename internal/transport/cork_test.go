package transport

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
)

// pieces is a connection that notes each write.
type pieces struct {
	net.Conn
	writes [][]byte
	err    error
}

func (p *pieces) Write(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	p.writes = append(p.writes, bytes.Clone(b))
	return len(b), nil
}

func TestCorkedWritesLeaveTogetherInOrder(t *testing.T) {
	p := &pieces{}
	g := &guard{Conn: p}
	c := &Conn{guard: g}
	var want []byte
	write := func(n int, fill byte) {
		b := bytes.Repeat([]byte{fill}, n)
		want = append(want, b...)
		if k, err := g.Write(b); k != n || err != nil {
			t.Fatalf("wrote %d, %v", k, err)
		}
	}
	write(10, 'a')
	if len(p.writes) != 1 {
		t.Fatalf("%d writes before the cork, want 1", len(p.writes))
	}
	c.Cork()
	for i := range 9 {
		write(4096, 'b'+byte(i))
	}
	if err := c.Uncork(); err != nil {
		t.Fatal(err)
	}
	if len(p.writes) != 4 { // the first, and 36 KiB in pieces of at most 16
		t.Errorf("%d writes, want 4", len(p.writes))
	}
	if got := bytes.Join(p.writes, nil); !bytes.Equal(got, want) {
		t.Error("other bytes, or in another order")
	}
	write(10, 'z')
	if len(p.writes) != 5 {
		t.Error("still corked")
	}
}

func TestUncorkTellsOfAWriteThatFailed(t *testing.T) {
	p := &pieces{err: io.ErrClosedPipe}
	c := &Conn{guard: &guard{Conn: p}}
	c.Cork()
	if _, err := c.guard.Write([]byte("PING")); err != nil {
		t.Fatal(err)
	}
	if err := c.Uncork(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}
