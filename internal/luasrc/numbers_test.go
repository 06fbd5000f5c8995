package luasrc

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
)

var (
	begun = codec.Latch(key, "begun")
	free  = Number{Key: key, Receipt: receipt, Begun: begun, Channel: semaphoreChannel, Publish: Publish}
	count = Number{Key: key, Receipt: receipt, Begun: begun, Channel: codec.CountDownChannel(key), Publish: Publish}
)

// twice makes a call, repeats it, and drops its receipt.
func (r *permitRig) twice(want string, c Call) {
	r.t.Helper()
	r.gets(want, c)
	r.gets(want, c)
	r.lives(receipt, latchMs)
	r.do("DEL", receipt)
}

func (r *permitRig) changes(want, how string, n, ttl int) {
	r.t.Helper()
	r.twice(want, SemaphoreChange(free, latchMs, how, n, ttl, Unknown))
}

func TestFreePermitsAreChangedOnceForEachReceipt(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, nil)
	r.changes("int 0", GiveExisting, 2, 0)
	r.changes("int 0", DrainAll, 0, 0)
	r.changes("int 0", DeleteAll, 0, 0)
	r.are("")
	r.changes("int 1", SetFirst, 3, 60_000)
	r.lives(key, 60_000)
	r.changes("int 0", SetFirst, 9, 0)
	r.says("3")
	r.changes("int 1", GiveBack, 2, 0)
	r.changes("int 1", GiveExisting, 1, 0)
	r.lives(key, 60_000)
	r.says("5", "6")
	r.changes("int 1", AddMore, -8, 0)
	if n := r.do("PTTL", key); n != int64(-1) {
		t.Errorf("it ends in %v", n)
	}
	r.are("-2")
	r.changes("int 1", GiveBack, 1, 0) // Redisson announces this, too
	r.says("-2", "-1")
	r.do("PEXPIRE", key, 60_000)
	r.changes("int -1", DrainAll, 0, 0)
	r.are("0")
	if n := r.do("PTTL", key); n != int64(-1) {
		t.Errorf("it ends in %v", n)
	}
	r.changes("int 0", SetFirst, 9, 0) // no permit is left, but the key exists
	r.changes("int 1", AddMore, 4, 0)
	r.changes("int 4", DrainAll, 0, 0)
	r.changes("int 1", DeleteAll, 0, 0)
	r.says("4")
	r.changes("int 1", GiveBack, 2, 0)
	r.are("2")
}

func TestAcquireOfFreePermitsIsUndoneByItsReceipt(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, 3)
	acquire := SemaphoreAcquire(nil, free, 2, latchMs, Unknown)
	undo := SemaphoreUndo(free, 2)
	r.gets("<nil>", undo)
	r.gets("int 1", acquire)
	r.lives(receipt, latchMs)
	r.gets("int 0", acquire)
	r.are("1")
	r.says()
	r.gets("int 1", undo)
	r.gets("<nil>", undo)
	r.are("3")
	r.says("3")
	r.gets("int 1", acquire)
	r.do("DEL", key)
	r.gets("int 1", undo) // the semaphore was deleted meanwhile
	r.are("")
	r.gets("int -3", acquire)
	r.says()
	// A semaphore that was set anew is another one: only what was taken of the new one comes
	// back.
	set := SemaphoreChange(free, latchMs, SetFirst, 3, 0, Unknown)
	other := free
	other.Receipt = codec.Latch(key, "0123456789abcdef0123456789abcde2")
	r.do("SET", key, 3)
	r.gets("int 1", acquire)
	r.do("DEL", key)
	set.Args[3] = codec.Latch(key, "0123456789abcdef0123456789abcdef")
	r.gets("int 1", set)
	r.lives(begun, 3_600_000)
	r.gets("int 1", SemaphoreAcquire(nil, other, 1, latchMs, Unknown))
	r.gets("int 1", undo)
	r.gets("<nil>", undo)
	r.are("2")
	r.gets("int 1", SemaphoreUndo(other, 1))
	r.are("3")
	r.says("3", "3")
	// So is one that was made anew by other means.
	for _, how := range []string{GiveBack, AddMore} {
		r.do("DEL", codec.Latch(key, "0123456789abcdef0123456789abcdef"))
		r.do("SET", key, 3)
		r.do("SET", begun, 4)
		r.gets("int 1", acquire)
		r.do("DEL", key)
		made := SemaphoreChange(free, latchMs, how, 5, 0, Unknown)
		made.Args[3] = codec.Latch(key, "0123456789abcdef0123456789abcdef")
		r.gets("int 1", made)
		r.gets("int 1", undo)
		r.are("5")
		r.says("5")
	}
	r.do("DEL", key, begun, codec.Latch(key, "0123456789abcdef0123456789abcdef"))
	if n := r.do("DBSIZE"); n != int64(0) {
		t.Errorf("%v keys are left", n)
	}
}

