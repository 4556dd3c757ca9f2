// Command server is a small HTTP server in Go for bench/vs. Nearly all of its CPU time goes into a
// number of hashes for each request, so -work 1105 needs about 10 % more CPU time than -work 1000.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"net/http"
	"os"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address to listen on")
	work := flag.Int("work", 1000, "hashes of 1 KiB for each request")
	flag.Parse()
	block := make([]byte, 1024)
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		sum := [sha256.Size]byte{}
		for range *work {
			sum = sha256.Sum256(block)
		}
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "%x\n", sum)
	})
	if err := http.ListenAndServe(*listen, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
