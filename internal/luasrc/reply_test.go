package luasrc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// serverError stands for redigo's redis.Error: a reply that is an error.
type serverError string

func (e serverError) Error() string { return string(e) }

const wrongType = serverError("WRONGTYPE Operation against a key holding the wrong kind of value")

// decoders calls each function with a reply and formats its result.
var decoders = map[string]func(reply any) (string, error){
	"acquire": func(r any) (string, error) {
		granted, ttl, err := DecodeAcquire(r)
		return fmt.Sprint(granted, int64(ttl)), err
	},
	"fenced": func(r any) (string, error) {
		token, ttl, err := DecodeFencedAcquire(r)
		return fmt.Sprint(token, int64(ttl)), err
	},
	"token":   func(r any) (string, error) { v, err := DecodeToken(r); return fmt.Sprint(v), err },
	"release": func(r any) (string, error) { v, err := DecodeRelease(r); return v.String(), err },
	"force":   func(r any) (string, error) { v, why, err := DecodeForce(r); return fmt.Sprint(v, why), err },
	"renew":   func(r any) (string, error) { v, err := DecodeRenew(r, 3); return fmt.Sprint(v), err },
	"exists":  func(r any) (string, error) { v, err := DecodeExists(r); return fmt.Sprint(v), err },
	"count":   func(r any) (string, error) { v, err := DecodeCount(r); return fmt.Sprint(v), err },
	"permits": func(r any) (string, error) {
		free, taken, err := DecodePermitCount(r)
		return fmt.Sprint(free, taken), err
	},
	"number": func(r any) (string, error) { v, err := DecodeNumber(r); return fmt.Sprint(v), err },
	"permit left": func(r any) (string, error) {
		left, taken, err := DecodePermitLeft(r)
		return fmt.Sprint(int64(left), taken), err
	},
	"holder": func(r any) (string, error) {
		h, held, err := DecodeHolder(r)
		return fmt.Sprint(h, held), err
	},
	"ttl": func(r any) (string, error) {
		ttl, exists, err := DecodeTTL(r)
		return fmt.Sprint(int64(ttl), exists), err
	},
}

// replies has a reply of each form.
var replies = []any{
	nil, int64(-3), int64(-2), int64(-1), int64(0), int64(1), int64(2), int64(math.MinInt64), int64(math.MaxInt64),
	[]byte("0"), []byte("1"), []byte("17"), []byte(""), []byte("x\xff"), "0", "1", "OK", "",
	[]any{}, []any{int64(7)}, []any{int64(1), int64(0), int64(1)}, []any{int64(1), int64(0)}, []any{int64(1), nil, int64(2)},
	7, true, struct{}{}, map[string]int{}, []byte(nil), []any(nil),
}

func TestRepliesOfEachScript(t *testing.T) {
	for _, tc := range []struct {
		decoder string
		want    map[string]string // by the reply's description; any other is refused
	}{
		{"acquire", map[string]string{"nil": "true 0", "integer -2": "false 0", "integer -1": "false -1", "integer 0": "false 0", "integer 1": "false 1000000", "integer 2": "false 2000000", "integer 9223372036854775807": "false 9223372036854775807"}},
		{"fenced", map[string]string{"array of length 1": "7 0", "integer -2": "0 0", "integer -1": "0 -1", "integer 0": "0 0", "integer 1": "0 1000000", "integer 2": "0 2000000", "integer 9223372036854775807": "0 9223372036854775807"}},
		{"token", map[string]string{"nil": "0", `bulk string "0"`: "0", `bulk string "1"`: "1", `bulk string "17"`: "17", `status "0"`: "0", `status "1"`: "1"}},
		{"release", map[string]string{"nil": "NotHeld", "integer 0": "Partial", "integer 1": "Final", `bulk string "0"`: "Partial", `bulk string "1"`: "Final", `status "0"`: "Partial", `status "1"`: "Final"}},
		{"force", map[string]string{"integer 0": "false <nil>", "integer 1": "true <nil>"}},
		{"renew", map[string]string{"array of length 3": "[true false true]"}},
		{"exists", map[string]string{"integer 0": "false", "integer 1": "true"}},
		{"count", map[string]string{"nil": "0", `bulk string "0"`: "0", `bulk string "1"`: "1", `bulk string "17"`: "17", `status "0"`: "0", `status "1"`: "1"}},
		{"permits", map[string]string{"array of length 2": "1 0"}},
		{"permit left", map[string]string{"nil": "0 false", "integer -1": "-1 true", "integer 0": "0 true", "integer 1": "1000000 true", "integer 2": "2000000 true", "integer 9223372036854775807": "9223372036854775807 true"}},
		{"holder", nil}, // holder_test.go has what it takes
		{"ttl", map[string]string{"integer -2": "0 false", "integer -1": "-1 true", "integer 0": "0 true", "integer 1": "1000000 true", "integer 2": "2000000 true", "integer 9223372036854775807": "9223372036854775807 true"}},
	} {
		for _, r := range replies {
			got, err := decoders[tc.decoder](r)
			want, ok := tc.want[describe(r)]
			if elems, isArray := r.([]any); isArray && slices.Contains(elems, nil) {
				ok = false // described like the good array, but with bad elements
			}
			if ok {
				if got != want || err != nil {
					t.Errorf("%s of %s: %s, %v; want %s", tc.decoder, describe(r), got, err, want)
				}
				continue
			}
			if shape, isShape := errors.AsType[*ShapeError](err); !isShape {
				t.Errorf("%s of %s: %s, %v; want a ShapeError", tc.decoder, describe(r), got, err)
			} else if shape.What == "" || shape.Got == "" || !strings.Contains(err.Error(), shape.What) || !strings.Contains(err.Error(), shape.Got) {
				t.Errorf("%s of %s: error %q with What %q, Got %q", tc.decoder, describe(r), err, shape.What, shape.Got)
			}
		}
	}
	if _, ttl, _ := DecodeAcquire(int64(3_600_000)); ttl != time.Hour {
		t.Errorf("an hour in ms is %v", ttl)
	}
}