// A change that is repeated finds its object by how it is known. Another one of its name, or one that nobody knows, stays as it is.
func TestRepeatedChangesFindTheirObject(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ set, change, other Call }{
		"release": {SemaphoreChange(free, latchMs, SetFirst, 3, 0, Known), SemaphoreChange(free, latchMs, GiveBack, 1, 0, Known), SemaphoreChange(free, latchMs, GiveBack, 3, 0, Known)},
		"acquire": {SemaphoreChange(free, latchMs, SetFirst, 3, 0, Known), SemaphoreChange(free, latchMs, GiveExisting, -1, 0, Known), SemaphoreChange(free, latchMs, AddMore, 3, 0, Known)},
		"count":   {CountDown(count, latchMs, SetCount, 3, Known), CountDown(count, latchMs, DownByOne, 0, Known), CountDown(count, latchMs, SetCount, 3, Known)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newPermitRig(t, nil)
			fresh := func(c Call, id string) Call {
				c.Args = slices.Clone(c.Args)
				c.Args[3] = codec.Latch(key, "0123456789abcdef012345678"+id)
				return c
			}
			r.gets("int 1", fresh(row.set, "9abcd01"))
			by, _ := r.ask(fresh(row.change, "9abcd02")).(int64)
			again := fresh(row.change, "9abcd03").Since(0).Repeated(by)
			if by <= 1 {
				t.Fatalf("it is not known: %d", by)
			}
			was := string(r.do("GET", key).([]byte))
			r.gets(fmt.Sprint("int ", by), again)
			if now := string(r.do("GET", key).([]byte)); now == was {
				t.Errorf("repeated where its receipt is missing: still %s", now)
			}
			r.do("FLUSHALL")
			r.gets("int 0", again)
			if n := r.do("DBSIZE"); n != int64(0) {
				t.Errorf("%v keys on an empty server", n)
			}
			r.do("SET", key, 3)
			r.gets("int 0", again)
			r.do("DEL", key)
			r.ask(fresh(row.other, "9abcd05"))
			r.gets("int 0", again)
			r.are("3")
		})
	}
}

func TestCountDownIsDoneOnceForEachReceipt(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, nil)
	if err := r.heard.Subscribe(count.Channel); err != nil {
		t.Fatal(err)
	}
	r.heard.Receive()
	latch := func(want, how string, n int) {
		r.t.Helper()
		r.twice(want, CountDown(count, latchMs, how, n, Unknown))
	}
	latch("int 1", DownByOne, 0) // the latch is open already, so there is no message
	latch("int 0", DeleteCount, 0)
	r.are("")
	r.says()
	latch("int 1", SetCount, 2)
	latch("int 0", SetCount, 5)
	r.says("1")
	latch("int 1", DownByOne, 0)
	r.are("1")
	r.says()
	latch("int 1", DownByOne, 0)
	r.are("")
	r.says("0")
	latch("int 1", SetCount, 1)
	latch("int 1", DeleteCount, 0)
	r.are("")
	r.says("1", "1")
	r.do("SET", key, 0) // as Redisson's trySetCount(0) leaves it
	latch("int 0", SetCount, 1)
	latch("int 1", DownByOne, 0)
	r.are("")
	r.says()
}

