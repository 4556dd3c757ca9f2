package server

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of the search for a server that listens on another port.
const (
	portLookEvery = 2 * time.Second
	portTryTime   = 500 * time.Millisecond // for all other ports together
	elsewhereTime = 10 * time.Second       // that it answers there and not where it should
)

// An astray is the search for a process that listens, but not where it should.
type astray struct {
	witness
	ports  []int // on which it listens, found by the last look; nil where it listens as it should
	looked time.Time
	since  time.Time // since when it answers on another port as it should on its own
}

// isSure looks now and then, and reports whether the process has answered on another port for so
// long that it will not come to its own. A port on which it listens is not enough, because a server
// may open one for its debugger or its metrics first.
func (s *astray) isSure(ctx context.Context, r Ready, a address) bool {
	if time.Since(s.looked) < portLookEvery {
		return false
	}
	s.look(a)
	ctx, stop := context.WithTimeout(ctx, portTryTime) // the right port is asked meanwhile by nobody
	defer stop()
	answers := slices.ContainsFunc(s.ports, func(port int) bool {
		other := a.onPort(port)
		client := other.newClient()
		defer client.CloseIdleConnections()
		return r.tryOnce(ctx, client, other) == nil
	})
	switch {
	case !answers:
		s.since = time.Time{}
	case s.since.IsZero():
		s.since = time.Now()
	}
	return answers && time.Since(s.since) >= elsewhereTime
}

// look finds the ports.
func (s *astray) look(a address) {
	s.looked, s.ports = time.Now(), nil
	wanted := a.portNumber()
	if all := s.listens(); wanted > 0 && !slices.Contains(all, wanted) {
		s.ports = all
	}
}

// onPort is the same address on another port.
func (a address) onPort(port int) address {
	host, _, _ := net.SplitHostPort(a.address)
	a.address = net.JoinHostPort(host, strconv.Itoa(port))
	if u, err := url.Parse(a.url); err == nil {
		u.Host = a.address
		a.url = u.String()
	}
	return a
}

// portsText is where a process listens in place of a URL; "" if it listens nowhere.
func portsText(ports []int) string {
	if len(ports) == 0 {
		return ""
	}
	var all []string
	for _, p := range ports {
		all = append(all, strconv.Itoa(p))
	}
	return fmt.Sprintf("; it listens on port %s instead", strings.Join(all, ", "))
}
