package behaviour_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

func TestUserAndPassword(t *testing.T) {
	user := redisserver.User{Name: "worker", Password: "p/w:@#%?& 1", Rules: []string{"~*", "&*", "+@all"}}
	r := on(t, redisserver.ACL(t, user))
	c := r.Open(redisserver.URLAs(r.Server, user))
	r.handOver(r.open(), c)
	connections := 0
	for line := range strings.Lines(r.Text("CLIENT", "LIST")) {
		if strings.Contains(line, " user=worker ") {
			connections++
		}
	}
	if connections != 2 {
		t.Errorf("%d connections are the user's, want commands and subscriptions", connections)
	}
}

func TestPasswordWithoutUser(t *testing.T) {
	r, s := own(t, "--requirepass", "s3cret:/")
	c := r.Open((&url.URL{Scheme: "redis", Host: s.Addr(), User: url.UserPassword("", "s3cret:/")}).String())
	r.handOver(c, c)
}

func TestDatabaseNumber(t *testing.T) {
	r, s := own(t)
	name := r.name()
	third, zeroth := r.Open("redis://"+s.Addr()+"/3"), r.open()
	h := r.Lock(third.NewLock(name))
	r.Unlock(r.Lock(zeroth.NewLock(name))) // another database, another lock
	if r.Number("EXISTS", name) != 0 {
		t.Error("the key is in database 0")
	}
	r.Do("SELECT", 3)
	if r.Text("HGET", name, h.Owner()) != "1" {
		t.Error("the key is not in database 3")
	}
	t.Run("wakes only its own waiters, though channels know no database", func(t *testing.T) {
		waiter := r.enter(r.Open("redis://" + s.Addr() + "/3").NewLock(name))
		r.Listeners(name, 1)
		r.Unlock(r.Lock(zeroth.NewLock(name)))
		r.outside(waiter)
		r.Unlock(h)
		r.Unlock(r.Entered(waiter).Hold)
	})
	t.Run("that is not there", func(t *testing.T) {
		_, err := rlock.Open(t.Context(), "redis://"+s.Addr()+"/99")
		wants(t, err, nil, "SELECT 99", "DB index is out of range")
		isServerError(t, err)
	})
}
