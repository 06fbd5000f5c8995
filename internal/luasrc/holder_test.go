package luasrc

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestHolders(t *testing.T) {
	const owner = "550e8400-e29b-41d4-a716-446655440000:31"
	one := func(owner, count any) []any { return []any{int64(1500), int64(1), owner, count} }
	for what, row := range map[string]struct {
		reply []any
		want  Holder
	}{
		"a lock":               {one([]byte(owner), []byte("2")), Holder{owner, 2, 1500 * time.Millisecond}},
		"one that never ends":  {[]any{int64(-1), int64(1), []byte(owner), []byte("1")}, Holder{owner, 1, NoTTL}},
		"no key":               {[]any{int64(-2), int64(0)}, Holder{}},
		"a key that just went": {[]any{int64(-2), int64(1), []byte(owner), []byte("1")}, Holder{}},
	} {
		h, held, err := DecodeHolder(row.reply)
		if h != row.want || held != (row.want != Holder{}) || err != nil {
			t.Errorf("%s: %+v, %v, %v", what, h, held, err)
		}
	}
	for says, reply := range map[string][]any{
		"3 fields":                      {int64(-1), int64(3)},
		`"colour"`:                      one([]byte("colour"), []byte("1")),
		`hold count: bulk string "red"`: one([]byte(owner), []byte("red")),
		`hold count: bulk string "0"`:   one([]byte(owner), []byte("0")),
		"owner: integer":                one(int64(4), []byte("1")),
		"array of length 2":             {int64(-1), int64(1)},
		"PTTL reply":                    {nil, int64(1)},
	} {
		h, held, err := DecodeHolder(reply)
		if _, is := errors.AsType[*ShapeError](err); !is || held || h != (Holder{}) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v, %v, %v", says, h, held, err)
		}
	}
}
