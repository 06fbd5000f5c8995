package rlock_test

import (
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
)

// callsOf is how many times a server has run each of some commands, in scripts too.
func callsOf(t *testing.T, conn redis.Conn, commands ...string) (total int) {
	t.Helper()
	stats, err := redis.String(conn.Do("INFO", "commandstats"))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range commands {
		if found := regexp.MustCompile("cmdstat_" + command + `:calls=(\d+)`).FindStringSubmatch(stats); found != nil {
			n, _ := strconv.Atoi(found[1])
			total += n
		}
	}
	return total
}

// bystander asks a server again and again until waited is called, which tells for how long nine of ten answers took at most:
// the others are of a busy machine.
func bystander(t *testing.T, s *redistest.Server) (waited func() time.Duration) {
	t.Helper()
	conn, end := s.Dial(t), make(chan struct{})
	var asking sync.WaitGroup
	var all []time.Duration
	asking.Go(func() {
		for {
			select {
			case <-end:
				return
			default:
			}
			began := time.Now()
			if _, err := conn.Do("PING"); err != nil {
				t.Error(err)
				return
			}
			all = append(all, time.Since(began))
		}
	})
	return func() time.Duration {
		close(end)
		asking.Wait()
		slices.Sort(all)
		return all[len(all)*9/10]
	}
}
