package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// The kinds that can be told apart by their keys. A plain, a spin and a
// non-reentrant lock look alike, and so does a fair lock without waiters. Numbers
// without waiters and without taken permits look alike too.
const (
	plain     = "lock"
	fair      = "fair"
	fenced    = "fenced"
	readWrite = "read-write"
	permits   = "permits"
	semaphore = "semaphore"
	latch     = "latch"
	number    = "number"
)

// state is what the server stores about one name.
type state struct {
	Name      string     `json:"name"`
	Bytes     []byte     `json:"name_base64,omitempty"` // of a name that is no UTF-8: JSON can't have it
	Kind      string     `json:"kind,omitempty"`        // empty: there is nothing of a lock
	Mode      string     `json:"mode,omitempty"`        // of a read-write lock: read or write
	Holders   []holder   `json:"holders,omitempty"`
	More      int64      `json:"more_holders,omitempty"` // holders that were not read
	KeptBy    string     `json:"kept_by,omitempty"`      // the client that left the lock taken for the rest of an AtLeast: nobody holds it
	TTL       *int64     `json:"ttl_ms,omitempty"`       // -1: never expires
	Token     *int64     `json:"token,omitempty"`        // of the latest grant of a fenced lock
	Expired   int64      `json:"expired,omitempty"`      // permits that the next acquire frees
	Number    *int64     `json:"number,omitempty"`       // free permits, or a latch's count
	Queue     []place    `json:"queue,omitempty"`        // of a fair lock, in order
	Listening *listening `json:"listening,omitempty"`    // nil: the account may not count them
	Found     string     `json:"found,omitempty"`        // the type of a key that is no lock's
	Unread    []string   `json:"not_read,omitempty"`     // commands that the server refuses
	Replica   string     `json:"replica,omitempty"`      // the replica that it was read from, because its master can't be read

	node  *node
	err   error     // why it could not be read
	asked time.Time // when it was asked for
	at    time.Time // when it was read
	used  time.Time // for watch: when a search last found it
	whole bool      // for watch: the next look reads all of it
}

// holder is an owner with its holds, or a permit.
type holder struct {
	Owner  string `json:"owner"`
	Count  int64  `json:"count"`
	Write  bool   `json:"write,omitempty"`      // of a read-write lock
	Expiry *int64 `json:"expires_ms,omitempty"` // of a permit, in ms from now; nil: never

	permit bool
}

// place is a place in the queue of a fair lock.
type place struct {
	Owner     string `json:"owner"`
	Left      *int64 `json:"keeps_ms,omitempty"` // how long the owner keeps it; nil: it is lost
	Listening *int64 `json:"listening,omitempty"`
}

// listening is how many clients wait for a message.
type listening struct {
	Plain   int64 `json:"plain"`
	Sharded int64 `json:"sharded"`
}

// waiting returns how many wait as far as the server knows, or -1 if it does not say.
func (s *state) waiting() int64 {
	if s.Kind == fair {
		return int64(len(s.Queue))
	}
	if s.Listening == nil {
		return -1
	}
	// A client of the library subscribes to both.
	return max(s.Listening.Plain, s.Listening.Sharded)
}

func (s *state) held() bool { return len(s.Holders) > 0 }

// locked reports whether nobody else gets the lock.
func (s *state) locked() bool { return s.held() || s.KeptBy != "" }

// numberIs says what the number counts.
func (s *state) numberIs() string {
	switch s.Kind {
	case permits, semaphore:
		return "free"
	case latch:
		return "count"
	}
	return "number"
}

// most is how many of a lock's owners, waiters or permits are read.
const most = 1000

