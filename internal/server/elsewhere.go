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
	looked time.Time
	since  time.Time // since when it answers on another port as it should on its own
	at     address   // that other one; zero: it answers on none
}

// isSure looks now and then, and reports whether the process has answered on another port for so
// long that it will not come to its own. A port on which it listens is not enough, because a server
// may open one for its debugger or its metrics first.
func (s *astray) isSure(ctx context.Context, r Ready, a address) bool {
	if time.Since(s.looked) < portLookEvery {
		return false
	}
	known, answers := s.at, false
	s.looked, s.at = time.Now(), address{}
	ctx, stop := context.WithTimeout(ctx, portTryTime) // the right port is asked meanwhile by nobody
	defer stop()
	for _, port := range s.otherPorts(a) {
		other := a.onPort(port)
		client := r.newClient(other)
		err := r.exactly().tryOnce(ctx, client, other)
		client.CloseIdleConnections()
		// An answer that does not come in time does not refute an earlier one.
		if answers = err == nil; answers || ctx.Err() != nil && other == known {
			s.at = other
			break
		}
	}
	switch {
	case s.at == address{}:
		s.since = time.Time{}
	case s.since.IsZero():
		s.since = time.Now()
	}
	return answers && time.Since(s.since) >= elsewhereTime
}

// otherPorts are the ports on which the process listens; none if the right one is among them.
func (s *astray) otherPorts(a address) []int {
	wanted, all := int(a.Port), s.listens()
	if wanted == 0 || slices.Contains(all, wanted) {
		return nil
	}
	return all
}

// onPort is the same address on another port.
func (a address) onPort(port int) address {
	a.Port = uint16(port)
	if u, err := url.Parse(a.url); err == nil {
		u.Host = net.JoinHostPort(a.Host, strconv.Itoa(port))
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
