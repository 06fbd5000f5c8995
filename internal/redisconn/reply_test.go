package redisconn

import (
	"context"
	"net"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

func TestRepliesWithinBoundsAreRead(t *testing.T) {
	replies := "+OK\r\n-ERR no\r\n:12\r\n$-1\r\n*-1\r\n*0\r\n$0\r\n\r\n$5\r\na\r\nbc\r\n" +
		"*3\r\n$1\r\nx\r\n*2\r\n:1\r\n*1\r\n+in\r\n$2\r\n*9\r\n" +
		"$1048576\r\n" + strings.Repeat("x", maxBulk) + "\r\n*1000\r\n" + strings.Repeat(":1\r\n", 1000)
	for b := []byte(replies); len(b) > 0; {
		_, n, err := readReply(b, 0)
		if err != nil {
			t.Fatal(err)
		}
		b = b[n:]
	}
}

func TestRepliesBeyondBoundsAreRefused(t *testing.T) {
	for name, reply := range map[string]string{
		"length that no memory holds": "$9223372036854775807\r\n",
		"length beyond an int":        "$99999999999999999999999999\r\n",
		"bulk":                        "$1048577\r\n",
		"array":                       "*1001\r\n",
		"array in an array":           "*2\r\n*1001\r\n",
		"depth":                       "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
		"line":                        "+" + strings.Repeat("x", maxLine+1),
		"endless header":              "$" + strings.Repeat("0", maxLine+1),
		"type":                        "HTTP/1.1 400 Bad Request\r\n",
		"sum of bulks":                "*5\r\n" + strings.Repeat("$1000000\r\n"+strings.Repeat("x", 1000000)+"\r\n", 5),
	} {
		t.Run(name, func(t *testing.T) {
			// A reply is refused at the first byte that no good reply has there, and not before.
			at := sort.Search(len(reply), func(n int) bool { _, _, err := readReply([]byte(reply)[:n+1], 0); return err != errShort })
			_, _, err := readReply([]byte(reply)[:min(at+1, len(reply))], 0)
			if err == nil || err == errShort || !strings.Contains(err.Error(), "hostile reply") {
				t.Errorf("%v", err)
			}
		})
	}
}

// If a server announces more than the memory holds, redigo panics. This connection must return an error.
func TestDialledConnectionSurvivesHostileLength(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		c.Read(make([]byte, 1024))
		c.Write([]byte("$9223372036854775807\r\nx"))
		c.Read(make([]byte, 1))
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	target, err := ParseURL("redis://" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := target.Dial(ctx, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := redis.DoWithTimeout(c, 5*time.Second, "PING"); err == nil || !strings.Contains(err.Error(), "hostile reply") {
		t.Fatalf("got %v", err)
	}
}
