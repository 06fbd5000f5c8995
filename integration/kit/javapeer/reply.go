package javapeer

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Reply is the result of a command that succeeded in Java.
type Reply struct {
	// At is when the Java call returned, in nanoseconds of [machineclock.Now]'s clock.
	At int64
	// Values are the call's results; none if it returns nothing.
	Values []string
}

// Bool is the first value. It panics if that is not a boolean.
func (r Reply) Bool() bool {
	switch r.Text() {
	case "true":
		return true
	case "false":
		return false
	}
	panic(fmt.Sprintf("javapeer: %q is not a boolean", r.Values))
}

// Int is the first value. It panics if that is not a number.
func (r Reply) Int() int64 {
	n, err := strconv.ParseInt(r.Text(), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("javapeer: %q is not a number", r.Values))
	}
	return n
}

// Text is the first value. It panics if there is none.
func (r Reply) Text() string {
	if len(r.Values) == 0 {
		panic("javapeer: the command answers no value")
	}
	return r.Values[0]
}

// JavaError is the exception with which a command ended in Java.
type JavaError struct {
	// At is when the peer caught it, in nanoseconds of [machineclock.Now]'s clock.
	At      int64
	Class   string // with its package
	Message string // from getMessage
}

// Error names class and message.
func (e *JavaError) Error() string { return "javapeer: " + e.Class + ": " + e.Message }

// answer is one line of the peer, decoded.
type answer struct {
	id    uint64
	reply Reply
	err   error
}

func parseAnswer(line string) (answer, error) {
	malformed := func(why any) (answer, error) {
		return answer{}, fmt.Errorf("javapeer: the peer answered %q: %v", line, why)
	}
	fields := strings.Split(line, " ")
	if len(fields) < 3 {
		return malformed("too few fields")
	}
	id, err := strconv.ParseUint(fields[0], 10, 64)
	if err != nil {
		return malformed(err)
	}
	at, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return malformed(err)
	}
	values, err := decode(fields[3:])
	if err != nil {
		return malformed(err)
	}
	switch {
	case fields[1] == "ok":
		return answer{id: id, reply: Reply{At: at, Values: values}}, nil
	case fields[1] == "err" && len(values) == 2:
		return answer{id: id, err: &JavaError{At: at, Class: values[0], Message: values[1]}}, nil
	}
	return malformed("neither ok nor err with class and message")
}

// Form encoding keeps spaces and line ends out of a field, and both languages have it in their standard library.
func encode(fields []string) string {
	var b strings.Builder
	for _, f := range fields {
		b.WriteByte(' ')
		b.WriteString(url.QueryEscape(f))
	}
	return b.String()
}

func decode(fields []string) ([]string, error) {
	values := make([]string, len(fields))
	for i, f := range fields {
		v, err := url.QueryUnescape(f)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}
