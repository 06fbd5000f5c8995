package topologytest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// Conn is a test's own connection to all servers of a Cluster, as if they were one. A command
// with a key goes to the server that has it, PING and PUBLISH to one server, others to all
// servers, whose replies are combined. Do refuses commands that no test uses.
type Conn struct {
	seeds []string
	table [slotCount]string
	by    map[string]redis.Conn
}

var _ redis.Conn = (*Conn)(nil)

// Dial connects to the servers of a URL of Several, or of a cluster.
func Dial(rawURL string) (*Conn, error) {
	_, hosts, _ := strings.Cut(rawURL, "://")
	c := &Conn{seeds: strings.Split(hosts, ","), by: map[string]redis.Conn{}}
	if err := c.learn(); err != nil {
		return nil, err
	}
	return c, nil
}

// Do sends a command and waits for its reply.
func (c *Conn) Do(command string, args ...any) (any, error) {
	switch name := strings.ToUpper(command); name {
	case "PING", "PUBLISH":
		return c.each(false, command, args, func(all []any) (any, error) { return all[0], nil })
	case "SCRIPT", "FLUSHALL":
		return c.each(true, command, args, func(all []any) (any, error) { return all[0], nil })
	case "DBSIZE":
		return c.each(true, command, args, sum)
	case "KEYS":
		return c.each(true, command, args, join)
	case "PUBSUB":
		switch strings.ToUpper(fmt.Sprint(args[0])) {
		case "CHANNELS", "SHARDCHANNELS":
			return c.each(true, command, args, join)
		case "NUMSUB", "SHARDNUMSUB":
			return c.each(true, command, args, func(all []any) (any, error) { return numsub(all) })
		}
		return nil, fmt.Errorf("topologytest: PUBSUB %v is not known here", args[0])
	case "DEL", "EXISTS":
		if len(args) > 1 {
			var all []any
			for _, key := range args {
				reply, err := c.Do(command, key)
				if err != nil {
					return nil, err
				}
				all = append(all, reply)
			}
			return sum(all)
		}
	case "INFO", "CLIENT":
		switch strings.ToLower(fmt.Sprint(args...)) {
		case "commandstats":
			return c.each(true, command, args, addCalls)
		case "list":
			return c.each(true, command, args, concatenate)
		}
		return nil, fmt.Errorf("topologytest: %s %v is not known here", name, args)
	case "CONFIG", "ACL", "SELECT", "WAIT", "REPLICAOF", "MONITOR", "SUBSCRIBE", "EVAL", "EVALSHA":
		return nil, fmt.Errorf("topologytest: %s is one server's", name)
	}
	if len(args) == 0 {
		return nil, fmt.Errorf("topologytest: %s without a key", command)
	}
	return c.keyed(codec.Slot(fmt.Sprint(args[0])), command, args)
}

// keyed follows redirections until the command is answered.
func (c *Conn) keyed(slot uint16, command string, args []any) (any, error) {
	addr, asking := c.table[slot], false
	for try := range 1000 {
		if try > 3 {
			time.Sleep(time.Millisecond)
		}
		conn, err := c.conn(addr)
		if err == nil && asking {
			_, err = conn.Do("ASKING")
		}
		var reply any
		if err == nil {
			reply, err = conn.Do(command, args...)
		}
		said, _ := redisconn.RefusalOf(err)
		moved, isMoved := said.Moved()
		ask, isAsk := said.Ask()
		switch {
		case isMoved:
			c.table[slot], addr, asking = moved.Addr, moved.Addr, false
		case isAsk:
			addr, asking = ask.Addr, true
		case said.Unsettled():
			addr, asking = c.table[slot], false
		case err != nil && !redisconn.IsRefusal(err):
			// The server has left.
			if err := c.learn(); err != nil {
				return nil, err
			}
			addr, asking = c.table[slot], false
		default:
			return reply, err
		}
	}
	return nil, fmt.Errorf("topologytest: %s %v: no server runs it", command, args)
}

// each asks one server, or all that have slots, and combines the replies.
func (c *Conn) each(all bool, command string, args []any, together func([]any) (any, error)) (any, error) {
	for {
		if err := c.learn(); err != nil {
			return nil, err
		}
		addresses := map[string]bool{}
		for _, addr := range c.table {
			addresses[addr] = true
		}
		var replies []any
		failed := false
		for _, addr := range slices.Sorted(maps.Keys(addresses)) {
			var reply any
			conn, err := c.conn(addr)
			if err == nil {
				reply, err = conn.Do(command, args...)
			}
			if err != nil && !redisconn.IsRefusal(err) {
				failed = true // it has left
				break
			}
			if err != nil {
				return nil, err
			}
			if replies = append(replies, reply); !all {
				break
			}
		}
		if !failed {
			return together(replies)
		}
	}
}

// learn asks which server has which slots.
func (c *Conn) learn() error {
	var errs []error
	for _, addr := range c.seeds {
		conn, err := c.conn(addr)
		if err == nil {
			var ranges []slotRange
			if ranges, err = askSlots(conn); err == nil {
				for _, r := range ranges {
					for slot := int(r.First); slot <= int(r.Last); slot++ {
						c.table[slot] = r.addr
					}
				}
				return nil
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c *Conn) conn(addr string) (redis.Conn, error) {
	if conn := c.by[addr]; conn != nil && conn.Err() == nil {
		return conn, nil
	}
	conn, err := redis.Dial("tcp", addr, redis.DialConnectTimeout(patience), redis.DialReadTimeout(patience), redis.DialWriteTimeout(patience))
	if err == nil {
		c.by[addr] = conn
	}
	return conn, err
}

// Close closes all connections.
func (c *Conn) Close() error {
	for _, conn := range c.by {
		_ = conn.Close()
	}
	return nil
}

// Err is nil: a server that left is no reason to stop.
func (c *Conn) Err() error { return nil }

var errOneAtATime = errors.New("topologytest: this connection has Do only")

// Send fails.
func (c *Conn) Send(string, ...any) error { return errOneAtATime }

// Flush fails.
func (c *Conn) Flush() error { return errOneAtATime }

// Receive fails.
func (c *Conn) Receive() (any, error) { return nil, errOneAtATime }

func sum(all []any) (any, error) {
	total := int64(0)
	for _, reply := range all {
		n, err := redis.Int64(reply, nil)
		if err != nil {
			return nil, err
		}
		total += n
	}
	return total, nil
}

// join joins lists, each element once.
func join(all []any) (any, error) {
	has, joined := map[string]bool{}, []any{}
	for _, reply := range all {
		list, err := redis.Strings(reply, nil)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			if !has[s] {
				has[s] = true
				joined = append(joined, []byte(s))
			}
		}
	}
	return joined, nil
}

// numsub adds up the subscribers of each channel.
func numsub(all []any) (any, error) {
	var sum []any
	for _, reply := range all {
		pairs, err := redis.Values(reply, nil)
		if err != nil || sum != nil && len(pairs) != len(sum) {
			return nil, fmt.Errorf("topologytest: NUMSUB answered %v, %v", reply, err)
		}
		if sum == nil {
			sum = pairs
			continue
		}
		for i := 1; i < len(pairs); i += 2 {
			here, err1 := redis.Int64(pairs[i], nil)
			before, err2 := redis.Int64(sum[i], nil)
			if err := errors.Join(err1, err2); err != nil {
				return nil, err
			}
			sum[i] = before + here
		}
	}
	return sum, nil
}
