package simredis

import (
	"bytes"
	"strconv"
)

// A reply is nil, int64, string (bulk), Status, Error or []any.
type (
	Status string
	Error  string
)

func appendReply(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "$-1\r\n"...)
	case nilArray:
		return append(b, "*-1\r\n"...)
	case int:
		return appendReply(b, int64(v))
	case int64:
		return append(strconv.AppendInt(append(b, ':'), v, 10), '\r', '\n')
	case string:
		b = strconv.AppendInt(append(b, '$'), int64(len(v)), 10)
		b = append(b, '\r', '\n')
		return append(append(b, v...), '\r', '\n')
	case Status:
		return append(append(append(b, '+'), v...), '\r', '\n')
	case Error:
		return append(append(append(b, '-'), v...), '\r', '\n')
	case []any:
		b = strconv.AppendInt(append(b, '*'), int64(len(v)), 10)
		b = append(b, '\r', '\n')
		for _, e := range v {
			b = appendReply(b, e)
		}
		return b
	case []string:
		all := make([]any, len(v))
		for i := range v {
			all[i] = v[i]
		}
		return appendReply(b, all)
	}
	panic("simredis: a reply of an unknown type")
}

type nilArray struct{}

// parseCommand reads one command. n is 0 if it is not all there.
func parseCommand(b []byte) (args []string, n int) {
	line := func() (int, bool) {
		i := bytes.Index(b[n:], []byte("\r\n"))
		if i < 1 {
			return 0, false
		}
		v, err := strconv.Atoi(string(b[n+1 : n+i]))
		n += i + 2
		return v, err == nil
	}
	count, ok := line()
	for ; ok && count > 0; count-- {
		var l int
		if l, ok = line(); !ok || len(b) < n+l+2 {
			return nil, 0
		}
		args = append(args, string(b[n:n+l]))
		n += l + 2
	}
	if !ok {
		return nil, 0
	}
	return args, n
}
