package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// masters are how many a cluster has here, but for the one that is a single server's like.
const masters = 3

// clusterServers is a cluster, with or without a replica for each master, or a master without a cluster.
type clusterServers struct{ masters, replicas []*server }

func startCluster(masters int, replicas bool) (c *clusterServers, err error) {
	c = &clusterServers{}
	defer func() {
		if err != nil {
			c.close()
			c = nil
		}
	}()
	for range masters {
		if err := c.add(&c.masters); err != nil {
			return c, err
		}
	}
	for i, s := range c.masters {
		// Equal thirds; the last has the slot that is left over.
		first, last := i*16384/masters, (i+1)*16384/masters-1
		if _, err := s.conn.Do("CLUSTER", "ADDSLOTSRANGE", first, last); err != nil {
			return c, err
		}
		if _, err := s.conn.Do("CLUSTER", "SET-CONFIG-EPOCH", i+1); err != nil {
			return c, err
		}
	}
	if replicas {
		for range masters {
			if err := c.add(&c.replicas); err != nil {
				return c, err
			}
		}
	}
	for _, s := range c.all()[1:] {
		if err := c.meet(s); err != nil {
			return c, err
		}
	}
	for i, s := range c.replicas {
		id, err := redis.String(c.masters[i].conn.Do("CLUSTER", "MYID"))
		if err != nil {
			return c, err
		}
		// It has to know its master first.
		follow := func() error { _, err := s.conn.Do("CLUSTER", "REPLICATE", id); return err }
		if err := eventually(follow); err != nil {
			return c, err
		}
	}
	return c, eventually(c.settled)
}

// startReplicated starts a master and its replica, without a cluster.
func startReplicated() (c *clusterServers, err error) {
	c = &clusterServers{}
	defer func() {
		if err != nil {
			c.close()
			c = nil
		}
	}()
	master, err := startServer("--repl-diskless-sync-delay", "0")
	if err != nil {
		return c, err
	}
	c.masters = []*server{master}
	host, port, _ := net.SplitHostPort(master.addr)
	replica, err := startServer("--replicaof", host+" "+port)
	if err != nil {
		return c, err
	}
	c.replicas = []*server{replica}
	return c, eventually(c.followed)
}

func (c *clusterServers) add(to *[]*server) error {
	bus, err := freePort()
	if err != nil {
		return err
	}
	// A free port may be too high for the usual distance.
	s, err := startServer("--cluster-enabled", "yes", "--cluster-port", fmt.Sprint(bus), "--repl-diskless-sync-delay", "0")
	if err != nil {
		return err
	}
	*to = append(*to, s)
	s.bus = bus
	return nil
}

func (c *clusterServers) meet(s *server) error {
	host, port, _ := net.SplitHostPort(s.addr)
	_, err := c.masters[0].conn.Do("CLUSTER", "MEET", host, port, s.bus)
	return err
}

// settled is nil once every server of a cluster knows all, and each master has its replica.
func (c *clusterServers) settled() error {
	for _, s := range c.all() {
		info, err := redis.String(s.conn.Do("CLUSTER", "INFO"))
		if err != nil {
			return err
		}
		if !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d\r", len(c.all()))) {
			return errors.New("the cluster is not up")
		}
	}
	return c.followed()
}

// followed is nil once each master has its replica.
func (c *clusterServers) followed() error {
	for _, s := range c.masters[:len(c.replicas)] {
		if n, err := s.info("replication", "connected_slaves"); err != nil || n != 1 {
			return fmt.Errorf("a master has %v replicas: %w", n, err)
		}
	}
	return nil
}

func (c *clusterServers) all() []*server {
	return append(c.masters[:len(c.masters):len(c.masters)], c.replicas...)
}

// addrs are those of the masters, with commas between.
func (c *clusterServers) addrs() string {
	var all []string
	for _, s := range c.masters {
		all = append(all, s.addr)
	}
	return strings.Join(all, ",")
}

func (c *clusterServers) url() string { return "redis+cluster://" + c.addrs() }

func (c *clusterServers) close() {
	for _, s := range c.all() {
		s.close()
	}
}

func eventually(ok func() error) error {
	for deadline := time.Now().Add(grace); ; time.Sleep(10 * time.Millisecond) {
		err := ok()
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
