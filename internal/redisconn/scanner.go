package redisconn

import (
	"bytes"
	"fmt"
	"strings"
)

// What a server may say at the most. Redisson's scripts answer in a few
// bytes; a renewal is an array of 25, INFO some kilobytes.
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

// scanner follows a stream of RESP2 replies without keeping any of it, one after
// the other.
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

// scan follows b to the end of the reply under way, or as far as b goes. It tells
// how far it came, and whether the reply ends there.
func (s *scanner) scan(b []byte) (n int, whole bool, err error) {
	for n < len(b) {
		b := b[n:]
		switch {
		case s.skip > 0:
			skip := min(s.skip, len(b))
			n += skip
			if s.skip -= skip; s.skip == 0 {
				whole = s.element()
			}
		case s.kind == 0:
			if strings.IndexByte("+-:$*", b[0]) < 0 {
				return n, false, fmt.Errorf("hostile reply: it begins with %q", b[0])
			}
			s.kind, s.line, s.num, s.minus = b[0], 0, 0, false
			n++
			err = s.count(1)
		default:
			head, _, ends := bytes.Cut(b, []byte{'\n'})
			n += len(head)
			if err = s.header(head); err == nil && ends {
				n++
				whole, err = s.finish()
			}
		}
		if whole || err != nil {
			return n, whole, err
		}
	}
	return n, false, nil
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

// finish takes the end of a header line. It tells whether that ends the reply.
func (s *scanner) finish() (whole bool, err error) {
	kind := s.kind
	s.kind = 0
	switch {
	case kind == '$' && !s.minus:
		if most := max(maxBulk, s.admit); s.num > most {
			return false, fmt.Errorf("hostile reply: a bulk string of more than %d bytes", most)
		}
		s.skip = s.num + len("\r\n")
		return false, s.count(s.skip)
	case kind == '*' && !s.minus && s.num > 0:
		most := maxArray
		if s.admit > 0 {
			most = maxAdmitted
		}
		if s.num > most {
			return false, fmt.Errorf("hostile reply: an array of more than %d elements", most)
		}
		if s.depth == maxDepth {
			return false, fmt.Errorf("hostile reply: arrays more than %d deep", maxDepth)
		}
		s.left[s.depth] = s.num
		s.depth++
		return false, nil
	}
	return s.element(), nil
}

// element closes a value and the arrays that it completes. It tells whether that
// ends the reply.
func (s *scanner) element() (whole bool) {
	for s.depth > 0 {
		if s.left[s.depth-1]--; s.left[s.depth-1] > 0 {
			return false
		}
		s.depth--
	}
	s.total = 0
	return true
}
