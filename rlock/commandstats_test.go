package rlock_test

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/gomodule/redigo/redis"
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