// Each call meets a key of another type or a text that is no number, and leaves the key as it is.
func TestKeysThatAreNoNumberStay(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, nil)
	for name, call := range map[string]Call{
		"acquire":    SemaphoreAcquire(nil, free, 1, latchMs, Unknown),
		"release":    SemaphoreChange(free, latchMs, GiveBack, 1, 0, Unknown),
		"existing":   SemaphoreChange(free, latchMs, GiveExisting, 1, 0, Unknown),
		"more":       SemaphoreChange(free, latchMs, AddMore, 1, 0, Unknown),
		"drain":      SemaphoreChange(free, latchMs, DrainAll, 0, 0, Unknown),
		"count down": CountDown(count, latchMs, DownByOne, 0, Unknown),
	} {
		r.do("DEL", key)
		r.do("SET", key, "many")
		if _, err := r.conn.Do("EVALSHA", call.Args...); err == nil || !strings.Contains(err.Error(), "not an integer") {
			t.Errorf("%s of a text: %v", name, err)
		}
		if n := r.do("DBSIZE"); n != int64(1) || string(r.do("GET", key).([]byte)) != "many" {
			t.Errorf("%s of a text leaves %v keys", name, n)
		}
	}
	for name, call := range map[string]Call{
		"acquire":  SemaphoreAcquire(nil, free, 1, latchMs, Unknown),
		"release":  SemaphoreChange(free, latchMs, GiveBack, 1, 0, Unknown),
		"first":    SemaphoreChange(free, latchMs, SetFirst, 1, 0, Unknown),
		"drain":    SemaphoreChange(free, latchMs, DrainAll, 0, 0, Unknown),
		"delete":   SemaphoreChange(free, latchMs, DeleteAll, 0, 0, Unknown),
		"count":    CountDown(count, latchMs, SetCount, 2, Unknown),
		"down":     CountDown(count, latchMs, DownByOne, 0, Unknown),
		"no latch": CountDown(count, latchMs, DeleteCount, 0, Unknown),
		"more":     SemaphoreChange(free, latchMs, AddMore, 1, 0, Unknown),
		"existing": SemaphoreChange(free, latchMs, GiveExisting, 1, 0, Unknown),
	} {
		r.do("DEL", key)
		r.do("HSET", key, "a", "b")
		if _, err := r.conn.Do("EVALSHA", call.Args...); err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
			t.Errorf("%s of a hash: %v", name, err)
		}
		if fields, err := redis.Strings(r.conn.Do("HGETALL", key)); !slices.Equal(fields, []string{"a", "b"}) || err != nil || r.do("DBSIZE") != int64(1) {
			t.Errorf("%s of a hash leaves %q, %v", name, fields, err)
		}
	}
}

