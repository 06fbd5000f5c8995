// Fencing adds an amount to an account, one process at a time, in a store that
// refuses a process that has lost the lock and doesn't know it.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/docs/cookbook/internal/keyserver"
	"github.com/rlock-go/redisson/rlock"
)

func main() {
	log.SetFlags(0)
	account := flag.String("account", "account:7", "whose balance")
	amount := flag.Int64("add", 1, "what is added to it")
	watchdog := flag.Duration("watchdog", 30*time.Second, "how soon a crashed process's lock is free")
	stall := flag.String("stall", "", "wait for a line of standard input before the read or before the write")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	moment := func(before string) {
		if before == *stall {
			fmt.Println("stalls before the", before)
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		}
	}
	if err := run(ctx, *account, *amount, *watchdog, moment); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, account string, amount int64, watchdog time.Duration, moment func(string)) error {
	url := os.Getenv("REDIS_URL")
	client, err := rlock.Open(ctx, url, rlock.WithWatchdogTimeout(watchdog))
	if err != nil {
		return err
	}
	defer client.Close()
	store, err := keyserver.Dial(ctx, url, account, redis.DialReadTimeout(3*time.Second), redis.DialWriteTimeout(3*time.Second))
	if err != nil {
		return err
	}
	defer store.Close()
	return add(ctx, client.NewFencedLock("lock:"+account), store, account, amount, moment)
}

// begin page

// read and write run in the store. Both refuse a token that is older than one
// the store has seen, and a read counts as seeing. In SQL:
//
//	UPDATE accounts SET token = $1 WHERE id = $2 AND token <= $1 RETURNING balance
//	UPDATE accounts SET balance = $3 WHERE id = $2 AND token = $1
var (
	read = redis.NewScript(1, `
		if tonumber(redis.call('HGET', KEYS[1], 'token') or '0') > tonumber(ARGV[1]) then return false end
		redis.call('HSET', KEYS[1], 'token', ARGV[1])
		return tonumber(redis.call('HGET', KEYS[1], 'balance') or '0')`)
	write = redis.NewScript(1, `
		if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return false end
		redis.call('HSET', KEYS[1], 'balance', ARGV[2])
		return 1`)
)

// add adds amount to the account's balance in the store. moment lets the process
// stand still in between.
func add(ctx context.Context, lock *rlock.Lock, store redis.Conn, account string, amount int64, moment func(before string)) (err error) {
	hold, err := lock.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.Unlock(ctx)) }()

	moment("read")
	token := hold.Token()
	balance, err := redis.Int64(read.DoContext(ctx, store, account, token))
	if err != nil {
		return fmt.Errorf("read with token %d refused: %w", token, err)
	}
	if err := hold.Err(); err != nil {
		return err // the store would refuse
	}
	moment("write")
	if _, err := redis.Int64(write.DoContext(ctx, store, account, token, balance+amount)); err != nil {
		return fmt.Errorf("write with token %d refused: %w", token, err)
	}
	fmt.Printf("token %d: %d + %d = %d\n", token, balance, amount, balance+amount)
	return nil
}

// end page
