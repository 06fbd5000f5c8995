package kind

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func mapped(name string) string { return "app:" + name }

// The names in which releases of Redisson differ where a NameMapper is used, on both sides of each change.
func TestNamesBesideOlderReleases(t *testing.T) {
	const (
		queue, mappedQueue   = "redisson_lock_queue:{orders}", "redisson_lock_queue:{app:orders}"
		times, mappedTimes   = "redisson_lock_timeout:{orders}", "redisson_lock_timeout:{app:orders}"
		taken, mappedTaken   = "{orders}:timeout", "{app:orders}:timeout"
		once, twice, channel = "app:orders", "app:app:orders", "redisson_rwlock:{app:app:orders}"
	)
	for _, row := range []struct{ release, queue, times, taken, readWrite string }{
		{"3.11.6", mappedQueue, mappedTimes, mappedTaken, once}, // it has no NameMapper
		{"3.15.3", mappedQueue, mappedTimes, mappedTaken, once},
		{"3.15.4", queue, times, taken, twice},
		{"3.19.0", queue, times, taken, twice},
		{"3.19.1", queue, times, mappedTaken, twice},
		{"3.20.0", queue, times, mappedTaken, twice},
		{"3.20.1", queue, times, mappedTaken, once},
		{"3.51.0", queue, times, mappedTaken, once},
		{"3.52.0", mappedQueue, mappedTimes, mappedTaken, once},
		{"4.7.0", mappedQueue, mappedTimes, mappedTaken, once},
		{"5.0.0", mappedQueue, mappedTimes, mappedTaken, once},
	} {
		o, err := Beside(row.release)
		if err != nil {
			t.Fatal(err)
		}
		o.Map = mapped
		f := o.Names(Fair(0), "orders", "app:orders")
		if f.Key() != once || f[queueName] != row.queue || f[timesName] != row.times || f[channelName] != "redisson_lock__channel:{app:orders}" {
			t.Errorf("%s: fair %q", row.release, f)
		}
		if p := o.Names(Permits(1), "orders", "app:orders"); p.Key() != once || p[timesPermits] != row.taken {
			t.Errorf("%s: permits %q", row.release, p)
		}
		for _, k := range []Kind{ReadLock, WriteLock} {
			if n := o.Names(k, "orders", "app:orders"); n.Key() != row.readWrite || row.readWrite == twice && n[channelName] != channel {
				t.Errorf("%s: read-write %q", row.release, n)
			}
		}
		for _, k := range []Kind{Reentrant, Spin, Fenced, Semaphore(1), CountDownLatch, NonReentrant} {
			if n := o.Names(k, "orders", "app:orders"); n != k.Names("app:orders") {
				t.Errorf("%s: %T %q", row.release, k, n)
			}
		}
		if locks := o.Locks(row.taken); !slices.Contains(locks, LockName{once, permitsTraits.Family}) {
			t.Errorf("%s: the permits of %s are those of %v", row.release, row.taken, locks)
		}
		o.Map = nil
		for _, k := range []Kind{Fair(0), Permits(1), ReadLock, WriteLock} {
			if n := o.Names(k, "orders", "orders"); n != k.Names("orders") {
				t.Errorf("%s without a NameMapper: %T %q", row.release, k, n)
			}
		}
	}
}

func TestReleaseThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"", "3", "3.37", "3.37.0.1", "3.x.0", "three", "-3.1.0", "3.37.0-SNAPSHOT", "3..1"} {
		if o, err := Beside(text); err == nil {
			t.Errorf("%q: %+v", text, o)
		}
	}
}

// The table of the page has the names beside the last release that made them otherwise, and beside the next one.
func TestPageHasTheNamesBesideOlderReleases(t *testing.T) {
	page, err := os.ReadFile("../../docs/from-java.md")
	if err != nil {
		t.Fatal(err)
	}
	type of struct {
		kind Kind
		name int // in its Names
	}
	names := map[string]of{
		"fair lock, queue": {Fair(0), queueName}, "fair lock, times": {Fair(0), timesName},
		"read-write lock, key":                     {ReadLock, keyName},
		"RPermitExpirableSemaphore, taken permits": {Permits(1), timesPermits},
	}
	at := func(release string) Older {
		o, err := Beside(release)
		if err != nil {
			t.Fatal(err)
		}
		o.Map = mapped
		return o
	}
	row := regexp.MustCompile("(?m)^\\| `?([^|`]*)`? \\| ([^|]*) \\| ([0-9.]+): `([^`]*)` \\| `([^`]*)` \\|$")
	for _, cells := range row.FindAllStringSubmatch(string(page), -1) {
		what, last := cells[1]+", "+cells[2], strings.Split(cells[3], ".")
		it, ok := names[what]
		if !ok {
			t.Errorf("nobody knows the %s", what)
			continue
		}
		delete(names, what)
		i := len(last) - 1
		n, err := strconv.Atoi(last[i])
		if err != nil {
			t.Fatal(err)
		}
		next := append(slices.Clone(last[:i]), strconv.Itoa(n+1))
		for len(last) < 3 { // each patch of a minor release
			last, next = append(last, "99"), append(next, "0")
		}
		name := func(o Older) any { return o.Names(it.kind, "orders", "app:orders")[it.name] }
		if got := name(at(strings.Join(last, "."))); got != cells[4] {
			t.Errorf("%s up to %s: %s, on the page %s", what, cells[3], got, cells[4])
		}
		if got := name(at(strings.Join(next, "."))); got != cells[5] {
			t.Errorf("%s later than %s: %s, on the page %s", what, cells[3], got, cells[5])
		}
	}
	for what := range names {
		t.Errorf("the page does not have the %s", what)
	}
}
