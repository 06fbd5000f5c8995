package main

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// limitDepths are how many commands the limit's connection keeps in flight; the better one counts.
var limitDepths = []int{32, 128}

// limit is the most that the server can do with these commands: they are encoded in advance and sent ahead over one
// connection, and their replies are only counted. redis-benchmark does not fit: it repeats one command, and a lock
// without its unlock, or an unlock of a free lock, is different work for the server.
type limit struct {
	addr    string
	depth   int
	encoded [][]byte // chunks of depth/2 commands each, which cycle through the names
}

// pairCommands are the commands of a pair: lock and unlock. An owner that is used once needs no more.
const pairCommands = 2

// limitNames is the largest number of callers of the other peers.
const limitNames = 1024

func newLimit(addr string, depth int) *limit {
	var names []string
	for i := range limitNames {
		names = append(names, fmt.Sprint(prefixFor("pairs", limitName), i))
	}
	return newLimitOf(addr, depth, names, luasrc.Publish)
}

// newLimitOf is newLimit for these names; publish is how releases are announced.
func newLimitOf(addr string, depth int, names []string, publish luasrc.Arg) *limit {
	l := &limit{addr: addr, depth: depth}
	var all [][]byte
	for i, name := range names {
		owner := fmt.Sprint("00000000-0000-4000-8000-000000000000:", i)
		all = append(all,
			encode("EVALSHA", luasrc.Lock(nil, name, owner, lease.Milliseconds())),
			encode("EVALSHA", luasrc.UnlockTo(nil, name, codec.Channel(name), owner, lease.Milliseconds(), luasrc.Left{}, publish)))
	}
	// Whole cycles through the names, in chunks of half the depth.
	chunk := depth / 2
	for range chunk / gcd(chunk, len(all)) {
		for _, c := range all {
			if k := len(l.encoded); k == 0 || l.full(k-1, chunk) {
				l.encoded = append(l.encoded, nil)
			}
			l.encoded[len(l.encoded)-1] = append(l.encoded[len(l.encoded)-1], c...)
		}
	}
	return l
}

// full reports whether chunk k has all its commands: each begins with an asterisk at the start of a line.
func (l *limit) full(k, chunk int) bool {
	return bytes.Count(l.encoded[k], []byte("\n*"))+1 == chunk
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func encode(command string, c luasrc.Call) []byte {
	words := []string{command}
	for _, a := range c.Args {
		words = append(words, fmt.Sprint(a))
	}
	return encodeWords(words...)
}

func encodeWords(words ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%s\r\n%s\r\n", strconv.Itoa(len(w)), w)
	}
	return b
}

// load returns the time of a pair. It uses only the length of s.
func (l *limit) load(s spec) (_ loaded, err error) {
	defer caught(&err)
	conn := must(net.Dial("tcp", l.addr))
	defer conn.Close()
	check(conn.SetDeadline(time.Now().Add(s.length + grace)))
	buf := make([]byte, 64<<10)
	chunk := l.depth / 2
	// take reads the replies to one chunk, one line each.
	took := 0
	take := func() error {
		for took < chunk {
			n, err := conn.Read(buf)
			if err != nil {
				return err
			}
			if buf[0] == '-' || bytes.Contains(buf[:n], []byte("\n-")) {
				return fmt.Errorf("limit: an error among %.200q", buf[:n])
			}
			took += bytes.Count(buf[:n], []byte("\n"))
		}
		took -= chunk
		return nil
	}
	start := time.Now()
	must(conn.Write(l.encoded[0]))
	chunks := 1
	for time.Since(start) < s.length || chunks%len(l.encoded) != 0 {
		must(conn.Write(l.encoded[chunks%len(l.encoded)]))
		chunks++
		check(take())
	}
	check(take())
	pairs := int64(chunks) * int64(chunk) / pairCommands
	return loaded{pairs: pairs, grants: pairs, took: time.Since(start)}, nil
}
