//go:build linux

package e2e

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
	oneEvent   = "data: {\"choices\":[{\"text\":\"a\"}]}\n\n"
	lastEvent  = "data: [DONE]\n\n"
)

// What servers send in place of a stream is an error by name, or none where it is right, and costs
// no more memory than streams may have.
func TestBadStreams(t *testing.T) {
	t.Parallel()
	whole := streamHead + oneEvent + lastEvent
	const completed = ""
	for name, c := range map[string]struct {
		send   func(c net.Conn)
		flags  string
		want   string // phase and kind
		detail string // a part of it
		most   int64  // MiB of memory
	}{
		"silence behind the head": {sendAnd(streamHead, hold), "--timeout 5s", "timeout unfinished", "", 0},
		"silence behind an event": {sendAnd(streamHead+oneEvent, hold), "--stall 300ms", "stream stalled", "", 0},
		"comments for ever": {func(c net.Conn) {
			drip(c, 10*time.Millisecond, append([]string{streamHead}, slices.Repeat([]string{": ping\n\n"}, 10_000)...)...)
		}, "--timeout 5s", "timeout unfinished", "", 0},
		"comments, then silence":    {sendAnd(streamHead+oneEvent+strings.Repeat(": ping\n\n", 9), hold), "--stall 300ms", "stream stalled", "", 0},
		"comments alone":            {sendAnd(streamHead+": ping\n\n: ping\n\n", shut), "", "stream no-event", "text/event-stream", 0},
		"a byte a segment":          {func(c net.Conn) { drip(c, 0, strings.Split(whole, "")...) }, "", completed, "", 0},
		"a line of 100 MB":          {sendAnd(streamHead+"data: "+strings.Repeat("x", 100e6)+"\n\n"+lastEvent, shut), "", "stream oversized", "", 150},
		"an event of 100 MB":        {sendAnd(streamHead+strings.Repeat("data: "+strings.Repeat("x", 994)+"\n", 100e3)+"\n"+lastEvent, shut), "", "stream oversized", "", 150},
		"a million empty events":    {sendAnd(streamHead+strings.Repeat("data:\n\n", 1e6), shut), "", "stream no-event", "", 150},
		"a million events at once":  {sendAnd(streamHead+strings.Repeat(oneEvent, 1e6)+lastEvent, shut), "", completed, "", 150},
		"NUL":                       {sendAnd(streamHead+"data: \x00\n\n"+lastEvent, shut), "", "stream malformed", "", 0},
		"half a rune":               {sendAnd(streamHead+"data: {\"choices\":[{\"text\":\"\xc3\n\n"+lastEvent, shut), "", "stream malformed", "", 0},
		"no end":                    {sendAnd(streamHead+oneEvent, shut), "", "stream no-end", "", 0},
		"two ends":                  {sendAnd(whole+lastEvent, shut), "", completed, "", 0},
		"an early end":              {sendAnd(streamHead+lastEvent+oneEvent, shut), "", completed, "", 0},
		"an end alone":              {sendAnd(streamHead+lastEvent, shut), "", "stream no-event", "", 0},
		"JSON":                      {sendAnd("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", hold), "", "stream no-event", "application/json", 0},
		"gzip that nobody asked of": {sendAnd(strings.Replace(whole, "\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n", 1), shut), "", "stream compressed", "gzip", 0},
		"closed in an event":        {sendAnd(chunkedHead+"20\r\ndata: {\"cho", shut), "", "read truncated", "", 0},
		"reset in an event":         {sendAnd(chunkedHead+"20\r\ndata: {\"cho", reset), "", "read reset", "", 0},
		"JSON 10,000 deep":          {sendAnd(streamHead+"data: "+strings.Repeat("[", 10_001)+"\n\n"+lastEvent, shut), "", "stream malformed", "", 0},
		"an error event":            {sendAnd(streamHead+oneEvent+"event: error\ndata: no memory\n\n"+lastEvent, shut), "", "stream error-event", "no memory", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if c.most == 0 {
				t.Parallel()
			}
			l := listenWith(t, func(conn net.Conn) {
				if readRequest(conn) {
					c.send(conn)
				}
			})
			args := strings.Fields("-n 1 -c 1 --drain 1m --stream openai " + c.flags + " http://" + l.Addr().String() + "/")
			run := startDyno(t, args...)
			if peak := run.peakMemory() >> 10; c.most > 0 && peak > c.most {
				t.Errorf("%d MiB of memory", peak)
			}
			o := run.waitForExit()
			if o.result == nil {
				t.Fatal(o.stderr)
			}
			switch all := o.result.Errors; {
			case c.want == completed:
				if o.result.Requests.Completed != 1 || len(all) > 0 {
					t.Errorf("%+v, %+v", o.result.Requests, all)
				}
			case len(all) != 1 || all[0].Phase+" "+all[0].Kind != c.want || !strings.Contains(all[0].Detail, c.detail):
				t.Errorf("%+v, want %s with %s", all, c.want, c.detail)
			}
		})
	}
}

var chunkedHead = strings.Replace(streamHead, "Connection: close", "Transfer-Encoding: chunked", 1)

// sendAnd sends a text, and then does something with its connection.
func sendAnd(text string, then func(net.Conn)) func(net.Conn) {
	b := []byte(text) // once: it may be long
	return func(c net.Conn) {
		if _, err := c.Write(b); err == nil {
			then(c)
		}
	}
}

// drip sends pieces, each in a segment of its own, with pauses.
func drip(c net.Conn, pause time.Duration, pieces ...string) {
	c.(*net.TCPConn).SetNoDelay(true)
	for _, p := range pieces {
		if _, err := c.Write([]byte(p)); err != nil {
			return
		}
		time.Sleep(pause)
	}
}

// hold waits until the client has closed.
func hold(c net.Conn) {
	for b := make([]byte, 1024); ; {
		if _, err := c.Read(b); err != nil {
			return
		}
	}
}

func shut(c net.Conn) { c.Close() }

func reset(c net.Conn) {
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
}
