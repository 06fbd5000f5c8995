package simulation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// look returns all keys with their values and lives.
const look = `
local all = {}
for i, k in ipairs(KEYS) do
  local kind = redis.call('type', k).ok
  local v = false
  if kind == 'string' then v = redis.call('get', k)
  elseif kind == 'hash' then v = redis.call('hgetall', k)
  elseif kind == 'list' then v = redis.call('lrange', k, 0, -1)
  elseif kind == 'zset' then
    v = {}
    for at, member in ipairs(redis.call('zrange', k, 0, -1)) do
      v[at] = member .. ' ' .. redis.call('zscore', k, member)
    end
    table.sort(v)
  end
  if kind ~= 'none' then all[#all + 1] = {k, kind, v, redis.call('pttl', k)} end
end
return all`

// comparison sends the same to a server and to the model.
type comparison struct {
	t     *testing.T
	d     *drawing
	real  *realServer
	model *model
	names map[string]string // of scripts, by their hash
	ids   [2]string         // of ear

	steps, batches int
	used           map[string]int
	failed         map[string]int
	excused        map[string]int
	began          int64 // the server's time at the last flush, microseconds
	passed         int   // batches that were not compared, because a millisecond ended during a command
}

// TestModelAgreesWithServers sends random commands and scripts to the model and to a server.
// Replies, messages and values must be equal. SIM_SERVERS has names that servers.sh knows,
// SIM_STEPS is how many commands each gets.
func TestModelAgreesWithServers(t *testing.T) {
	names := strings.Fields(os.Getenv("SIM_SERVERS"))
	if len(names) == 0 {
		agrees(t, "redis-server")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			program, err := exec.Command("../servers.sh", name).Output()
			if err != nil {
				t.Fatal(err)
			}
			agrees(t, strings.TrimSpace(string(program)))
		})
	}
}

func agrees(t *testing.T, program string) {
	seed, steps := uint64(Env("SIM_SEED", 1)), Env("SIM_STEPS", 20000)
	server := startServer(t, program)
	c := &comparison{
		t: t, real: server, model: newModel(server.version), names: map[string]string{},
		used: map[string]int{}, failed: map[string]int{}, excused: map[string]int{},
	}
	c.d = &drawing{r: rand.New(rand.NewPCG(seed, 9)), old: c.real.old()}
	c.begin()
	for began := time.Now(); c.steps < steps; c.batches++ {
		c.batch()
		if c.batches%25 == 24 || c.now()-c.began > 15e6 {
			c.refusal()
			c.flush()
		}
		if c.batches%20000 == 0 && c.batches > 0 {
			t.Logf("%d steps in %v, failed %v", c.steps, time.Since(began).Round(time.Second), c.failed)
		}
	}
	for _, script := range luasrc.Scripts() {
		if c.used[script.Name] == 0 && !(c.d.old && strings.Contains(script.Source, "spublish")) {
			t.Logf("%s was not used", script.Name)
		}
	}
	t.Logf("version %s: %d steps, %d different, allowed %v, %d of %d batches not compared", c.real.version, c.steps, sum(c.failed), c.excused,
		c.passed, c.batches)
	for _, what := range slices.Sorted(maps.Keys(c.failed)) {
		t.Errorf("%s: %d differences", what, c.failed[what])
	}
}

func sum(all map[string]int) (n int) {
	for _, v := range all {
		n += v
	}
	return n
}

func (c *comparison) now() int64 {
	return c.real.conns[another].do(c.t, [][]string{{"ECHO", ""}})[0].before
}

// both sends to both sides what is not compared.
func (c *comparison) both(conn int, args ...string) (server, model string) {
	return c.real.conns[conn].ask(c.t, args...), string(c.model.do(conn, 0, args))
}

func (c *comparison) begin() {
	c.model.now = c.now()
	c.began = c.model.now
	for _, script := range luasrc.Scripts() {
		c.both(teller, "SCRIPT", "LOAD", script.Source)
		c.names[script.SHA1] = script.Name
	}
	a, b := c.both(ear, "CLIENT", "ID")
	c.ids = [2]string{id(a), id(b)}
	c.both(ear, "SUBSCRIBE", "chan")
	c.both(ear, "SUBSCRIBE", "__redis__:invalidate")
	if !c.d.old {
		c.both(ear, "SSUBSCRIBE", "chan")
	}
	track := func(id string) []string {
		return []string{"CLIENT", "TRACKING", "ON", "REDIRECT", id, "OPTIN", "NOLOOP"}
	}
	c.real.conns[teller].ask(c.t, track(c.ids[0])...)
	c.model.do(teller, 0, track(c.ids[1]))
}

