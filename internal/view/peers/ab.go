package peers

import (
	"math"
	"net"
	"net/url"

	"dyno/internal/result"
)

// ab writes the report of ApacheBench.
func (v *view) ab() {
	host, port, path := v.URL, "80", "/"
	if u, err := url.Parse(v.URL); err == nil {
		host, path = u.Hostname(), u.RequestURI()
		if port = u.Port(); port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
	}
	v.print("This is ApacheBench, Version 2.3 (dyno %s)\n\n", v.r.Dyno)
	v.print("Benchmarking %s (be patient).....done\n\n\n", host)
	v.print("Server Software:        %s\n", v.Document.Server)
	v.print("Server Hostname:        %s\n", host)
	v.print("Server Port:            %s\n", port)
	for _, t := range v.r.Connections.TLS[:min(len(v.r.Connections.TLS), 1)] {
		v.print("SSL/TLS Protocol:       %s,%s\n", t.Version, t.Cipher)
		if net.ParseIP(host) == nil {
			v.print("TLS Server Name:        %s\n", host)
		}
	}
	v.print("\nDocument Path:          %s\n", path)
	v.print("Document Length:        %d bytes\n\n", v.Document.Length)
	complete := v.completed()
	v.print("Concurrency Level:      %d\n", v.Connections)
	v.print("Time taken for tests:   %.3f seconds\n", v.seconds())
	v.print("Complete requests:      %d\n", complete)
	connect, read := v.failed("dns", "connect", "tls"), v.failed("read", "protocol", "timeout")
	unfinished := v.r.Requests.Unfinished
	v.print("Failed requests:        %d\n", connect+read+unfinished)
	if connect+read+unfinished > 0 {
		v.print("   (Connect: %d, Receive: %d, Length: 0, Exceptions: %d)\n", connect, read, unfinished)
	}
	if n := v.failed("write"); n > 0 {
		v.print("Write errors:           %d\n", n)
	}
	if n := v.r.Requests.Completed - v.answers(200, 299); n > 0 {
		v.print("Non-2xx responses:      %d\n", n)
	}
	if v.KeepAlive {
		v.print("Keep-Alive requests:    %d\n", v.kept())
	}
	received := v.r.Bytes.Received
	v.print("Total transferred:      %d bytes\n", received)
	v.print("HTML transferred:       %d bytes\n", v.r.Bytes.Bodies)
	rate := v.perSecond(complete)
	v.print("Requests per second:    %.2f [#/sec] (mean)\n", rate)
	if rate > 0 {
		v.print("Time per request:       %.3f [ms] (mean)\n", float64(v.Connections)*1e3/rate)
		v.print("Time per request:       %.3f [ms] (mean, across all concurrent requests)\n", 1e3/rate)
	}
	v.print("Transfer rate:          %.2f [Kbytes/sec] received\n", v.perSecond(received)/1024)
	v.abTimes()
}

// kept is how many answers left their connection open.
func (v *view) kept() int64 {
	c := v.r.Connections
	if c.Opened >= v.completed() && c.Reconnects > 0 { // the last one too was closed
		return 0
	}
	return max(v.completed()-c.Reconnects, 0)
}

// abTimes writes the tables of times.
func (v *view) abTimes() {
	if v.latency.Count == 0 {
		return
	}
	v.print("\nConnection Times (ms)\n              min  mean[+/-sd] median   max\n")
	row := func(name string, d *result.Distribution) {
		if d == nil {
			d = &result.Distribution{}
		}
		ms := func(us float64) int64 { return int64(math.Round(us / 1e3)) }
		v.print("%-11s %5d %4d %5.1f %6d %7d\n", name, ms(d.Min), ms(d.Mean), d.Stdev/1e3, ms(d.P50),
			ms(d.Max))
	}
	connect := v.r.Phases.Connect
	if v.KeepAlive { // of most requests it is 0
		connect = nil
	}
	row("Connect:", connect)
	row("Processing:", v.r.Service)
	row("Waiting:", v.r.Phases.FirstByte)
	row("Total:", &v.latency)
	v.print("\nPercentage of the requests served within a certain time (ms)\n")
	for _, p := range abPercentiles {
		v.print("%4.0f%%  %5.0f\n", p, math.Round(v.quantile(p)/1e3))
	}
	v.print(" 100%%  %5.0f (longest request)\n", math.Round(v.latency.Max/1e3))
}

var abPercentiles = []float64{50, 66, 75, 80, 90, 95, 98, 99}
