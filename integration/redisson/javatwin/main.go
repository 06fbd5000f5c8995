package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

const betweenCredits = 20 * time.Millisecond

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) != 6 {
		return errors.New("usage: javatwin redis://host:port watchdog printing mailing invoices credits")
	}
	var n [5]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(args[i+1]); err != nil {
			return err
		}
	}
	millis := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	client, err := rlock.Open(ctx, args[0], rlock.WithWatchdogTimeout(millis(n[0])))
	if err != nil {
		return err
	}
	defer client.Close()
	ledger := NewLedger(args[0], millis(n[1]), millis(n[2]))
	defer ledger.Close()
	if err := ledger.Note("ready"); err != nil {
		return err
	}
	fmt.Fprintln(out, "ready")
	if _, err := io.ReadFull(in, make([]byte, 1)); err != nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		io.Copy(io.Discard, in)
		cancel(errors.New("standard input ended"))
	}()

	invoices := NewInvoices(client, ledger)
	credited := make(chan error, 1)
	go func() { credited <- credit(ctx, invoices, ledger, n[4]) }()
	if err := errors.Join(invoices.Night(ctx, n[3]), <-credited); err != nil {
		return err
	}
	return settle(ctx, client, func(ctx context.Context) error {
		return errors.Join(ledger.Note("settling"), ledger.Mail(ctx), ledger.Note("settled"))
	})
}

func credit(ctx context.Context, invoices *Invoices, ledger *Ledger, credits int) error {
	for range credits {
		number, err := invoices.NextNumber(ctx)
		if err == nil {
			err = ledger.note("credit", number, "")
		}
		if err != nil {
			return err
		}
		time.Sleep(betweenCredits)
	}
	return nil
}
