package topology

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/command/refusal"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// slotCount is the number of hash slots of every cluster.
const slotCount = 16384

// slotRange is a run of slots and who serves it.
type slotRange struct {
	Range
	master   string   // host:port
	replicas []string // likewise
}

// slotMap is who serves which slots, as one server says.
type slotMap []slotRange

var errNoSlots = errors.New("it knows of no server that serves slots")

// decodeSlots reads the answer of the server at asked to CLUSTER SLOTS. Each line
// has the first and the last slot, then the master and the replicas: each a host,
// a port, and what is of no use here. A host that the server does not know, or
// does not tell, is the one that it was asked at.
func decodeSlots(reply any, err error, asked string) (slotMap, error) {
	lines, err := redis.Values(reply, err)
	if r, _ := refusal.Of(err); strings.Contains(r.Text(), "cluster support disabled") {
		err = noCluster{err}
	}
	if err != nil {
		return nil, fmt.Errorf("CLUSTER SLOTS: %w", err)
	}
	m := make(slotMap, 0, len(lines))
	for _, line := range lines {
		r, err := decodeRange(line, asked)
		if err != nil {
			return nil, fmt.Errorf("CLUSTER SLOTS: %w", err)
		}
		m = append(m, r)
	}
	if len(m) == 0 {
		return nil, fmt.Errorf("CLUSTER SLOTS: %w", errNoSlots)
	}
	return m, nil
}

// noCluster is the refusal of a server that is in no cluster. It will be the same
// the next time.
type noCluster struct{ error }

// Is tells that it is redisconn.ErrTopology.
func (noCluster) Is(target error) bool { return target == redisconn.ErrTopology }

func decodeRange(line any, asked string) (r slotRange, err error) {
	fields, err := redis.Values(line, nil)
	if err != nil || len(fields) < 3 {
		return r, fmt.Errorf("no line of slots: a Go %T of %d elements", line, len(fields))
	}
	first, errFirst := redis.Int(fields[0], nil)
	last, errLast := redis.Int(fields[1], nil)
	if errFirst != nil || errLast != nil || first < 0 || last < first || last >= slotCount {
		return r, fmt.Errorf("no slots: %v to %v", fields[0], fields[1])
	}
	r.Range = Range{uint16(first), uint16(last)}
	for i, field := range fields[2:] {
		at, err := decodePlace(field, asked)
		switch {
		case err != nil:
			return r, err
		case i == 0:
			r.master = at
		default:
			r.replicas = append(r.replicas, at)
		}
	}
	return r, nil
}

func decodePlace(field any, asked string) (string, error) {
	words, err := redis.Values(field, nil)
	if err != nil || len(words) < 2 {
		return "", fmt.Errorf("no server: a Go %T of %d elements", field, len(words))
	}
	host := "" // nil means that it is not told
	if words[0] != nil {
		if host, err = redis.String(words[0], nil); err != nil {
			return "", fmt.Errorf("no host: a Go %T", words[0])
		}
	}
	port, err := redis.Int(words[1], nil)
	if err != nil || port < 1 || port > 65535 {
		return "", fmt.Errorf("no port: %v", words[1])
	}
	return place(host, strconv.Itoa(port), asked), nil
}

// splitPlace reads the address of a redirection, whose IPv6 hosts are not in
// brackets.
func splitPlace(addr, asked string) string {
	at := strings.LastIndexByte(addr, ':')
	if at < 0 {
		return ""
	}
	if _, err := strconv.ParseUint(addr[at+1:], 10, 16); err != nil {
		return ""
	}
	return place(strings.Trim(addr[:at], "[]"), addr[at+1:], asked)
}

// place is an address. What a server calls empty or "?" it does not know: then it
// is the host that it was asked at.
func place(host, port, asked string) string {
	if host == "" || host == "?" {
		host, _, _ = net.SplitHostPort(asked)
	}
	return net.JoinHostPort(host, port)
}
