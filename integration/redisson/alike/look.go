package alike

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

var (
	ownerForm = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}:[0-9]+`)
	idText    = regexp.MustCompile(`^[0-9a-f]{32}$`) // a permit's id in Redisson up to 3.16; later ids have 16 bytes
)

// forEver is the expiry time of a permit that does not expire.
const forEver = 922337203685477

// latchPrefix begins the keys of unlock results, which expire soon.
const latchPrefix = "redisson_unlock_latch:"

// look returns what the server has, and what was published since the last look.
func (p *Play) look(step string) State {
	p.Helper()
	s := State{Step: step, After: time.Since(p.began), Times: map[string]int64{}}
	now := p.now()
	named := func(text string) string { return ownerForm.ReplaceAllStringFunc(text, p.Named) }
	add := func(format string, args ...any) { s.Exact = append(s.Exact, named(fmt.Sprintf(format, args...))) }
	keys := p.Strings("KEYS", "*")
	slices.Sort(keys)
	for _, key := range keys {
		if strings.HasPrefix(key, latchPrefix) {
			continue
		}
		kind, ttl := p.Do("TYPE", key).(string), p.Do("PTTL", key).(int64)
		if ttl == -2 {
			continue // it has just expired
		}
		add("%s is a %s", key, kind)
		s.Times["TTL of "+named(key)] = ttl
		switch kind {
		case "string":
			add("%s = %s", key, p.Do("GET", key))
		case "hash":
			for pair := range slices.Chunk(p.Strings("HGETALL", key), 2) {
				add("%s has %s = %s", key, pair[0], pair[1])
			}
		case "list":
			for i, value := range p.Strings("LRANGE", key, 0, -1) {
				add("%s has at %d %s", key, i, value)
			}
		case "zset":
			for i, pair := range slices.Collect(slices.Chunk(p.Strings("ZRANGE", key, 0, -1, "WITHSCORES"), 2)) {
				member := named(pair[0])
				if len(member) == 16 || idText.MatchString(member) {
					member = fmt.Sprint("permit ", i)
				}
				add("%s has %s", key, member)
				till, err := strconv.ParseFloat(pair[1], 64)
				p.Must(err)
				if till == forEver {
					add("%s is for ever", member)
				} else {
					s.Times["time of "+member] = int64(till) - now
				}
			}
		}
	}
	slices.Sort(s.Exact)
	for _, m := range p.Messages() {
		add("%s says %s", m.Channel, m.Data)
	}
	return s
}

// now is the server's clock, in ms.
func (p *Play) now() int64 {
	p.Helper()
	clock, err := redis.Int64s(p.Do("TIME"), nil)
	p.Must(err)
	return clock[0]*1000 + clock[1]/1000
}
