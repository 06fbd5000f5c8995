package redisconn

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"
)

// What a server may say at the most. Redisson's scripts answer in a few
// bytes; a renewal is an array of a hundred, INFO some kilobytes.
const (
	maxBulk  = 1 << 20
	maxArray = 1000

	// maxAdmitted is for an answer that is admitted: a cluster's map of slots, each
	// of which may have a line of its own.
	maxAdmitted = 16384

	maxDepth = 4
	maxLine  = 64 << 10
	maxReply = 4 << 20
)

// Admit has what is read from now on contain bulk strings of up to n bytes, and
// longer arrays, for a read whose answer grows with the server's clients or with
// a cluster; 0 is as ever.
// It is for whoever reads.
func (c *Conn) Admit(n int) { c.guard.s.admit = n }

// Reads counts the reads of the network so far: what is received between two equal
// counts had come before the first of it was. It is for whoever reads.
func (c *Conn) Reads() int { return c.guard.reads }

// guard checks what a server says before redigo, which believes every length
// (and panics on one that memory can't hold), gets to see it. A reply beyond
// the bounds ends the connection.
type guard struct {
	net.Conn
	s       scanner
	managed atomic.Bool

	before func() bool // before each read, once managed: whether replies are expected
	after  func()      // after each
	poll   *poller     // nil: not polled
	reads  int         // of the network, so far; whoever reads has it

	severed severed
	pusher
}

// SetReadDeadline leaves the deadline alone if it is somebody else's business.
func (g *guard) SetReadDeadline(t time.Time) error {
	if g.managed.Load() {
		return nil
	}
	return g.Conn.SetReadDeadline(t)
}

// Read passes on what the connection reads as long as it is within bounds.
func (g *guard) Read(p []byte) (int, error) {
	var n int
	var err error
	g.reads++
	if !g.managed.Load() {
		n, err = g.Conn.Read(p)
	} else {
		n, err = g.wait(p)
		g.after()
	}
	if serr := g.s.scan(p[:n]); serr != nil {
		g.Conn.Close()
		return 0, serr
	}
	return n, g.severed.or(err)
}

// wait reads what comes next, for whoever manages the connection.
func (g *guard) wait(p []byte) (int, error) {
	if expected := g.before(); expected && g.poll != nil {
		return g.poll.read(p)
	}
	return g.Conn.Read(p)
}

// scanner follows a stream of RESP2 replies without keeping any of it.
type scanner struct {
	kind  byte // of the header line under way; 0 between lines
	line  int  // its bytes so far
	num   int  // its length, for $ and *
	minus bool
	skip  int // bytes of a bulk string, its CRLF included, still to come
	depth int
	left  [maxDepth]int // elements still to come of each open array
	total int           // bytes of the reply under way
	admit int           // more than the usual bounds, if it is
}

func (s *scanner) scan(b []byte) error {
	for len(b) > 0 {
		if s.skip > 0 {
			n := min(s.skip, len(b))
			b = b[n:]
			if s.skip -= n; s.skip == 0 {
				s.element()
			}
			continue
		}
		if s.kind == 0 {
			if strings.IndexByte("+-:$*", b[0]) < 0 {
				return fmt.Errorf("hostile reply: it begins with %q", b[0])
			}
			s.kind, s.line, s.num, s.minus = b[0], 0, 0, false
			if err := s.count(1); err != nil {
				return err
			}
			b = b[1:]
			continue
		}
		end := bytes.IndexByte(b, '\n')
		head := b
		if end >= 0 {
			head = b[:end]
		}
		if err := s.header(head); err != nil {
			return err
		}
		if end < 0 {
			return nil
		}
		b = b[end+1:]
		if err := s.finish(); err != nil {
			return err
		}
	}
	return nil
}

// count adds to the size of the reply under way.
func (s *scanner) count(n int) error {
	if most := max(maxReply, s.admit+maxLine); s.total+n > most {
		return fmt.Errorf("hostile reply: more than %d bytes", most)
	}
	s.total += n
	return nil
}

// header takes a piece of a header line without its line feed.
func (s *scanner) header(b []byte) error {
	if s.line += len(b); s.line > maxLine {
		return fmt.Errorf("hostile reply: a line of more than %d bytes", maxLine)
	}
	if err := s.count(len(b)); err != nil {
		return err
	}
	if s.kind != '$' && s.kind != '*' {
		return nil
	}
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			// Past the bounds it need not be exact.
			s.num = min(s.num, 1<<27)*10 + int(c-'0')
		case c == '-':
			s.minus = true
		}
	}
	return nil
}

// finish takes the end of a header line.
func (s *scanner) finish() error {
	kind := s.kind
	s.kind = 0
	switch {
	case kind == '$' && !s.minus:
		if most := max(maxBulk, s.admit); s.num > most {
			return fmt.Errorf("hostile reply: a bulk string of more than %d bytes", most)
		}
		s.skip = s.num + len("\r\n")
		return s.count(s.skip)
	case kind == '*' && !s.minus && s.num > 0:
		most := maxArray
		if s.admit > 0 {
			most = maxAdmitted
		}
		if s.num > most {
			return fmt.Errorf("hostile reply: an array of more than %d elements", most)
		}
		if s.depth == maxDepth {
			return fmt.Errorf("hostile reply: arrays more than %d deep", maxDepth)
		}
		s.left[s.depth] = s.num
		s.depth++
		return nil
	}
	s.element()
	return nil
}

// element closes a value and the arrays that it completes.
func (s *scanner) element() {
	for s.depth > 0 {
		if s.left[s.depth-1]--; s.left[s.depth-1] > 0 {
			return
		}
		s.depth--
	}
	s.total = 0
}
