package faultproxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Status is a simple string reply such as OK. A bulk string is a plain string.
type Status string

// Error is an error reply's text, with its code and without the leading "-".
type Error string

// Error is the text.
func (e Error) Error() string { return string(e) }

// Push is a RESP3 push, which belongs to no command.
type Push []any

// maxLength bounds a length prefix; it is Redis's own limit for a bulk string.
const maxLength = 512 << 20

// wire reads RESP and keeps the bytes of what it read.
type wire struct {
	in  *bufio.Reader
	raw bytes.Buffer
}

func newWire(r io.Reader) *wire { return &wire{in: bufio.NewReader(r)} }

// command reads one command, an array of bulk strings or inline.
func (w *wire) command() (raw []byte, words []string, err error) {
	w.raw.Reset()
	first, err := w.in.Peek(1)
	if err != nil {
		return nil, nil, err
	}
	if first[0] != '*' {
		line, err := w.line()
		if err != nil {
			return nil, nil, err
		}
		return bytes.Clone(w.raw.Bytes()), strings.Fields(line), nil
	}
	value, err := w.value()
	if err != nil {
		return nil, nil, err
	}
	list, _ := value.([]any)
	for _, item := range list {
		word, ok := item.(string)
		if !ok {
			return nil, nil, fmt.Errorf("faultproxy: a command's word is %T", item)
		}
		words = append(words, word)
	}
	return bytes.Clone(w.raw.Bytes()), words, nil
}

// reply reads one reply, message or push: string, Status, Error, int64, nil, []any, Push, and for RESP3 float64, bool
// and map[any]any as a flat []any.
func (w *wire) reply() (raw []byte, value any, err error) {
	w.raw.Reset()
	value, err = w.value()
	return bytes.Clone(w.raw.Bytes()), value, err
}

func (w *wire) line() (string, error) {
	line, err := w.in.ReadString('\n')
	w.raw.WriteString(line)
	return strings.TrimRight(line, "\r\n"), err
}

func (w *wire) value() (any, error) {
	line, err := w.line()
	if err != nil {
		return nil, err
	}
	if line == "" {
		return nil, fmt.Errorf("faultproxy: an empty line where a RESP type is due")
	}
	rest := line[1:]
	switch line[0] {
	case '+':
		return Status(rest), nil
	case '-':
		return Error(rest), nil
	case ':':
		return strconv.ParseInt(rest, 10, 64)
	case ',':
		return strconv.ParseFloat(rest, 64)
	case '#':
		return rest == "t", nil
	case '(':
		return rest, nil
	case '_':
		return nil, nil
	case '$', '!', '=':
		bulk, err := w.bulk(rest)
		text, _ := bulk.(string)
		switch line[0] {
		case '!':
			return Error(text), err
		case '=': // a three-letter format and a colon precede the text
			return text[min(4, len(text)):], err
		}
		return bulk, err
	case '*', '~':
		return w.list(rest, 1)
	case '%':
		return w.list(rest, 2)
	case '>':
		items, err := w.list(rest, 1)
		if err != nil {
			return nil, err
		}
		return Push(items.([]any)), nil
	case '|':
		// An attribute stands before the reply that it describes.
		if _, err := w.list(rest, 2); err != nil {
			return nil, err
		}
		return w.value()
	}
	return nil, fmt.Errorf("faultproxy: %q is no RESP type", line[0])
}

func (w *wire) length(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < -1 || n > maxLength {
		return 0, fmt.Errorf("faultproxy: %q is no RESP length", text)
	}
	return n, nil
}

func (w *wire) bulk(length string) (any, error) {
	n, err := w.length(length)
	if err != nil || n < 0 {
		return nil, err
	}
	body := make([]byte, n+2)
	if _, err := io.ReadFull(w.in, body); err != nil {
		return nil, err
	}
	w.raw.Write(body)
	return string(body[:n]), nil
}

func (w *wire) list(length string, each int) (any, error) {
	n, err := w.length(length)
	if err != nil || n < 0 {
		return nil, err
	}
	items := []any{}
	for range n * each {
		item, err := w.value()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}
