// Shutdown is an HTTP service whose handlers work under locks, and which ends
// in good order on SIGTERM.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

func main() {
	log.SetFlags(0)
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	work := flag.Duration("work", time.Second, "how long a request works under its lock")
	grace := flag.Duration("grace", 20*time.Second, "how long requests may take to end")
	flag.Parse()
	if err := run(*addr, *work, *grace); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ended in good order")
}

func run(addr string, work, grace time.Duration) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		return err
	}
	defer client.Close()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("listens at http://%s\n", listener.Addr())
	return serve(ctx, client, listener, grace, func(held context.Context) error {
		fmt.Println("settles")
		select {
		case <-time.After(work):
			return nil
		case <-held.Done():
			return context.Cause(held)
		}
	})
}

// begin page

// serve answers requests until ctx ends. Then it lets those that hold a lock finish,
// and sends away the others. After grace it cuts off what is left.
func serve(ctx context.Context, client *rlock.Client, listener net.Listener, grace time.Duration,
	settle func(context.Context) error,
) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /settle/{account}", func(w http.ResponseWriter, r *http.Request) {
		began := false // once true, another try could settle twice
		// A caller that hangs up ends the wait.
		err := client.NewLock("account:"+r.PathValue("account")).Do(r.Context(), func(held context.Context) error {
			began = true
			return settle(held)
		}, rlock.Wait(2*time.Second))
		switch {
		case err == nil:
			fmt.Fprintln(w, "settled")
		case errors.Is(err, rlock.ErrLocked):
			http.Error(w, "somebody else settles it", http.StatusConflict)
		case !began && (errors.Is(err, rlock.ErrClosed) || errors.Is(err, rlock.ErrUnavailable)):
			w.Header().Set("Retry-After", "1")
			http.Error(w, "try again", http.StatusServiceUnavailable)
		default:
			log.Print(err)
			http.Error(w, "not settled", http.StatusInternalServerError)
		}
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}

	// Both at once: some handlers wait until the client sends them away.
	ending, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	quiet := make(chan error, 1)
	go func() { quiet <- server.Shutdown(ending) }()
	err := client.Shutdown(ending)
	return errors.Join(err, <-quiet)
}

// end page
