package rlock_test

import (
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// callsOf returns how many times in all a server has run the commands, in scripts too.
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

// bystander sends PING after PING until waited is called. waited returns the 90th percentile of the response times: a busy
// machine delays the rest.
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