// read reads the state of names that one master has. It changes nothing.
func (r *reader) read(ctx context.Context, n *node, names ...string) ([]*state, error) {
	if len(names) == 0 {
		return nil, nil
	}
	first := append([]command{{"TIME"}}, counts(n, names)...)
	shared := len(first)
	each := 0
	for _, name := range names {
		before := len(first)
		first = append(first,
			command{"TYPE", name}, command{"PTTL", name}, command{"HLEN", name}, command{"STRLEN", name},
			command{"GET", codec.TokenKey(name)},
			command{"LRANGE", codec.FairQueue(name), 0, most - 1}, command{"ZRANGE", codec.FairTimes(name), 0, most - 1, "WITHSCORES"},
			command{"ZCARD", codec.PermitTimes(name)}, command{"ZRANGE", codec.PermitTimes(name), -most, -1, "WITHSCORES"}) // those that end last
		each = len(first) - before
	}
	began := time.Now()
	replies, err := r.ask(ctx, n, first...)
	if err != nil {
		return nil, err
	}
	now := serverTime(replies[0])
	var all []*state
	var second []command
	var of []*state // the state that each of second is for
	for i, name := range names {
		s := &state{Name: name, Replica: n.replica(), node: n, asked: began, at: time.Now()}
		if !utf8.ValidString(name) {
			s.Bytes = []byte(name)
		}
		all = append(all, s)
		mine := replies[shared+i*each : shared+(i+1)*each]
		if s.err = refusals(n, mine[:4]); s.err != nil {
			continue
		}
		for j, reply := range mine {
			s.unread(first[shared+i*each+j], reply)
		}
		for j, reply := range replies[:shared] {
			s.unread(first[j], reply)
		}
		inside := s.keys(mine, now)
		s.listen(replies[1:shared], i)
		if inside != nil {
			second, of = append(second, inside), append(of, s)
		}
	}
	if replies, err = r.ask(ctx, n, second...); err != nil {
		return nil, err
	}
	for i, s := range of {
		if s.err = refusals(n, replies[i:i+1]); s.err == nil {
			s.inside(replies[i])
		}
	}
	return all, nil
}

// unread notes a command that the server refuses.
func (s *state) unread(c command, reply any) {
	if err, ok := reply.(error); ok && refuses(c, err) {
		name := c[0].(string)
		if name == "PUBSUB" || name == "CLIENT" {
			name += " " + c[1].(string)
		}
		if !slices.Contains(s.Unread, name) {
			s.Unread = append(s.Unread, name)
		}
	}
}

// refuses reports whether an error hides something. WRONGTYPE only says what a key is, and before
// Redis 7 there are no sharded channels.
func refuses(c command, err error) bool {
	text := err.Error()
	if len(c) > 1 && c[0] == "PUBSUB" && strings.HasPrefix(c[1].(string), "SHARD") && strings.HasPrefix(text, "ERR ") {
		return false
	}
	return !strings.HasPrefix(text, "WRONGTYPE")
}

// partly is the error of a state of which the server refused to tell something; nil if it is complete.
func (s *state) partly() error {
	if len(s.Unread) == 0 {
		return nil
	}
	return &exit{partial, fmt.Errorf("%s refused: the account may not, see docs/security.md", strings.Join(s.Unread, ", "))}
}

// refusals returns the replies' first error but WRONGTYPE, which only says what a key is.
func refusals(n *node, replies []any) error {
	for _, reply := range replies {
		err, _ := reply.(error)
		said, answered := err.(redis.Error)
		switch {
		case err == nil || strings.HasPrefix(err.Error(), "WRONGTYPE"):
		case answered:
			return refused(n, said)
		default:
			return err
		}
	}
	return nil
}

// refused makes an error of a server's error reply to a read.
func refused(n *node, said redis.Error) error {
	if r, _ := redisconn.RefusalOf(said); r.Elsewhere() {
		return &exit{unreachable, fmt.Errorf("%s is a node of a cluster whose slots move: try again, with a redis+cluster:// URL: %w", n.addr, said)}
	}
	return &exit{unreachable, fmt.Errorf("%s refused: %w", n.addr, said)}
}

