package stage

import (
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
)

func TestOnlyAJVMMayStaySubscribed(t *testing.T) {
	const lock, other, hello = "redisson_lock__channel:{a}", "news", "__sentinel__:hello"
	for name, c := range map[string]struct {
		by           []string // names of the connections that are subscribed
		channel      string
		others, java bool // are left
	}{
		"nobody":                     {nil, lock, false, false},
		"a JVM":                      {[]string{""}, lock, false, true},
		"two JVMs":                   {[]string{"", ""}, lock, false, true},
		"Go":                         {[]string{"rlock"}, lock, true, false},
		"Go and a JVM":               {[]string{"", "rlock"}, lock, true, false},
		"somebody unknown":           {[]string{"else"}, lock, true, false},
		"a Sentinel, as far as seen": {[]string{"sentinel-1-cmd"}, lock, true, false},
		"a JVM beside a Sentinel":    {[]string{"sentinel-1-cmd", ""}, lock, false, true},
		"Go, of another channel":     {[]string{"rlock"}, other, true, false},
		"Sentinels among themselves": {[]string{"sentinel-1-pubsub", "sentinel-2-pubsub"}, hello, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			for _, name := range c.by {
				conn, err := redis.Dial("tcp", server.Addr(), redis.DialClientName(name))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { conn.Close() })
				listener := redis.PubSubConn{Conn: conn}
				if err := listener.Subscribe(c.channel); err != nil {
					t.Fatal(err)
				}
				if s, ok := listener.Receive().(redis.Subscription); !ok {
					t.Fatal(s)
				}
			}
			others, java := subscribed(server.Addr(), server.Dial(t).Do, "CHANNELS", "SHARDCHANNELS")
			if others != nil != c.others || java != nil != c.java {
				t.Errorf("others: %v\njava: %v", others, java)
			}
		})
	}
}
