// Command redirect sends every request to another address: the Go server of the
// experiment redirects. Its one argument is where it listens.
package main

import (
	"log"
	"net/http"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("one argument is wanted, the address to listen on")
	}
	elsewhere := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://localhost:1024", http.StatusMovedPermanently)
	}
	log.Fatal(http.ListenAndServe(os.Args[1], http.HandlerFunc(elsewhere)))
}
