package operations_test

import (
	"regexp"
	"strings"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// The ids of the holding and of the waiting client on the page.
const (
	holder = "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11"
	waiter = "c2d94e07-51b8-4c1e-8f7a-60b3d5a9e4f2"
)

// scenarios prepare what the page's sections are about, each on its own server.
var scenarios = map[string]func(*rig){
	"As CLIENT LIST shows them": listed,
	"Lock and unlock":           pair,
	"A wait":                    wait,
	"A renewal":                 renewal,
	"Who holds a lock":          held,
	"Which process that is":     process,
	"A holder that died":        died,
	"A key without a TTL":       endless,
	"By force":                  forced,
	"Without the tool":          forced,
}

// two opens the holding and the waiting client.
func (r *rig) two() (holds, waits *rlock.Client) {
	holds, waits = r.open(), r.open()
	r.shown(holds, holder)
	r.shown(waits, waiter)
	return holds, waits
}

var connID = regexp.MustCompile(`connection=commands server=\S+ conn_id=(\d+)`)

// commandID returns the id of the first command connection in the log.
func (r *rig) commandID(c *rlock.Client) string {
	r.Helper()
	id := ""
	r.Becomes("the log tells of a command connection", func() bool {
		for _, line := range r.saying(c.ID().String()) {
			if m := connID.FindStringSubmatch(line); m != nil {
				id = m[1]
				return true
			}
		}
		return false
	})
	return id
}

func listed(r *rig) {
	// With this command timeout no PING becomes the last command.
	waits := r.open(rlock.WithCommandTimeout(time.Minute))
	r.shown(waits, waiter)
	// No client holds the lock: after a second its subscription connection would be listed too.
	r.Do("HSET", "invoices", holder+":1", 1)
	r.Do("PEXPIRE", "invoices", 30_000)
	r.enter(r.Context(), waits.NewLock("invoices"))
	r.typed["CLIENT LIST ID 6"] = "CLIENT LIST ID " + r.commandID(waits)
	// The second try of the waiter was its last command.
	r.Becomes("the waiter has tried again", func() bool {
		return r.Calls()["EVALSHA"] == 2
	})
}

func pair(r *rig) {
	c := r.open()
	r.shown(c, holder)
	l := c.NewLock("invoices")
	r.answers["MONITOR"] = r.monitor(func() { r.Unlock(r.Hold(l)) }, `"PUBLISH"`)
}

func wait(r *rig) {
	holds, waits := r.two()
	h := r.Hold(holds.NewLock("invoices"))
	r.answers["MONITOR"] = r.monitor(func() {
		l := waits.NewLock("invoices")
		e := r.enter(r.Context(), l)
		r.Becomes("the waiter has tried again", func() bool { return r.Calls()["EVALSHA"] == 3 })
		r.Unlock(h)
		r.Entered(e)
	}, `"UNSUBSCRIBE"`)
}

func renewal(r *rig) {
	c := r.open(rlock.WithWatchdogTimeout(3 * time.Second))
	r.shown(c, holder)
	r.Hold(c.NewLock("invoices"))
	r.Hold(c.NewLock("shipping"))
	r.Becomes("both are tracked", func() bool {
		return strings.Contains(string(r.Do("INFO", "stats").([]byte)), "tracking_total_keys:2\r")
	})
	r.answers["MONITOR"] = r.monitor(func() {}, `"CLIENT" "CACHING"`, `"pexpire" "shipping"`)
}

func held(r *rig) {
	holds, waits := r.two()
	l := holds.NewLock("invoices")
	h := r.Hold(l)
	r.Hold(l, rlock.As(h.Owner()))
	r.enter(r.Context(), waits.NewLock("invoices"))
}

func process(r *rig) {
	c := r.open()
	r.shown(c, holder)
	r.Hold(c.NewLock("invoices"))
	// Another goroutine logs the connection.
	for _, message := range []string{"msg=connected", `msg="client started"`} {
		r.Becomes(message, func() bool { return len(r.saying(message)) == 1 })
		r.lines = append(r.lines, r.saying(message)...)
	}
	r.ids = append(r.ids, r.server.Addr(), "127.0.0.1:6379")
}

// died leaves what a killed process leaves: its key, and no connection.
func died(r *rig) {
	c := r.open()
	r.shown(c, holder)
	r.Hold(c.NewLock("invoices"))
	id := r.commandID(c)
	c.Close()
	r.Becomes("the server has noticed", func() bool {
		list, _ := r.Do("CLIENT", "LIST", "ID", id).([]byte)
		return len(list) == 0
	})
}

func endless(r *rig) {
	c := r.open()
	r.shown(c, holder)
	r.Hold(c.NewLock("invoices"))
	c.Close()
	r.Do("PERSIST", "invoices")
}

func forced(r *rig) {
	holds, waits := r.two()
	r.Hold(holds.NewLock("invoices"))
	e := r.enter(r.Context(), waits.NewLock("invoices"))
	r.after = func() { r.Entered(e) }
}