func TestNumbersAreAnnouncedByBothCommands(t *testing.T) {
	both := free
	both.Publish = Both
	got := SemaphoreUndo(both, 2).Args
	if want := []any{SemaphoreUndoScript.SHA1, 3, key, receipt, begun, semaphoreChannel, 2, SPublish, Publish, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The number has moved, and the receipt of an acquire that ran before has not. The undo waits for that.
func TestUndoWaitsForAReceiptThatIsElsewhere(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, 3)
	alone := func(c Call) Call {
		c.Args = slices.Clone(c.Args)
		c.Args[1] = 1
		return c
	}
	undo := alone(SemaphoreUndo(free, 2))
	if _, err := r.conn.Do("EVALSHA", undo.Args...); err == nil || !strings.HasPrefix(err.Error(), "TRYAGAIN") {
		t.Errorf("without a receipt: %v", err)
	}
	r.gets("int 1", alone(SemaphoreAcquire(nil, free, 2, latchMs, Known)))
	r.are("1")
	r.gets("int 1", undo)
	r.are("3")
	for _, how := range []string{GiveBack, AddMore} {
		call := alone(SemaphoreChange(free, latchMs, how, 1, 0, Known))
		r.gets("int 1", call)
		r.gets("int 1", call)
		r.do("DEL", receipt)
	}
	r.are("5")
	down := alone(CountDown(count, latchMs, DownByOne, 0, Known))
	r.gets("int 1", down)
	r.gets("int 1", down)
	r.are("4")
}

// A change that may have run is sent again. It makes no semaphore, and does nothing to an object that was made since it was first
// sent, but for one that is to make it. An object that was there, or that this library did not make, is the same one.
func TestChangesThatMayHaveRunMeetNoLaterObject(t *testing.T) {
	t.Parallel()
	const now, hour = 1, 3_600_000
	first, set := SemaphoreChange(free, latchMs, SetFirst, 3, 0, Unknown), CountDown(count, latchMs, SetCount, 3, Known)
	release, more, down := SemaphoreChange(free, latchMs, GiveBack, 1, 0, Unknown), SemaphoreChange(free, latchMs, AddMore, 1, 0, Known), CountDown(count, latchMs, DownByOne, 0, Unknown)
	for name, row := range map[string]struct {
		made  []Call // before
		java  bool   // another library has made it
		again Call
		since int
		want  string
		left  string
	}{
		"release, gone":           {nil, false, release, now, "GONE", ""},
		"release, first":          {nil, false, release, 0, "int 1", "1"},
		"release, made since":     {[]Call{first}, false, release, hour, "GONE", "3"},
		"release, made before":    {[]Call{first}, false, release, now, "int 1", "4"},
		"release, Java's":         {nil, true, release, hour, "int 1", "4"},
		"more, gone":              {nil, false, more, now, "GONE", ""},
		"more, made since":        {[]Call{first}, false, more, hour, "GONE", "3"},
		"set, gone":               {nil, false, first, hour, "int 1", "3"},
		"drain, made since":       {[]Call{first}, false, SemaphoreChange(free, latchMs, DrainAll, 0, 0, Unknown), hour, "GONE", "3"},
		"delete, made since":      {[]Call{first}, false, SemaphoreChange(free, latchMs, DeleteAll, 0, 0, Unknown), hour, "GONE", "3"},
		"if exists, gone":         {nil, false, SemaphoreChange(free, latchMs, GiveExisting, 1, 0, Unknown), now, "int 0", ""},
		"count down, made since":  {[]Call{set}, false, down, hour, "GONE", "3"},
		"count down, made before": {[]Call{set}, false, down, now, "int 1", "2"},
		"count down, Java's":      {nil, true, down, hour, "int 1", "2"},
		"set a count, gone":       {nil, false, CountDown(count, latchMs, SetCount, 3, Unknown), hour, "int 1", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newPermitRig(t, nil)
			for _, c := range row.made {
				c.Args = slices.Clone(c.Args)
				c.Args[3] = codec.Latch(key, "0123456789abcdef0123456789abcd01")
				r.gets("int 1", c)
				if row.since == now {
					r.do("SET", begun, 2) // an even mark of long ago
				}
			}
			if row.java {
				r.do("SET", key, 3)
			}
			r.gets(row.want, row.again.Since(row.since))
			if row.left == "" {
				if n := r.do("DBSIZE"); row.want == "GONE" && n != int64(0) {
					t.Errorf("%v keys", n)
				}
				return
			}
			if left, _ := r.do("GET", key).([]byte); string(left) != row.left {
				t.Errorf("it is %s, not %s", left, row.left)
			}
		})
	}
}
