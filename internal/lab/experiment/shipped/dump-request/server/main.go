// Command server answers 201 {} to every request, and may dump what passes
// through it: the server of the experiment dump-request. Below /response it is a
// client too, of itself, and what may be dumped is the answer it gets. Profiles
// are served on the same port.
package main

import (
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/http/pprof"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:1280", "`ADDRESS` to serve on")
	dump := flag.Bool("dump", false, "dump every request, and below /response the answer")
	flag.Parse()
	mux := http.NewServeMux()
	mux.HandleFunc("/request", request(*dump))
	mux.HandleFunc("/response", response(*dump, "http://"+*listen+"/upstream"))
	mux.HandleFunc("/upstream", request(false))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	log.Fatal(http.ListenAndServe(*listen, mux))
}

// request reads a request's body and answers it.
func request(dump bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if dump {
			if _, err := httputil.DumpRequest(r, true); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w)
	}
}

// response asks upstream before it answers.
func response(dump bool, upstream string) http.HandlerFunc {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	return func(w http.ResponseWriter, r *http.Request) {
		got, err := client.Get(upstream)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer got.Body.Close()
		if dump {
			_, err = httputil.DumpResponse(got, true)
		}
		if _, copied := io.Copy(io.Discard, got.Body); err != nil || copied != nil {
			http.Error(w, "reading from upstream failed", http.StatusBadGateway)
			return
		}
		answer(w)
	}
}

func answer(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	if _, err := io.WriteString(w, "{}"); err != nil {
		log.Print(err)
	}
}
