package luasrc

import (
	"strconv"
	"time"

	"github.com/rlock-go/redisson/codec"
)

// Holder is the owner of a lock at one moment, as the server had it.
type Holder struct {
	Owner string        // the field of the hash, see [codec.ParseOwner]
	Count int64         // how many holds the owner has, at least 1
	TTL   time.Duration // the time until the key expires; [NoTTL] if it never does
}

// DecodeHolder reads the reply of the info script: the lock's holder, and whether
// there is one. A hash with several fields, or with one that no lock writes, is a
// *ShapeError that says what was found.
func DecodeHolder(reply any) (h Holder, held bool, err error) {
	const what = "reply about a holder"
	found, ok := reply.([]any)
	if !ok || len(found) < 2 {
		return Holder{}, false, mismatch(what, reply)
	}
	if h.TTL, held, err = DecodeTTL(found[0]); err != nil || !held {
		return Holder{}, false, err
	}
	fields, ok := found[1].(int64)
	switch {
	case !ok || fields < 1 || fields == 1 && len(found) != 4:
		return Holder{}, false, mismatch(what, reply)
	case fields > 1:
		return Holder{}, false, &ShapeError{What: noLock, Got: strconv.FormatInt(fields, 10) + " fields, as of a read-write lock"}
	}
	owner, ok := found[2].([]byte)
	if !ok {
		return Holder{}, false, mismatch("owner", found[2])
	}
	h.Owner = string(owner)
	if _, _, err := codec.ParseOwner(h.Owner); err != nil {
		return Holder{}, false, &ShapeError{What: noLock, Got: "field " + quote(h.Owner)}
	}
	if h.Count, err = DecodeCount(found[3]); err == nil && h.Count == 0 {
		err = mismatch("hold count", found[3])
	}
	if err != nil {
		return Holder{}, false, err
	}
	return h, true, nil
}