func TestFencedGrantWithoutATokenIsNone(t *testing.T) {
	for _, r := range []any{[]any{int64(0)}, []any{int64(-1)}, []any{nil}, []any{"7"}, []any{int64(-1), int64(7)}} {
		if token, _, err := DecodeFencedAcquire(r); token != 0 || err == nil {
			t.Errorf("%v: %d, %v", r, token, err)
		}
	}
}

func TestServerErrorsStayVisible(t *testing.T) {
	for name, decode := range decoders {
		_, err := decode(wrongType)
		if got, ok := errors.AsType[serverError](err); !ok || got != wrongType {
			t.Errorf("%s: %v does not wrap the server's error", name, err)
		}
		if _, ok := errors.AsType[*ShapeError](err); ok {
			t.Errorf("%s: a server's error is no ShapeError", name)
		}
	}
	_, err := DecodeRenew([]any{int64(1), wrongType, int64(1)}, 3)
	if _, ok := errors.AsType[serverError](err); !ok {
		t.Errorf("an error as an element: %v", err)
	}
}

func TestHugeTTLsAreClamped(t *testing.T) {
	const last = math.MaxInt64 / int64(time.Millisecond)
	for ms, want := range map[int64]time.Duration{
		last - 1:      time.Duration(last-1) * time.Millisecond,
		last:          time.Duration(last) * time.Millisecond,
		last + 1:      math.MaxInt64,
		math.MaxInt64: math.MaxInt64,
	} {
		if _, got, err := DecodeAcquire(ms); got != want || err != nil {
			t.Errorf("acquire, %d ms: %v, %v", ms, int64(got), err)
		}
		if got, exists, err := DecodeTTL(ms); got != want || !exists || err != nil {
			t.Errorf("PTTL, %d ms: %v, %v, %v", ms, int64(got), exists, err)
		}
	}
}

func TestCountTellsWhatAForeignFieldHolds(t *testing.T) {
	for _, field := range []string{"", "-1", "+1", "01", "1.5", " 1", "abc", "9223372036854775808", "\x00\xff", strings.Repeat("long", 1000)} {
		n, err := DecodeCount([]byte(field))
		shape, ok := errors.AsType[*ShapeError](err)
		if !ok || n != 0 {
			t.Errorf("%.20q: %d, %v", field, n, err)
			continue
		}
		if want := quote(field); !strings.Contains(shape.Got, want) || len(shape.Got) > 200 {
			t.Errorf("%.20q: Got is %s, want it to have %s", field, shape.Got, want)
		}
	}
	if n, err := DecodeCount([]byte("9223372036854775807")); n != math.MaxInt64 || err != nil {
		t.Errorf("the largest count: %d, %v", n, err)
	}
}

func TestRenewOfWrongLength(t *testing.T) {
	reply := []any{int64(1), int64(1)}
	for _, n := range []int{-1, 0, 1, 3, 100} {
		if got, err := DecodeRenew(reply, n); err == nil {
			t.Errorf("two elements for %d locks: %v", n, got)
		}
	}
	if got, err := DecodeRenew([]any{}, 0); len(got) != 0 || err != nil {
		t.Errorf("an empty batch: %v, %v", got, err)
	}
}

func TestReleaseNames(t *testing.T) {
	for r, want := range map[Release]string{NotHeld: "NotHeld", Partial: "Partial", Final: "Final", 9: "Release(9)"} {
		if r.String() != want {
			t.Errorf("%d is %q", uint8(r), r)
		}
	}
}

func FuzzReplies(f *testing.F) {
	f.Add([]byte{}, int64(0))
	for form := range byte(7) {
		f.Add([]byte{form, '1'}, int64(form)-3)
		f.Add([]byte{form, 4, 1, 2, 3, '0', 'x', 0xff}, int64(math.MaxInt64)-int64(form))
	}
	f.Add([]byte{4, 4, 4, 4, 4, 4, 1, 1, 1}, int64(1))
	f.Fuzz(func(t *testing.T, form []byte, n int64) {
		reply := build(&form, n, 0)
		for name, decode := range decoders {
			got, err := decode(reply)
			if _, ok := errors.AsType[*ShapeError](err); ok && len(err.Error()) > 600 {
				t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
			}
			if err == nil && got == "" {
				t.Errorf("%s gave nothing for %v", name, reply)
			}
		}
		elems, _ := reply.([]any)
		if got, err := DecodeRenew(reply, len(elems)); err == nil && len(got) != len(elems) {
			t.Errorf("%d results for %d elements", len(got), len(elems))
		}
		if granted, ttl, err := DecodeAcquire(reply); ttl < NoTTL || (granted && ttl != 0) || (err != nil && (granted || ttl != 0)) {
			t.Errorf("acquire of %v: %v, %v, %v", reply, granted, ttl, err)
		}
	})
}

// build makes any reply that redigo can return, as form's bytes say.
func build(form *[]byte, n int64, depth int) any {
	if len(*form) == 0 || depth > 8 {
		return nil
	}
	kind := (*form)[0]
	*form = (*form)[1:]
	switch kind % 7 {
	case 0:
		return nil
	case 1:
		return n
	case 2:
		return slices.Clone(*form)
	case 3:
		return string(*form)
	case 4:
		elems := make([]any, len(*form)%5)
		for i := range elems {
			elems[i] = build(form, n+int64(i), depth+1)
		}
		return elems
	case 5:
		return serverError(*form)
	default:
		return int64(kind) & 1
	}
}
