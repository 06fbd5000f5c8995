package seeds

import (
	"testing"
	"time"
)

// step is a call of a printed script. The lock with the list takes its owner and lease as keys.
type step struct {
	script string
	owner  string
	args   []any
	want   any // nil, a number, or one of the two below
}

const (
	fails = "fails"
	aTTL  = "a TTL"
)

// What each printed script answers and does wrong, in the order of docs/dev/seeds.md, which also names this library's
// tests for the same cases.
func TestPrintedScripts(t *testing.T) {
	t.Parallel()
	for behaviour, row := range map[string]struct {
		steps []step
		left  time.Duration // of the lock's key at the end; -1 ms: it never ends, -2 ms: it is gone
		holds int           // of u1
	}{
		"the pair refuses half a second when the lock is made": {[]step{{"class_lock", "u1", []any{"0.5"}, fails}}, -time.Millisecond, 1},
		"the remedy does too":                      {[]step{{"remedy_lock", "u1", []any{"0.5"}, fails}}, -time.Millisecond, 1},
		"the list does too, and has no count then": {[]step{{"list_lock", "u1", []any{"0.5"}, fails}}, -time.Millisecond, 0},
		"no second at all lets everybody in":       {[]step{{"class_lock", "u1", []any{"0"}, 1}, {"class_lock", "u2", []any{"0"}, 1}}, -2 * time.Millisecond, 0},
		"a partial unlock of the pair leaves the inner lease": {[]step{{"class_lock", "u1", []any{"60"}, 1}, {"class_lock", "u1", []any{"10"}, 1},
			{"class_unlock", "u1", nil, nil}}, 10 * time.Second, 1},
		"so does one of the list": {[]step{{"list_lock", "u1", []any{"60"}, 1}, {"list_lock", "u1", []any{"10"}, 1}, {"list_unlock", "u1", nil, 2}}, 10 * time.Second, 1},
		"one of the spinning lock sets what it likes": {[]step{{"spin_lock", "", []any{120000, "u1"}, nil}, {"spin_lock", "", []any{120000, "u1"}, nil},
			{"spin_unlock", "", []any{30000, "u1"}, 0}}, 30 * time.Second, 1},
		"one of the remedy without a lease stops half way": {[]step{{"remedy_lock", "u1", []any{"60"}, 1}, {"remedy_lock", "u1", []any{"60"}, nil},
			{"remedy_unlock", "u1", nil, fails}}, time.Minute, 1},
		"an unlock of the pair never tells": {[]step{{"class_lock", "u1", []any{"60"}, 1}, {"class_unlock", "u2", nil, nil}, {"class_unlock", "u1", nil, nil},
			{"class_unlock", "u1", nil, nil}}, -2 * time.Millisecond, 0},
		"a fresh owner for each call can't re-enter": {[]step{{"class_lock", "u1", []any{"60"}, 1}, {"class_lock", "u1 again", []any{"60"}, 0}}, time.Minute, 1},
		"a re-entry of the remedy is answered like a refusal": {[]step{{"remedy_lock", "u1", []any{"60"}, 1}, {"remedy_lock", "u1", []any{"60"}, nil},
			{"remedy_lock", "u2", []any{"60"}, nil}}, time.Minute, 2},
		"the answers of the list": {[]step{{"list_lock", "u1", []any{"60"}, 1}, {"list_lock", "u1", []any{"60"}, 1}, {"list_lock", "u2", []any{"60"}, 0},
			{"list_unlock", "u1", nil, 2}, {"list_unlock", "u2", nil, 0}, {"list_unlock", "u1", nil, 1}}, -2 * time.Millisecond, 0},
		"the answers of the spinning lock": {[]step{{"spin_lock", "", []any{60000, "u1"}, nil}, {"spin_lock", "", []any{60000, "u2"}, aTTL},
			{"spin_unlock", "", []any{30000, "u2"}, nil}, {"spin_unlock", "", []any{30000, "u1"}, 1}}, -2 * time.Millisecond, 0},
		// Callers that wait in BLPOP get no message, and waiters of the spinning lock never get one.
		"a lock that expires tells nobody": {[]step{{"list_lock", "u1", []any{"1"}, 1}}, -2 * time.Millisecond, 0},
	} {
		t.Run(behaviour, func(t *testing.T) {
			r := newRig(t)
			for _, s := range row.steps {
				keys, args := []string{name}, s.args
				switch {
				case s.script == "list_lock":
					keys, args = []string{name, s.owner, s.args[0].(string)}, nil
				case s.script == "list_unlock":
					keys = []string{name, s.owner}
				case s.owner != "":
					args = append([]any{s.owner}, s.args...)
				}
				got, err := r.run(s.script, keys, args...)
				if n, ok := got.(int64); ok {
					got = int(n)
				}
				ttl, _ := got.(int)
				if s.want == fails && err == nil || s.want != fails && err != nil || s.want == aTTL && ttl < 1000 || s.want != fails && s.want != aTTL && got != s.want {
					t.Fatalf("%s %v %v: %v, %v; want %v", s.script, keys, args, got, err, s.want)
				}
			}
			if row.left == -2*time.Millisecond {
				r.Gone(name)
			} else if left := r.PTTL(name); left > row.left || left < row.left-5*time.Second || row.left < 0 && left != row.left {
				t.Errorf("it has %v to live, want %v", left, row.left)
			}
			holds := 0
			if kind := r.Text("TYPE", name); kind == "hash" {
				holds = max(r.Number("HGET", name, "u1"), r.Number("HGET", name, "count"))
			}
			if holds != row.holds {
				t.Errorf("%d holds, want %d", holds, row.holds)
			}
			if n := r.Number("LLEN", "orders:list"); n != 0 {
				t.Errorf("the list has %d entries", n)
			}
		})
	}
}
