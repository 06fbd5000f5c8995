package virtual_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rlock-go/redisson/rlock"
)

// exclusive are the kinds of locks that have one owner, by name.
var exclusive = map[string]func(*rlock.Client, string) *rlock.Lock{
	"plain": (*rlock.Client).NewLock, "spin": (*rlock.Client).NewSpinLock, "fair": (*rlock.Client).NewFairLock,
	"fenced": (*rlock.Client).NewFencedLock, "non-reentrant": (*rlock.Client).NewNonReentrantLock,
}

// ForceUnlock leaves alone a hash that no lock writes, such as the multi-lock of a group in Java. An account that may not look
// at it deletes it.
func TestForceUnlockLeavesAloneWhatIsNoLock(t *testing.T) {
	const owner = "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:1"
	bg := context.Background()
	for kind, of := range exclusive {
		for what, row := range map[string]struct {
			fields []string
			blind  bool // the account may not look
			forced bool
			says   string
		}{
			"the multi-lock of a group": {[]string{"zGp2RnUc2cZchMHly8iqUA", owner, "zGp2RnUc2cZchMHly8iqUA:" + owner + ":lock_count", "1"}, false, false,
				`the key is a hash that is no lock of this kind (2 fields, as of a read-write lock or the multi-lock of a group); it was left alone`},
			"one foreign field":         {[]string{"colour", "red"}, false, false, `the key is a hash that is no lock of this kind (field "colour"); it was left alone`},
			"a read-write lock":         {[]string{"mode", "read", owner, "1"}, false, true, ""},
			"a lock":                    {[]string{owner, "1"}, false, true, ""},
			"what may not be looked at": {[]string{"colour", "red"}, true, true, ""},
		} {
			t.Run(kind+"/"+what, func(t *testing.T) {
				inBubble(t, func(r *rig) {
					l := of(r.open(), "orders")
					r.at(func() {
						r.server.Session(host(9)).Do(append([]string{"HSET", "orders"}, row.fields...)...)
						asked := false
						r.server.Refuse = func(args []string) string {
							if row.blind && !asked && args[0] == "EVALSHA" {
								asked = true // it looks before it deletes
								return "NOPERM this user has no permissions to run the 'hlen' command"
							}
							return ""
						}
					})
					forced, err := l.ForceUnlock(bg)
					if forced != row.forced || (row.says == "") != (err == nil) {
						r.Fatal(forced, err)
					}
					if want := `rlock: force "orders": ` + row.says; err != nil && (!errors.Is(err, rlock.ErrRefused) || err.Error() != want) {
						r.Errorf("\n%v, want\n%s", err, want)
					}
					r.at(func() {
						if there := string(r.server.Session(host(9)).Do("EXISTS", "orders")) == ":1\r\n"; there == row.forced {
							r.Errorf("the key is there: %t", there)
						}
					})
				})
			})
		}
	}
}
