//go:build linux

// Command spinner is a server whose handler uses a known amount of CPU time.
package main

import (
	"flag"
	"log"
	"net/http"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address")
	ns := flag.Int64("spin", 0, "nanoseconds of CPU time for each request")
	costs := flag.String("costs", "", "ns more for switches that are on together: a=1000,ac=500")
	flag.Parse()
	more, err := switchedCost(*costs, flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	*ns += more
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		spinThread(*ns)
		w.Write([]byte("spun\n"))
	})
	log.Fatal(http.ListenAndServe(*listen, nil))
}

// switchedCost is what the switches cost that are on. Their names are letters.
func switchedCost(costs string, switches []string) (ns int64, err error) {
	on := ""
	for _, s := range switches {
		if name, is := strings.CutSuffix(s, "=on"); is {
			on += name
		}
	}
	for cost := range strings.SplitSeq(costs, ",") {
		names, text, _ := strings.Cut(cost, "=")
		if n := strings.Trim(names, on); n == "" && names != "" {
			more, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return 0, err
			}
			ns += more
		}
	}
	return ns, nil
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
