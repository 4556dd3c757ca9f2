package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"dyno/internal/atomicfile"
	"dyno/internal/engine/loadplan"
	"dyno/internal/setting"
	"dyno/internal/target"
	"dyno/internal/view/format"
)

// targetFlags is the command line of dyno target.
type targetFlags struct {
	config target.Config
	log    string
	cpus   []int
	help   bool
}

func (f *targetFlags) groups() []group {
	c := &f.config
	return []group{
		{"Answers", []option{
			{"status", "", "N", "status of every answer (200)", storeParsed(&c.Status, setting.ParseInt)},
			{"body", "b", "N", "bytes of body (0)", storeParsed(&c.Body, setting.ParseInt)},
			{"header", "H", "'K: V'", "a header; {again}", func(s string) error {
				c.Header = append(c.Header, s)
				return nil
			}},
			{"close-after", "", "N", "close a connection after N requests (never)",
				storeParsed(&c.CloseAfter, setting.Positive(setting.ParseInt))},
		}},
		{"Time", []option{
			{"workers", "", "N", "requests served at once (1)",
				storeParsed(&c.Workers, setting.Positive(setting.ParseInt))},
			{"service", "", "DIST", "time to serve one: constant:D, or exponential:D with mean D (none)",
				setText(&c.Service)},
			{"stall", "", "D/EVERY", "do nothing for D in every EVERY, as 1s/10s (never)",
				setText(&c.Stall)},
		}},
		{"Streams", []option{
			{"stream", "", "FORMAT", "answer with streams of events: sse, ndjson, openai, anthropic or\n" +
				"ollama", setText(&c.Stream)},
			{"first", "", "DIST", "when the first event comes (at once)", setText(&c.First)},
			{"gap", "", "DIST", "how much later each further one comes (at once)", setText(&c.Gap)},
			{"events", "", "N", "events of a stream (1)",
				storeParsed(&c.Events, setting.Positive(setting.ParseInt))},
		}},
		{"Server", []option{
			{"listen", "", "ADDR", "HOST:PORT, where port 0 is a free one, or unix:PATH\n" +
				"(127.0.0.1:8080)", setText(&c.Addr)},
			{"log", "", "FILE", "a line of CSV for each request: arrival_ns, service_start_ns,\n" +
				"service_ns, path; of streams for each event: stream,\n" +
				"arrival_ns, event, event_ns", setText(&f.log)},
			{"cpus", "", "LIST", "CPUs to run on, as 0,2-3 (those the process may use)",
				storeParsed(&f.cpus, setting.ParseCPUs)},
			{"ring", "", "KIND", "how to do I/O on Linux: auto, epoll or uring (auto)", setText(&c.Ring)},
			{"portable", "", "", "serve as on other systems than Linux", setSwitch(&c.Portable)},
			{"help", "h", "", "this", setSwitch(&f.help)},
		}},
	}
}

var targetExamples = []string{
	"dyno target",
	"dyno target --listen 127.0.0.1:8080 --body 10000 -H 'Content-Type: text/plain'",
	"dyno target --workers 4 --service exponential:5ms --log served.csv",
	"dyno target --stall 1s/10s --close-after 100",
	"dyno target --stream openai --first exponential:200ms --gap constant:20ms --events 100",
}

// serveTarget is dyno target. It prints where it listens first, and at the end what it served.
func serveTarget(s streams, args []string) int {
	f := targetFlags{config: target.Config{Addr: "127.0.0.1:8080"}}
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("target")
	}
	faults := append(append(p.faults, p.extraWords(0)...), joinedErrors(f.config.Check())...)
	if err := runOn(f.cpus); err != nil {
		faults = append(faults, loadplan.Flaw{Setting: "--cpus", Problem: err.Error()})
	}
	if len(faults) > 0 {
		return s.refuseFlags("target", faults)
	}
	log, err := f.openLog()
	if err != nil {
		return s.refuseFlags("target", []error{loadplan.Flaw{Setting: "--log", Problem: err.Error()}})
	}
	ctx, stop := untilInterrupted()
	defer stop()
	server, err := target.Listen(f.config)
	if err != nil {
		return s.refuseFlags("target", []error{err})
	}
	fmt.Fprintf(s.out, "listening on %s\n", urlHost(f.config.Addr, server.Addr()))
	err = server.Serve(ctx)
	n := server.Served()
	fmt.Fprintf(s.out, "served %s on %s\n", format.Plural(int64(n.Requests), "request"),
		format.Plural(int64(n.Connections), "connection"))
	if err = errors.Join(err, log()); err != nil {
		return s.failWith(exitFault, err)
	}
	return exitOK
}

// openLog opens the log of the configuration, and returns the function that closes it.
func (f *targetFlags) openLog() (end func() error, err error) {
	if f.log == "" {
		return func() error { return nil }, nil
	}
	file, err := atomicfile.OpenStraight(f.log, os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	f.config.Log = file // the server buffers, and flushes at its end
	return file.Close, nil
}

// urlHost is the host of URLs that lead to an address. An address that stands for all of a family
// is written as it was given, whichever socket serves it.
func urlHost(asked string, a net.Addr) string {
	if a.Network() == "unix" {
		return "http+unix://" + a.String() + ":/"
	}
	host, _, _ := net.SplitHostPort(asked)
	if tcp, is := a.(*net.TCPAddr); is && host != "" && tcp.IP.IsUnspecified() {
		return "http://" + net.JoinHostPort(host, strconv.Itoa(tcp.Port))
	}
	return "http://" + a.String()
}
