package redisconn

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// The bounds of a reply. Redisson's scripts answer in a few bytes; a renewal
// gets an array of 25, INFO some kilobytes.
const (
	maxBulk  = 1 << 20
	maxArray = 1000

	// maxAdmitted is the bound of an array after Admit: a cluster's map of slots may
	// have one entry for each slot.
	maxAdmitted = 16384

	maxDepth = 4
	maxLine  = 64 << 10
	maxReply = 4 << 20
)

// tlsAlert is the first byte of what a port with TLS answers to a command.
const tlsAlert = 21

var errAlert = errors.New("a TLS alert came in place of a reply")

// errShort says that the reply has not come in full yet.
var errShort = errors.New("the reply is not all there")

// reader decodes replies of RESP2 into the types that redigo uses. An error other than
// errShort says, as early as possible, that the reply is malformed or beyond the bounds.
// Nothing is allocated for a length beyond the bounds.
type reader struct {
	b     []byte // the bytes that have come
	at    int    // how many of them were read
	admit int    // how long a bulk string may be, if that is more than usual; see Conn.Admit
}

// readReply reads the reply at the start of b. n is its length.
func readReply(b []byte, admit int) (reply any, n int, err error) {
	r := reader{b: b, admit: admit}
	reply, err = r.reply(0)
	n = r.at
	if err == errShort {
		n = len(b)
	}
	if most := max(maxReply, admit+maxLine); (err == nil || err == errShort) && n > most {
		err = hostile("more than %d bytes", most)
	}
	return reply, n, err
}

func hostile(format string, args ...any) error {
	return fmt.Errorf("hostile reply: "+format, args...)
}

// reply reads one value, which is inside depth arrays.
func (r *reader) reply(depth int) (any, error) {
	if r.at == len(r.b) {
		return nil, errShort
	}
	kind := r.b[r.at]
	if kind == tlsAlert {
		return nil, errAlert
	}
	if !strings.ContainsRune("+-:$*", rune(kind)) {
		return nil, hostile("it begins with %q", kind)
	}
	rest, err := r.line()
	if err != nil {
		return nil, err
	}
	switch kind {
	case '+':
		return string(rest), nil
	case '-':
		return redis.Error(rest), nil
	case ':':
		n, err := strconv.ParseInt(string(rest), 10, 64)
		if err != nil {
			return nil, hostile("the number %.20q", rest)
		}
		return n, nil
	case '$':
		n, err := length(rest, max(maxBulk, r.admit), "a bulk string of more than %d bytes")
		if err != nil || n < 0 {
			return nil, err
		}
		return r.bulk(n)
	default:
		most := maxArray
		if r.admit > 0 {
			most = maxAdmitted
		}
		n, err := length(rest, most, "an array of more than %d elements")
		if err != nil || n < 0 {
			return nil, err
		}
		return r.array(n, depth)
	}
}

// line reads a line, and returns what is between its first byte and its end.
func (r *reader) line() ([]byte, error) {
	rest := r.b[r.at:]
	n := bytes.IndexByte(rest[:min(len(rest), maxLine)], '\n')
	switch {
	case n < 0 && len(rest) >= maxLine:
		return nil, hostile("a line of more than %d bytes", maxLine)
	case n < 0:
		return nil, errShort
	case n < 2 || rest[n-1] != '\r':
		return nil, hostile("a line ends with %q", rest[max(n-1, 0):n+1])
	}
	r.at += n + 1
	return rest[1 : n-1], nil
}

func (r *reader) bulk(n int) (any, error) {
	rest := r.b[r.at:]
	if len(rest) < n+2 {
		return nil, errShort
	}
	if rest[n] != '\r' || rest[n+1] != '\n' {
		return nil, hostile("it goes on after its end")
	}
	r.at += n + 2
	return bytes.Clone(rest[:n:n]), nil
}

func (r *reader) array(n, depth int) (any, error) {
	if n > 0 && depth == maxDepth {
		return nil, hostile("arrays more than %d deep", maxDepth)
	}
	all := make([]any, n)
	for i := range all {
		var err error
		if all[i], err = r.reply(depth + 1); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// length reads the length of a value; -1 means a null value. beyond is the error text for a
// length above most.
func length(digits []byte, most int, beyond string) (int, error) {
	n, err := strconv.Atoi(string(digits))
	switch {
	case n > most: // also if no int holds it
		return 0, hostile(beyond, most)
	case err != nil || n < -1:
		return 0, hostile("the length %.20q", digits)
	}
	return n, nil
}
