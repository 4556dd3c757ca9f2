package cli

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
)

// profiled is a Go server with pprof, at the address that it is told of, as a program.
func profiled() {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, toil(400_000))
	})
	mux := http.NewServeMux()
	mux.Handle("/", http.DefaultServeMux)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	l, err := net.Listen("tcp", os.Args[1])
	if err == nil {
		err = http.Serve(l, mux)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

//go:noinline
func toil(n int) (sum int) {
	for i := range n {
		sum += i * i % 7
	}
	return sum
}
