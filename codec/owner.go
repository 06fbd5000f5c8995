package codec

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/google/uuid"
)

const uuidLen = 36

// Owner is the hash field of an owner: the client's id and the thread's, with a
// colon between them. Redisson makes a version 4 UUID for each client instance
// and uses Java's thread ids; [ParseOwner] refuses fields with other UUIDs.
func Owner(client uuid.UUID, thread int64) string {
	var room [uuidLen + 1 + 20]byte
	return string(AppendOwner(room[:0], client, thread))
}

// AppendOwner appends the result of [Owner] to b.
func AppendOwner(b []byte, client uuid.UUID, thread int64) []byte {
	for i, part := range [...][]byte{client[:4], client[4:6], client[6:8], client[8:10], client[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	b = append(b, ':')
	return strconv.AppendInt(b, thread, 10)
}

// ParseOwner is the inverse of [Owner]. It accepts exactly what Redisson writes,
// so that Owner returns s again: a canonical lowercase UUID of version 4 and the
// RFC 4122 variant, a colon, and a canonical decimal int64. Negative threads are
// accepted, since Redisson's lockAsync and similar methods take any long from
// their caller. The error quotes s, shortened if it is long, and says which rule
// s breaks.
func ParseOwner(s string) (uuid.UUID, int64, error) {
	refuse := func(rule string) (uuid.UUID, int64, error) {
		return uuid.Nil, 0, fmt.Errorf("owner %.80q: %s", s, rule)
	}
	if len(s) <= uuidLen || s[uuidLen] != ':' {
		return refuse("not a UUID of 36 characters followed by a colon and a thread id")
	}
	client, err := uuid.Parse(s[:uuidLen])
	if err != nil || client.String() != s[:uuidLen] {
		return refuse("the client id is not a canonical lowercase UUID")
	}
	if client.Version() != 4 || client.Variant() != uuid.RFC4122 {
		return refuse("the client id is not a random (version 4) UUID")
	}
	thread, ok := parseDecimal(s[uuidLen+1:])
	if !ok {
		return refuse("the thread id is not a canonical decimal 64-bit integer")
	}
	return client, thread, nil
}

// keepers is how many threads there are that [Keeper] returns.
const keepers = 1 << 32

// Keeper returns the thread of the n-th owner to whom a client leaves a lock that it has
// released before its minimum time (rlock.AtLeast) was over. Nobody holds the lock then, and
// nobody acts as that owner. These threads are the lowest 2³² of an int64, which Java gives
// no thread. They repeat after 2³² such releases of a client. n may be any number.
func Keeper(n int64) int64 { return math.MinInt64 + n&(keepers-1) }

// IsKeeper tells whether a thread is one that [Keeper] returns.
func IsKeeper(thread int64) bool { return thread < math.MinInt64+keepers }

// parseDecimal reads an int64 in the one form in which Redis and Java print it.
func parseDecimal(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != s {
		return 0, false
	}
	return n, true
}
