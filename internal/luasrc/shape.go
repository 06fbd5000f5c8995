package luasrc

import (
	"fmt"
	"strconv"
)

// maxQuoted is how many bytes of a foreign value an error repeats.
const maxQuoted = 80

// ShapeError reports a reply that the script or command can't have given for a
// lock: the key holds something else, or the server is no Redis server. Nothing
// was concluded from the reply.
type ShapeError struct {
	What string // the reply that was decoded, such as "acquire reply"
	Got  string // what it was: its type, and a shortened quotation
}

// noLock is the ShapeError.What of a hash that no lock with a single owner writes. It may be a read-write lock's.
const noLock = "hash"

// Error names the reply and what it was.
func (e *ShapeError) Error() string {
	if e.What == noLock {
		return "the key is a hash that is no lock of this kind (" + e.Got + ")"
	}
	return "the server sent an unexpected " + e.What + ": " + e.Got
}

// mismatch returns the error for a reply of the wrong form: the server's error,
// wrapped, if the reply is one, otherwise a ShapeError.
func mismatch(what string, reply any) error {
	if err, ok := reply.(error); ok {
		return fmt.Errorf("%s: %w", what, err)
	}
	return &ShapeError{What: what, Got: describe(reply)}
}

func describe(reply any) string {
	switch v := reply.(type) {
	case nil:
		return "nil"
	case int64:
		return "integer " + strconv.FormatInt(v, 10)
	case []byte:
		return "bulk string " + quote(string(v))
	case string:
		return "status " + quote(v)
	case []any:
		return "array of length " + strconv.Itoa(len(v))
	default:
		return fmt.Sprintf("Go value of type %T", v)
	}
}

// quote makes any bytes printable and of bounded length.
func quote(s string) string {
	if len(s) <= maxQuoted {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%q… (%d bytes)", s[:maxQuoted], len(s))
}
