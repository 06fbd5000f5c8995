package luasrc

import (
	"errors"
	"math"
	"strconv"
	"time"
)

// NoTTL stands for a key that exists and never expires.
const NoTTL time.Duration = -1

// PTTL's replies that are not a time.
const (
	pttlNoExpiry = -1
	pttlNoKey    = -2
)

// DecodeAcquire reads the reply of the lock script. granted means that the owner
// has one hold more than before. Otherwise another owner has the lock, and ttl is
// the rest of its lease: NoTTL if it never expires, and 0 if the key expired
// between the script's calls, so that the next attempt may succeed at once. A ttl
// beyond time.Duration's range is the largest Duration.
func DecodeAcquire(reply any) (granted bool, ttl time.Duration, err error) {
	if reply == nil {
		return true, 0, nil
	}
	ttl, _, err = pttl("acquire reply", reply)
	return false, ttl, err
}

// DecodeFencedAcquire reads the reply of the fenced lock's script: an array with the
// token of a grant, which is at least 1, or the TTL as for [DecodeAcquire], with token
// 0. (Redisson's script answers -1 together with a token. But -1 can also be the TTL of
// a key that never expires there, so it does not prove a grant.)
func DecodeFencedAcquire(reply any) (token int64, ttl time.Duration, err error) {
	if elems, ok := reply.([]any); ok && len(elems) == 1 {
		if token, ok := elems[0].(int64); ok && token >= 1 {
			return token, 0, nil
		}
	} else if ms, ok := reply.(int64); ok {
		_, ttl, err = DecodeAcquire(ms)
		return 0, ttl, err
	}
	return 0, 0, mismatch("fenced acquire reply", reply)
}

// Release is what an unlock did.
type Release uint8

const (
	// NotHeld means that the owner had no hold, and nothing was changed.
	NotHeld Release = iota
	// Partial means that one hold was released, and the owner has more.
	Partial
	// Final means that the last hold was released, and the lock is free.
	Final
)

// String is the constant's name.
func (r Release) String() string {
	if names := [...]string{"NotHeld", "Partial", "Final"}; int(r) < len(names) {
		return names[r]
	}
	return "Release(" + strconv.Itoa(int(r)) + ")"
}

// DecodeRelease reads the reply of the unlock script: nil, 0 or 1. The numbers
// are also accepted as strings, which is how a latch stores them. On an error
// the Release is NotHeld and means nothing.
func DecodeRelease(reply any) (Release, error) {
	said := reply
	if stored, ok := reply.([]byte); ok {
		said = string(stored)
	}
	switch said {
	case nil:
		return NotHeld, nil
	case int64(0), "0":
		return Partial, nil
	case int64(1), "1":
		return Final, nil
	}
	return NotHeld, mismatch("unlock reply", reply)
}

// DecodeForce reads the reply of the force-unlock script: whether there was a
// lock to remove, and why the script may not have seen that this was the multi-lock of a
// group in Java. One that it saw and left alone is a *ShapeError that says so.
func DecodeForce(reply any) (there bool, blind, err error) {
	if reply == int64(2) {
		return false, nil, &ShapeError{What: noLock, Got: "the multi-lock of a group in Java, which was left alone"}
	}
	if both, ok := reply.([]any); ok && len(both) == 2 {
		if why, ok := both[1].([]byte); ok && both[0] == int64(1) {
			return true, errors.New(string(why)), nil
		}
	}
	there, err = flag("force-unlock reply", reply)
	return there, nil, err
}

// DecodeRenew reads the reply of the renewal script for a batch of n locks: for
// each, in the batch's order, whether the owner still held it and its lease was
// renewed. A reply of another length is a *ShapeError, because then no element
// can be trusted to belong to its lock.
func DecodeRenew(reply any, n int) ([]bool, error) {
	elems, ok := reply.([]any)
	if !ok || len(elems) != n {
		return nil, mismatch("renewal reply for "+strconv.Itoa(n), reply)
	}
	renewed := make([]bool, n)
	for i, e := range elems {
		var err error
		if renewed[i], err = flag("element of a renewal reply", e); err != nil {
			return nil, err
		}
	}
	return renewed, nil
}

