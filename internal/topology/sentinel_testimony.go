package topology

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// errUnknownMaster is why a Sentinel names no master.
var errUnknownMaster = errors.New("it knows no master of that name; SENTINEL MASTERS lists those that it knows, and the URL has the name after the hosts")

// pingedWithin is how long ago a master may have answered a Sentinel's ping, of which there
// is one each second. The Sentinel calls it down only after down-after-milliseconds.
const pingedWithin = 3 * time.Second

// testimony is what one Sentinel says of the master.
type testimony struct {
	from   string         // the Sentinel's address, as it was asked
	asked  time.Time      // before the question was sent
	id     string         // the Sentinel's id; empty: unknown
	master string         // host:port
	run    string         // the master's run id; empty: unknown
	epoch  int64          // of the configuration with this master; higher is newer
	going  bool           // it leads a failover that has not promoted a replica yet
	clean  bool           // the master has no flag but "master", and answers it
	known  []string       // replicas that it does not call down
	down   []string       // replicas that it calls down
	others []sentinelAddr // Sentinels that it knows
	lonely bool           // it refused to list them

	downAfter time.Duration // silence after which the master counts as down; 0: unknown
	err       error         // why it names no master

	refused []refusal // of commands that the account may not send

	names []string // all Sentinels' names of that master; choice.spelled adds them, and the others' replicas
}

// refusal is the answer to a command that the account may not send.
type refusal struct {
	command string
	err     error
}

// refuses keeps a command's error if it is such a refusal.
func (t *testimony) refuses(command string, err error) {
	if said, _ := redisconn.RefusalOf(err); said.NotAllowed() {
		t.refused = append(t.refused, refusal{command, err})
	}
}

// sentinelAddr is a Sentinel as another one knows it.
type sentinelAddr struct {
	addr string
	id   string
}

// same tells whether o is the same Sentinel.
func (m sentinelAddr) same(o sentinelAddr) bool {
	return m.addr == o.addr || m.id != "" && m.id == o.id
}

// ask asks one Sentinel for the master of that name. ctx bounds all of it and must have
// a deadline.
func ask(ctx context.Context, target *redisconn.Target, name string) testimony {
	t := testimony{from: target.Address, asked: time.Now()}
	// Ask ends with ctx: an abandoned question must not wait for a silent Sentinel.
	err := target.Ask(ctx, 0, func(conn redis.Conn) error { return t.receive(ctx, conn, name) })
	if err != nil {
		t.err = redisconn.OwnDeadline(fmt.Errorf("sentinel %s: %w", t.from, err))
	}
	return t
}

// receive sends all questions at once and reads the answers. An account must be allowed
// to ask for the address only; answers that the Sentinel refuses stay empty.
func (t *testimony) receive(ctx context.Context, conn redis.Conn, name string) error {
	t.refuses("CLIENT SETNAME", redisconn.Unnamed(conn))
	questions := [][]any{{"GET-MASTER-ADDR-BY-NAME", name}, {"MASTER", name}, {"SENTINELS", name}, {"MYID"}, {"REPLICAS", name}}
	for _, args := range questions {
		if err := conn.Send("SENTINEL", args...); err != nil {
			return err
		}
	}
	if err := conn.Flush(); err != nil {
		return err
	}
	next := func() (any, error) { return redisconn.Receive(ctx, conn) }
	addr, err := redis.Strings(next())
	if errors.Is(err, redis.ErrNil) {
		return errUnknownMaster
	}
	if r, _ := redisconn.RefusalOf(err); r.Unknown() {
		return redisconn.TopologyError("it is no Sentinel; the URL of a single server is redis://[user:password@]host:port, that of a cluster redis+cluster://[user:password@]host:port,host:port")
	}
	if err != nil {
		return fmt.Errorf("SENTINEL GET-MASTER-ADDR-BY-NAME: %w", err)
	}
	if len(addr) != 2 || addr[0] == "" {
		return fmt.Errorf("SENTINEL GET-MASTER-ADDR-BY-NAME was answered with %d elements, not an address", len(addr))
	}
	t.master = net.JoinHostPort(addr[0], addr[1])
	about, noMaster := redis.StringMap(next())
	sentinels, noSentinels := tables(next())
	id, noID := redis.String(next())
	replicas, noReplicas := tables(next())
	for i, err := range []error{noMaster, noSentinels, noID, noReplicas} {
		if err != nil && !redisconn.IsRefusal(err) {
			return fmt.Errorf("SENTINEL %s: %w", questions[1+i][0], err)
		}
		t.refuses(fmt.Sprintf("SENTINEL %s", questions[1+i][0]), err)
	}
	t.id, t.lonely = id, noSentinels != nil
	t.epoch, _ = strconv.ParseInt(about["config-epoch"], 10, 64)
	// After a promotion the address is the new master's, while SENTINEL MASTER still describes the former one.
	if t.master == net.JoinHostPort(about["ip"], about["port"]) {
		t.going, t.run = strings.Contains(about["flags"], "failover_in_progress"), about["runid"]
	}
	t.clean = clean(about)
	downAfter, _ := strconv.ParseInt(about["down-after-milliseconds"], 10, 64)
	t.downAfter = time.Duration(downAfter) * time.Millisecond
	for _, m := range sentinels {
		if port, err := strconv.ParseUint(m["port"], 10, 16); err == nil && port != 0 && m["ip"] != "" { // else its address is not known yet
			t.others = append(t.others, sentinelAddr{net.JoinHostPort(m["ip"], m["port"]), m["runid"]})
		}
	}
	for _, m := range replicas {
		addr := net.JoinHostPort(m["ip"], m["port"])
		if strings.Contains(m["flags"], "s_down") {
			t.down = append(t.down, addr)
		} else {
			t.known = append(t.known, addr)
		}
	}
	return nil
}

// clean tells whether a Sentinel has nothing to say against the master.
func clean(about map[string]string) bool {
	silent, _ := strconv.ParseInt(about["last-ok-ping-reply"], 10, 64)
	return about["flags"] == "master" && silent <= pingedWithin.Milliseconds()
}

// tables reads an answer with a table for each server.
func tables(reply any, err error) (all []map[string]string, _ error) {
	list, err := redis.Values(reply, err)
	for _, one := range list {
		table, err := redis.StringMap(one, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, table)
	}
	return all, err
}
