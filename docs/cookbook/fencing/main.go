// Fencing adds an amount to an account, one process at a time, in a database that
// refuses a process that has lost the lock and doesn't know it.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "modernc.org/sqlite"

	"github.com/rlock-go/redisson/rlock"
)

func main() {
	log.SetFlags(0)
	file := flag.String("db", "accounts.db", "the file of the database")
	account := flag.String("account", "account:7", "whose balance")
	amount := flag.Int64("add", 1, "what is added to it")
	watchdog := flag.Duration("watchdog", 30*time.Second, "how soon a crashed process's lock is free")
	stall := flag.String("stall", "", "wait for a line of standard input before the read or before the write")
	nested := flag.Bool("nested", false, "acquire once more before the write, and show that token")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *file, *account, *amount, *watchdog, *stall, *nested); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, file, account string, amount int64, watchdog time.Duration, stall string, nested bool) error {
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithWatchdogTimeout(watchdog))
	if err != nil {
		return err
	}
	defer client.Close()
	store, err := sql.Open("sqlite", file+"?_pragma=busy_timeout(3000)")
	if err != nil {
		return err
	}
	defer store.Close()
	if _, err := store.ExecContext(ctx, schema); err != nil {
		return err
	}

	lock := client.NewFencedLock("lock:" + account)
	moment := func(before string, hold *rlock.Hold) {
		if before == stall {
			fmt.Println("stalls before the", before)
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		}
		if before != "write" || !nested {
			return
		}
		err := lock.DoHold(ctx, func(ctx context.Context, inner *rlock.Hold) error {
			var balance int64
			return store.QueryRowContext(ctx, read, account, inner.Token(), hold.Owner().String()).Scan(&balance)
		}, rlock.As(hold.Owner()))
		if err != nil {
			log.Print(err) // the outer hold's write tells
		}
	}
	return add(ctx, lock, store, account, amount, moment)
}

// begin page

// The database refuses a token that is older than one it has seen, and the same one
// of another holder. A read counts as seeing.
const (
	schema = `CREATE TABLE IF NOT EXISTS accounts (
		id TEXT PRIMARY KEY, balance INTEGER NOT NULL DEFAULT 0, token INTEGER NOT NULL, holder TEXT NOT NULL)`
	newer = `(token < $2 OR token = $2 AND holder = $3)`
	read  = `INSERT INTO accounts (id, token, holder) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET token = $2, holder = $3 WHERE ` + newer + ` RETURNING balance`
	write = `UPDATE accounts SET token = $2, holder = $3, balance = $4 WHERE id = $1 AND ` + newer + ` RETURNING balance`
)

// add adds amount to the balance. During moment the process may stand still, or
// acquire once more.
func add(ctx context.Context, lock *rlock.Lock, store *sql.DB, account string, amount int64,
	moment func(before string, hold *rlock.Hold),
) (err error) {
	hold, err := lock.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.Unlock(ctx)) }()

	moment("read", hold)
	holder := hold.Owner().String()
	var balance int64
	if err := store.QueryRowContext(ctx, read, account, hold.Token(), holder).Scan(&balance); err != nil {
		return fmt.Errorf("read with token %d refused: %w", hold.Token(), err)
	}
	if err := hold.Err(); err != nil {
		return err // the database would refuse
	}
	moment("write", hold)
	token := hold.Token() // a nested acquire has raised it
	if err := store.QueryRowContext(ctx, write, account, token, holder, balance+amount).Scan(&balance); err != nil {
		return fmt.Errorf("write with token %d refused: %w", token, err)
	}
	fmt.Printf("token %d: %d + %d = %d\n", token, balance-amount, amount, balance)
	return nil
}

// end page
