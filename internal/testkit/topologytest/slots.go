package topologytest

import (
	"fmt"
	"net"
	"strconv"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/topology"
)

// slotRange is a line of CLUSTER SLOTS.
type slotRange struct {
	topology.Range
	addr string
}

// askSlots asks a server which server has which slots.
func askSlots(c redis.Conn) (ranges []slotRange, err error) {
	lines, err := redis.Values(c.Do("CLUSTER", "SLOTS"))
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		fields, err := redis.Values(line, nil)
		if err != nil || len(fields) < 3 {
			return nil, fmt.Errorf("CLUSTER SLOTS: %v, %v", line, err)
		}
		var first, last uint16
		var master []any
		if _, err := redis.Scan(fields, &first, &last, &master); err != nil {
			return nil, err
		}
		host, _ := redis.String(master[0], nil)
		port, err := redis.Int(master[1], nil)
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, slotRange{topology.Range{First: first, Last: last}, net.JoinHostPort(host, strconv.Itoa(port))})
	}
	return ranges, nil
}
