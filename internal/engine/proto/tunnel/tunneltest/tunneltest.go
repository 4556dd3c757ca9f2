// Package tunneltest has an HTTP proxy for tests of whoever asks through one.
package tunneltest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A Proxy forwards requests with absolute URLs, opens tunnels, and counts both.
type Proxy struct {
	URL       string // with the user, if there is one
	Forwarded atomic.Int64
	Tunnels   atomic.Int64
	Refused   atomic.Int64 // for they lack the user
}

// Start starts a proxy for a user, as USER:PASSWORD; "": for everybody.
func Start(t testing.TB, user string) *Proxy {
	p := &Proxy{}
	s := httptest.NewServer(p.handler(user))
	t.Cleanup(s.Close)
	if p.URL = s.URL; user != "" {
		p.URL = strings.Replace(s.URL, "://", "://"+user+"@", 1)
	}
	return p
}

func (p *Proxy) handler(user string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asks := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
		name, password, _ := asks.BasicAuth()
		switch {
		case user != "" && name+":"+password != user:
			p.Refused.Add(1)
			http.Error(w, "who are you?", http.StatusProxyAuthRequired)
		case r.Method == http.MethodConnect:
			p.Tunnels.Add(1)
			joinTo(w, r.RequestURI)
		case !strings.HasPrefix(r.RequestURI, "http://"):
			http.Error(w, "no absolute URL", http.StatusBadRequest)
		default:
			p.Forwarded.Add(1)
			forward(w, r)
		}
	})
}

// joinTo makes a tunnel.
func joinTo(w http.ResponseWriter, to string) {
	far, err := net.Dial("tcp", to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer far.Close()
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	fmt.Fprint(near, "HTTP/1.1 200 Connection established\r\n\r\n")
	var both sync.WaitGroup
	both.Go(func() { io.Copy(far, buffered); far.Close() })
	both.Go(func() { io.Copy(near, far); near.Close() })
	both.Wait()
}

func forward(w http.ResponseWriter, r *http.Request) {
	r.RequestURI = ""
	r.Header.Del("Proxy-Authorization")
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	io.Copy(w, answer.Body)
}
