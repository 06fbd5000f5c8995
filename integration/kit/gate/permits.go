package gate

import (
	"encoding/hex"
	"strconv"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
)

// The owner of an acquire of permits is the first of its ids, in hex as the library shows it.

// taken returns the owner whose acquire got permits, or "".
func taken(e faultproxy.Exchange) string {
	if e.Reply != nil {
		return ""
	}
	return firstID(e.Cmd, 1) // after the lease
}

// firstID returns the first id of a script of permits, which follows so many other arguments, or "".
func firstID(cmd []string, after int) string {
	const announces = 6 // index of the number of announcing commands, after EVALSHA, script, number of keys, two keys, channel
	if len(cmd) <= announces {
		return ""
	}
	n, err := strconv.Atoi(cmd[announces])
	first := announces + 1 + n + after
	if err != nil || first >= len(cmd) {
		return ""
	}
	return hex.EncodeToString([]byte(cmd[first]))
}

// retaken returns the owners in a batch of renewals, and which of them still had their permits.
func retaken(cmd []string, reply any) (owners []string, mine []bool) {
	n, err := strconv.Atoi(cmd[2])
	list, ok := reply.([]any)
	if err != nil || !ok || len(list) != n {
		return nil, nil
	}
	at := 3 + n + 1 // behind the keys and the lease
	for i := range n {
		if at+1 >= len(cmd) {
			return nil, nil
		}
		ids, err := strconv.Atoi(cmd[at])
		if err != nil {
			return nil, nil
		}
		owners, mine = append(owners, hex.EncodeToString([]byte(cmd[at+1]))), append(mine, list[i] == int64(1))
		at += 1 + ids
	}
	return owners, mine
}