// DecodeExists reads the reply of EXISTS or HEXISTS for one key.
func DecodeExists(reply any) (bool, error) { return flag("existence reply", reply) }

// DecodePermitLeft reads the rest of a permit's lease, NoTTL if it never expires, and
// whether the permit is taken at all.
func DecodePermitLeft(reply any) (left time.Duration, taken bool, err error) {
	if reply == nil {
		return 0, false, nil
	}
	ms, ok := reply.(int64)
	if !ok || ms < pttlNoExpiry {
		return 0, false, mismatch("permit's lease", reply)
	}
	return lifetime(ms), true, nil
}

// DecodePermitCount reads how many permits of a semaphore are free, which may be
// negative, and how many are taken.
func DecodePermitCount(reply any) (free, taken int64, err error) {
	if elems, ok := reply.([]any); ok && len(elems) == 2 {
		free, ok1 := elems[0].(int64)
		taken, ok2 := elems[1].(int64)
		if ok1 && ok2 && taken >= 0 {
			return free, taken, nil
		}
	}
	return 0, 0, mismatch("count of permits", reply)
}

// DecodeNumber reads a number that may be negative from the reply of GET or a script,
// such as the free permits of a semaphore: 0 if there is no key.
func DecodeNumber(reply any) (int64, error) {
	switch v := reply.(type) {
	case nil:
		return 0, nil
	case int64:
		return v, nil
	case []byte:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, mismatch("number", reply)
}

// DecodeLength reads how many elements a list has.
func DecodeLength(reply any) (int64, error) {
	n, ok := reply.(int64)
	if !ok || n < 0 {
		return 0, mismatch("length", reply)
	}
	return n, nil
}

// DecodeCount reads an owner's hold count from the reply of HGET: 0 if the owner has
// no field. A field that is not a decimal count, which no lock writes, is a
// *ShapeError that says what the field holds.
func DecodeCount(reply any) (int64, error) { return decimal("hold count", reply) }

// DecodeToken reads the last token of a fenced lock from the reply of GET, 0 if there
// was no grant. A value that is no decimal token is a *ShapeError.
func DecodeToken(reply any) (int64, error) { return decimal("fencing token", reply) }

// decimal reads a decimal number that is not negative; nil is 0.
func decimal(what string, reply any) (int64, error) {
	var text string
	switch v := reply.(type) {
	case nil:
		return 0, nil
	case []byte:
		text = string(v)
	case string:
		text = v
	default:
		return 0, mismatch(what, reply)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text { // no lock writes it otherwise
		return 0, mismatch(what, reply)
	}
	return n, nil
}

// DecodeTTL reads the reply of PTTL: the time until the key expires, NoTTL if it
// never does, and whether the key exists; ttl is 0 if it does not. A ttl beyond
// time.Duration's range is the largest Duration.
func DecodeTTL(reply any) (ttl time.Duration, exists bool, err error) {
	return pttl("PTTL reply", reply)
}

func pttl(what string, reply any) (ttl time.Duration, exists bool, err error) {
	ms, ok := reply.(int64)
	if !ok || ms < pttlNoKey {
		return 0, false, mismatch(what, reply)
	}
	if ms == pttlNoKey {
		return 0, false, nil
	}
	return lifetime(ms), true, nil
}

// lifetime is the meaning of PTTL's ms ≥ -1.
func lifetime(ms int64) time.Duration {
	if ms == pttlNoExpiry {
		return NoTTL
	}
	// Redis stores 64-bit milliseconds, a million times the range of a Duration.
	if ms > int64(math.MaxInt64/time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(ms) * time.Millisecond
}

// flag reads a reply that is 1 or 0.
func flag(what string, reply any) (bool, error) {
	if n, ok := reply.(int64); ok && (n == 0 || n == 1) {
		return n == 1, nil
	}
	return false, mismatch(what, reply)
}
