package redisconn

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

func TestGuardLetsRepliesWithinBoundsPass(t *testing.T) {
	replies := "+OK\r\n-ERR no\r\n:12\r\n$-1\r\n*-1\r\n*0\r\n$0\r\n\r\n$5\r\na\r\nbc\r\n" +
		"*3\r\n$1\r\nx\r\n*2\r\n:1\r\n*1\r\n+in\r\n$2\r\n*9\r\n" +
		"$1048576\r\n" + strings.Repeat("x", maxBulk) + "\r\n*1000\r\n" + strings.Repeat(":1\r\n", 1000)
	for _, piece := range []int{1, 2, 3, 7, 4096, len(replies)} {
		var s scanner
		for b := []byte(replies); len(b) > 0; {
			n, _, err := s.scan(b[:min(piece, len(b))])
			if err != nil {
				t.Fatalf("pieces of %d: %v", piece, err)
			}
			b = b[n:]
		}
		if s.depth != 0 || s.skip != 0 || s.kind != 0 || s.total != 0 {
			t.Fatalf("pieces of %d: something is left over: %+v", piece, s)
		}
	}
}

func TestGuardStopsRepliesBeyondBounds(t *testing.T) {
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
			for _, piece := range []int{1, 5, len(reply)} {
				var s scanner
				var err error
				for b := []byte(reply); len(b) > 0 && err == nil; {
					var n int
					n, _, err = s.scan(b[:min(piece, len(b))])
					b = b[n:]
				}
				if err == nil || !strings.Contains(err.Error(), "hostile reply") {
					t.Errorf("pieces of %d: %v", piece, err)
				}
			}
		})
	}
}

// A server that promises more than memory holds makes redigo panic; ours must
// end in an error.
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

func FuzzGuard(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\nx\r\n:1\r\n"), 3)
	f.Add([]byte("$9223372036854775807\r\n"), 1)
	f.Add([]byte("*-1\r\n+\r\n\n"), 2)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		piece = max(1, piece%64)
		follow := func(s *scanner, b []byte, piece int) (ends int, err error) {
			for len(b) > 0 && err == nil {
				n, whole, serr := s.scan(b[:min(piece, len(b))])
				if whole {
					ends++
				}
				b, err = b[n:], serr
			}
			return ends, err
		}
		var long, short scanner
		ends, err := follow(&long, b, len(b))
		cutEnds, cutErr := follow(&short, b, piece)
		if (err == nil) != (cutErr == nil) || ends != cutEnds {
			t.Fatalf("as far as it goes: %d, %v; in pieces of %d: %d, %v", ends, err, piece, cutEnds, cutErr)
		}
		if err == nil && long != short {
			t.Fatalf("as far as it goes: %+v; in pieces of %d: %+v", long, piece, short)
		}
	})
}