// batch compares some commands on one connection, what they have said, and what they have left.
func (c *comparison) batch() {
	conn := c.d.r.IntN(2)
	c.d.short = false
	var cmds [][]string
	for range 10 {
		if conn == teller && c.d.r.IntN(3) == 0 {
			cmds = append(cmds, []string{"CLIENT", "CACHING", "YES"})
		}
		if cmds = append(cmds, c.d.command()); c.d.short {
			break // the next ones would meet it at its last moment
		}
	}
	c.run(conn, cmds)
}

var (
	everyKey = slices.Concat(keys, otherKeys, owners, mistakes)
	dump     = append([]string{"EVAL", look, fmt.Sprint(len(everyKey))}, everyKey...)
)

// run compares a batch. Before 7.2 a server reads its clock anew for each command of a script, and then decides by lives that differ
// by a millisecond: a batch is only compared if the model can be given the time of all that ran.
func (c *comparison) run(conn int, cmds [][]string) {
	c.align()
	answers := c.real.conns[conn].do(c.t, cmds)
	if !oneTime(answers) {
		for i, cmd := range cmds {
			c.model.do(conn, answers[i].before, cmd)
		}
		c.passed++
		c.flush()
		return
	}
	last := c.compare(conn, cmds, answers)
	if c.d.short { // what has lived for a millisecond, or until a time of one side's, ends on both sides
		for c.now() < last+2000 {
			time.Sleep(time.Millisecond)
		}
		exist := append([]string{"EXISTS"}, everyKey...)
		c.compare(another, [][]string{exist}, c.real.conns[another].do(c.t, [][]string{exist}))
	}
	a, b := c.real.conns[ear].heard(c.t), c.model.heard()
	if c.d.short {
		a, b = sortInvalidations(a), sortInvalidations(b)
	}
	if x, y := strings.Join(a, ""), strings.Join(b, ""); x != y {
		c.differs("messages", cmds, []byte(x), []byte(y))
	}
	state := [][]string{dump}
	for answers = c.real.conns[another].do(c.t, state); !oneTime(answers); answers = c.real.conns[another].do(c.t, state) {
		c.align()
	}
	c.compare(another, state, answers)
}

// align waits for a millisecond that has just begun, so that most batches end within it.
func (c *comparison) align() {
	for c.now()%1000 > 400 {
	}
}

// oneTime tells whether each command ran within one millisecond of the server's clock.
func oneTime(answers []answer) bool {
	return !slices.ContainsFunc(answers, func(a answer) bool { return a.before/1000 != a.after/1000 })
}

// compare sends to the model what the server has answered, and returns the server's time behind it.
func (c *comparison) compare(conn int, cmds [][]string, answers []answer) (last int64) {
	for i, cmd := range cmds {
		a := answers[i]
		last = a.after
		reply := c.model.do(conn, a.before, cmd)
		what := cmd[0]
		if what == "EVALSHA" && len(cmd) > 1 && c.names[cmd[1]] != "" {
			what = c.names[cmd[1]]
		}
		c.used[what]++
		c.steps++
		if string(a.reply) == string(reply) {
			continue
		}
		if name := excused(c.real.version, a.reply, reply); name != "" {
			c.excused[name]++
			continue
		}
		c.differs(what, cmds[:i+1], a.reply, reply)
	}
	return last
}

func (c *comparison) differs(what string, cmds [][]string, server, model []byte) {
	if c.failed[what]++; c.failed[what] < 4 {
		c.t.Logf("step %d: %s: %.400q\n server %.900q\n model  %.900q", c.steps, what, cmds[len(cmds)-1], server, model)
	}
}

func (c *comparison) flush() {
	c.both(another, "FLUSHALL")
	c.real.conns[ear].heard(c.t)
	c.model.heard()
	c.model.now = c.now()
	c.began = c.model.now
}
