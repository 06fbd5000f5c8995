package rlock

import (
	"fmt"
	"log/slog"

	"github.com/rlock-go/redisson/internal/locks"
)

// Owner identifies a holder of a lock: it is the field of Redisson's hash,
// "uuid:thread". The first half is the client's id, the second a number within
// it; in Java that is the thread's id. Owners are comparable. String and
// ParseOwner are inverses, so an owner can be handed to another process. The
// zero Owner is nobody, and every call refuses it with ErrInvalidOption.
type Owner struct{ o locks.Owner }

// String returns the owner as Redis holds it, such as "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42",
// and marks it as one that others may act as. Each unlock of this owner then costs one extra
// command, and is not repeated after a failover. The server remembers it until the client has the
// answer: for ten minutes at most, or ten command timeouts and two seconds if that is longer. A
// server that can fail over remembers it for five command timeouts and a second. If the answer to
// an acquire as this owner is lost, and the client can't tell its own hold from another process's,
// the acquire returns ErrUncertain. If String is first called while an Unlock waits for an answer
// that is lost, that Unlock returns ErrUncertain. Other owners stay as they are, but a client
// remembers only its 1,024 newest marks, and takes owners older than these for marked. For a log
// line use LogValue, which does not mark; packages fmt and encoding/json call String and
// MarshalText.
func (o Owner) String() string { return o.o.Share() }

// LogValue returns String's text for package slog, without the mark.
func (o Owner) LogValue() slog.Value { return slog.StringValue(o.o.String()) }

// MarshalText returns String's text, and marks the owner as String does. The
// zero Owner is ErrInvalidOption.
func (o Owner) MarshalText() ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("rlock: %w", err)
	}
	return []byte(o.String()), nil
}

// UnmarshalText is ParseOwner.
func (o *Owner) UnmarshalText(text []byte) (err error) {
	*o, err = ParseOwner(string(text))
	return err
}

// ParseOwner reads what String, or Redisson, wrote. If a client of this process
// made the owner, that client from then on assumes that others act as it. A
// client in another process assumes so only if that process called the owner's
// String. ErrInvalidOption: s is not what Redisson would write, which is a
// lowercase version 4 UUID, a colon and a decimal number.
func ParseOwner(s string) (Owner, error) {
	read, err := locks.ParseOwner(s)
	if err != nil {
		return Owner{}, fmt.Errorf("rlock: %w: %w", ErrInvalidOption, err)
	}
	return Owner{read}, nil
}

func (o Owner) check() error {
	if o == (Owner{}) {
		return fmt.Errorf("%w: the zero Owner; take one from Client.NewOwner, Hold.Owner or ParseOwner", ErrInvalidOption)
	}
	return nil
}
