package server

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// The test binary is also the supervisor, the servers, and a dyno that can be
// killed.
func TestMain(m *testing.M) {
	// The race detector would make each of them sleep for a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	switch role() {
	case "supervise":
		if err := Supervise(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "serve":
		serve(os.Args[2:])
	case "hold":
		hold(os.Args[2])
	default:
		os.Exit(m.Run())
	}
}

func role() string {
	if len(os.Args) > 1 {
		return os.Args[1]
	}
	return ""
}

// facts are what a server sees of how it was started.
type facts struct {
	PID, UID, GID int
	Groups        []int
	Dir           string
	Args, Env     []string
	CPUs          string
	NoFile        [2]uint64
	Stderr        string // error of opening /dev/stderr
	Stdin         string
	Namespace     string
}

// serve is a server with faults.
func serve(args []string) {
	f := flag.NewFlagSet("serve", flag.ExitOnError)
	addr := f.String("addr", "", "TCP address, or path of a unix socket")
	status := f.Int("status", 200, "of GET /")
	print := f.String("print", "", "text for stderr at the start")
	exit := f.Int("exit", -1, "end at once with this status")
	ignore := f.Bool("ignore", false, "ignore SIGTERM")
	daemon := f.Bool("daemon", false, "leave a sleeper in a session of its own")
	f.Parse(args)
	if *print != "" {
		fmt.Fprintln(os.Stderr, *print)
	}
	if *daemon {
		sleeper := exec.Command("/bin/sh", "-c", "setsid sh -c 'sleep 1000; true' & :")
		if err := sleeper.Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if *exit >= 0 {
		os.Exit(*exit)
	}
	if *ignore {
		signal.Ignore(syscall.SIGTERM)
	}
	network := "tcp"
	if filepath.IsAbs(*addr) {
		network = "unix"
	}
	l, err := net.Listen(network, *addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(*status) })
	http.HandleFunc("/self", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(self())
	})
	http.HandleFunc("/burn", func(http.ResponseWriter, *http.Request) {
		for x, n := 1.0, 0; n < 5e6; n++ { // some tens of milliseconds of CPU time, however long that takes
			x = math.Sin(x + 1)
		}
	})
	http.HandleFunc("/die", func(http.ResponseWriter, *http.Request) {
		fmt.Println("cannot go on")
		os.Exit(3)
	})
	http.HandleFunc("/flood", func(w http.ResponseWriter, r *http.Request) {
		lines, _ := strconv.Atoi(r.FormValue("lines"))
		for i := range lines {
			fmt.Printf("line %099d\n", i)
		}
	})
	http.HandleFunc("/fill", func(w http.ResponseWriter, _ *http.Request) {
		os.WriteFile("filler", make([]byte, 8<<20), 0o644)
	})
	fmt.Println(http.Serve(l, nil))
}

// hold starts the servers of a Spec in JSON, says so, and waits to be killed.
func hold(spec string) {
	var s Spec
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		panic(err)
	}
	s.Supervisor = []string{os.Args[0], "supervise"}
	if _, err := Start(context.Background(), s); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("started")
	io.Copy(io.Discard, os.Stdin) // the test's pipe: ends with the test, too
}
