//go:build linux

// Command spinner is a server whose handler uses a known amount of CPU time.
package main

import (
	"flag"
	"log"
	"net/http"
	"runtime"

	"golang.org/x/sys/unix"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address")
	ns := flag.Int64("spin", 0, "nanoseconds of CPU time for each request")
	flag.Parse()
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		spinThread(*ns)
		w.Write([]byte("spun\n"))
	})
	log.Fatal(http.ListenAndServe(*listen, nil))
}

// spinThread uses ns nanoseconds of its thread's CPU time.
func spinThread(ns int64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for until := threadCPUTime() + ns; threadCPUTime() < until; {
	}
}

func threadCPUTime() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}
