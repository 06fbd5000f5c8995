package hostile

import (
	"testing"
	"time"
)

// FuzzRepliesAfterAValidPrefix lets the server behave for the first commands of a place, over all connections. Then it
// sends the fuzzed text and falls silent, ends the connection, or goes on normally.
func FuzzRepliesAfterAValidPrefix(f *testing.F) {
	for i, m := range misdeeds {
		if i%5 == 0 && len(m.text) < 1<<10 {
			f.Add(uint8(i), uint8(i/3), uint8(i), []byte(m.text))
		}
	}
	for i := 0; i < len(places); i += 2 {
		f.Add(uint8(i), uint8(i), uint8(i), []byte([]string{
			"*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$1\r\n0\r\n:1\r\n", "*2\r\n$-1\r\n*2\r\n+OK\r\n$3\r\na", "-NOSCRIPT\r\n:0\r\n",
		}[i/3%3]))
	}
	f.Fuzz(func(t *testing.T, where, after, then uint8, said []byte) {
		at := places[int(where)%len(places)]
		skip := int64(after % 4)
		s := serve(t, func(p *peer, cmd []string) bool {
			if !at.at(cmd) || p.s.hits.Add(1) <= skip {
				return false
			}
			switch then % 3 {
			case 0:
				says(p, string(said))
			case 1:
				saysAndEnds(p, string(said))
			case 2:
				saysAndHangs(p, string(said))
			}
			return true
		})
		began := time.Now()
		errs := live(t, s.addr)
		if took := time.Since(began); took > 3*bound {
			t.Errorf("all calls together took %v", took)
		}
		if err := errs["Close"]; err != nil {
			t.Error(err)
		}
		if left := leftGoroutines(); left != "" {
			t.Errorf("after Close there is still:\n%s", left)
		}
	})
}