// keys reads the first replies, and returns the command to read inside the key, if there is one.
func (s *state) keys(replies []any, now int64) command {
	kindOf, _ := redis.String(replies[0], nil)
	ms, _ := replies[1].(int64)
	fields, _ := redis.Int64(replies[2], nil)
	length, _ := redis.Int64(replies[3], nil)
	token, noToken := redis.Int64(replies[4], nil)
	queue, _ := redis.Strings(replies[5], nil)
	if kindOf != "none" {
		s.TTL = &ms
	}
	if noToken == nil {
		s.Token, s.Kind = &token, fenced
	}
	keeps := scores(replies[6])
	for _, owner := range queue {
		p := place{Owner: visible(owner)} // anybody may have written it
		if until, ok := keeps[owner]; ok {
			left := until - now
			p.Left = &left
		}
		s.Kind = fair
		s.Queue = append(s.Queue, p)
	}
	switch kindOf {
	case "hash":
		s.More = fields
		return command{"HSCAN", s.Name, 0, "COUNT", most}
	case "string":
		if length <= 20 {
			if taken, _ := redis.Int64(replies[7], nil); taken > 0 {
				s.Kind = permits
				s.permits(replies[8], now)
				if s.More = taken - int64(len(s.Holders)) - s.Expired; s.Expired > 0 {
					s.Expired, s.More = s.Expired+s.More, 0 // those that were not read end before
				}
			}
			return command{"GET", s.Name}
		}
	}
	if kindOf != "none" {
		s.Found = kindOf
	}
	return nil
}

// inside reads what was found inside the key.
func (s *state) inside(reply any) {
	if values, err := redis.Values(reply, nil); err == nil && len(values) == 2 {
		fields, _ := redis.ByteSlices(values[1], nil)
		s.owners(fields)
		return
	}
	n, err := redis.Int64(reply, nil)
	switch {
	case errors.Is(err, redis.ErrNil): // the key was deleted meanwhile
		s.TTL = nil
	case err != nil && s.Kind != permits:
		s.Found, s.More = "string", 0
	case err == nil:
		s.Number = &n
		if s.Kind != permits && s.Kind != semaphore && s.Kind != latch {
			s.Kind = number
		}
	}
}

// owners reads the fields of a hash.
func (s *state) owners(fields [][]byte) {
	total := s.More
	if s.More = 0; len(fields) == 0 { // the key was deleted meanwhile
		s.TTL = nil
		return
	}
	mode, holders, strange := lockHash(fields)
	if len(holders) == 0 {
		s.Kind, s.Found = "", "hash"
		return
	}
	read := int64(len(holders))
	if client, thread, _ := codec.ParseOwner(holders[0].Owner); read == 1 && codec.IsKeeper(thread) {
		s.KeptBy, holders = client.String(), nil
	}
	switch s.Holders = holders; {
	case mode != "":
		s.Kind, s.Mode = readWrite, mode
		read++
	case s.Kind == "" || s.Kind == readWrite:
		s.Kind = plain
	}
	s.More = max(0, total-read-int64(strange))
}

// lockHash reads a hash as a lock's: its mode and its owners. strange counts the
// fields that are no owner's.
func lockHash(fields [][]byte) (mode string, holders []holder, strange int) {
	for i := 0; i+1 < len(fields); i += 2 {
		name, value := fields[i], fields[i+1]
		if string(name) == "mode" {
			mode = string(value)
			continue
		}
		owner, write := bytes.CutSuffix(name, []byte(":write"))
		_, _, err := codec.ParseOwner(string(owner))
		count, wrong := luasrc.DecodeCount(value)
		if err != nil || wrong != nil {
			strange++
			continue
		}
		holders = append(holders, holder{Owner: string(owner), Count: count, Write: write})
	}
	return mode, holders, strange
}

// scores returns the members of a sorted set with their scores.
func scores(reply any) map[string]int64 {
	pairs, _ := redis.Strings(reply, nil)
	all := map[string]int64{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if score, err := strconv.ParseFloat(pairs[i+1], 64); err == nil {
			all[pairs[i]] = int64(score)
		}
	}
	return all
}

// serverTime returns TIME's reply in ms, or this machine's time if there is none.
func serverTime(reply any) int64 {
	parts, err := redis.Int64s(reply, nil)
	if err != nil || len(parts) != 2 {
		return time.Now().UnixMilli()
	}
	return parts[0]*1000 + parts[1]/1000
}

var errNoName = wrong("a lock has a name")

// one reads the state of a name from its master.
func (r *reader) one(ctx context.Context, name string) (*state, error) {
	if name == "" {
		return nil, errNoName
	}
	n, err := r.of(ctx, name)
	if err != nil {
		return nil, err
	}
	all, err := r.read(ctx, n, name)
	if err != nil {
		return nil, err
	}
	return all[0], all[0].err
}
