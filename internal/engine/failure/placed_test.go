package failure

import (
	"io"
	"syscall"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
)

// Who ends a connection, refuses it or leaves it without an answer is named: the proxy, if it reads the requests, and
// nobody in a tunnel, through which the server may have done that.
func TestPlacedNamesTheProxy(t *testing.T) {
	target := loadplan.Target{URL: "http://127.0.0.1:80/", Host: "127.0.0.1", Port: 80}
	direct := &loadplan.Plan{Target: target}
	proxied := &loadplan.Plan{Target: target, Proxy: "http://p:3128"}
	tunnel := &loadplan.Plan{Target: loadplan.Target{URL: "https://127.0.0.1/", Host: "127.0.0.1", Port: 443, TLS: true}, Proxy: "http://p:3128"}
	const at, reset = "the proxy p:3128: ", "connection reset by peer"
	own := &proto.Fault{Kind: proto.FaultProxy, Detail: "the proxy refused"}
	for name, c := range map[string]struct {
		plan   *loadplan.Plan
		phase  loadresult.Phase
		status uint16
		err    error
		says   string
		kind   string
	}{
		"direct":         {direct, loadresult.Read, 0, syscall.ECONNRESET, reset, "reset"},
		"connect":        {proxied, loadresult.Connect, 0, syscall.ECONNREFUSED, at + "connection refused", "refused"},
		"read":           {proxied, loadresult.Read, 0, syscall.ECONNRESET, at + reset, "reset"},
		"end":            {proxied, loadresult.Read, 0, io.EOF, at + "connection closed", "closed"},
		"announced":      {proxied, loadresult.Read, 0, ErrAnnounced, at + "connection closed after an earlier request", "closed"},
		"timeout":        {proxied, loadresult.Timeout, 0, ErrTimeout, at + "no answer in time", "timeout"},
		"behind a head":  {proxied, loadresult.Write, 413, syscall.EPIPE, at + "broken pipe, behind the head of an answer with status 413", "reset"},
		"interim head":   {proxied, loadresult.Read, 100, syscall.EPIPE, at + "broken pipe, behind the head of an answer with status 100", "reset"},
		"rule":           {proxied, loadresult.Protocol, 0, ErrRefused, ErrRefused.Error(), "refused"},
		"proxy's own":    {proxied, loadresult.Connect, 0, own, "the proxy refused", proto.FaultProxy},
		"tunnel":         {tunnel, loadresult.Read, 0, syscall.ECONNRESET, reset, "reset"},
		"tunnel refused": {tunnel, loadresult.Connect, 0, syscall.ECONNREFUSED, at + "connection refused", "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Placed(c.plan, c.phase, c.status, c.err)
			if Describe(err) != c.says || NameOf(err) != c.kind {
				t.Errorf("%q (%s); want %q (%s)", Describe(err), NameOf(err), c.says, c.kind)
			}
		})
	}
}
