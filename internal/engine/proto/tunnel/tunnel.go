// Package tunnel has a proxy open a tunnel to the server (CONNECT, RFC 9110, 9.3.6), and puts that
// before any other protocol: its codec asks, reads the proxy's answer, and then gives way to the
// codec that it was made with, so that a connection pays for the tunnel once and a request nothing.
//
// The answer is read by the codec of HTTP/1, so that it has the same limits as a server's.
package tunnel

import (
	"errors"
	"fmt"
	"io"
	"net"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
)

// Options are what a proxy is asked.
type Options struct {
	Proxy         string // HOST:PORT, for messages
	Target        string // HOST:PORT that the tunnel leads to
	Authorization string // value of Proxy-Authorization; "": none is sent
	UserAgent     string // "": none is sent
}

// Around is a protocol through a tunnel. Before its codec speaks it, the event Tunneled says that
// the one Behind it is to take its place.
func Around(inner proto.Protocol, o Options) proto.Protocol {
	return func(reqs []proto.Request, want proto.Want) (func(proto.Sink) proto.Codec, error) {
		then, err := inner(reqs, want)
		if err != nil {
			return nil, err
		}
		ask, err := o.asking()
		if err != nil {
			return nil, err
		}
		return func(sink proto.Sink) proto.Codec { return &codec{ask(nil), then(sink), &o, false} }, nil
	}
}

// asking makes the codecs that ask.
func (o Options) asking() (func(proto.Sink) proto.Codec, error) {
	defaults := []proto.Field{{Name: "User-Agent", Value: o.UserAgent}}
	if o.UserAgent == "" {
		defaults = nil
	}
	return h1.Protocol(h1.Options{Defaults: defaults})(nil, proto.Want{})
}

// request is what the proxy is asked.
func (o *Options) request() *proto.Request {
	r := &proto.Request{Method: "CONNECT", Authority: o.Target, Path: o.Target}
	if o.Authorization != "" {
		r.Header = []proto.Field{{Name: "Proxy-Authorization", Value: o.Authorization}}
	}
	return r
}

// A codec is a connection without a tunnel yet.
type codec struct {
	ask   proto.Codec
	inner proto.Codec
	*Options
	asked bool
}

// Is reports whether a codec is that of a tunnel which is not open yet.
func Is(c proto.Codec) bool {
	_, is := c.(*codec)
	return is
}

// Behind is the codec of what a tunnel is for; without a tunnel c itself.
func Behind(c proto.Codec) proto.Codec {
	if t, is := c.(*codec); is {
		return t.inner
	}
	return c
}

// Room is none: there is no tunnel yet.
func (c *codec) Room() int { return 0 }

// Encode is not called.
func (c *codec) Encode(out []byte, _ proto.Message, _ uint32) []byte { return out }

// Flush appends the question, once.
func (c *codec) Flush(out []byte) []byte {
	if c.asked {
		return out
	}
	c.asked = true
	return c.ask.Encode(out, proto.Message{Fill: &proto.Fill{Own: c.request()}}, 0)
}

// Decode reads the proxy's answer.
func (c *codec) Decode(in []byte, eof bool) (n int, ev proto.Event) {
	if in == nil && eof && c.inner != nil {
		c.inner.Decode(nil, true)
	}
	for {
		k, ev := c.ask.Decode(in[n:], eof)
		n += k
		switch ev.Kind {
		case proto.Interim:
			continue
		case proto.Head:
			if ev.Status/100 == 2 {
				return n, proto.Event{What: proto.What{Kind: proto.Tunneled}}
			}
			return n, brokenEvent(c.refusal(ev.Status))
		case proto.Broken:
			return n, brokenEvent(c.fault(ev.Err))
		}
		return n, proto.Event{}
	}
}

func brokenEvent(f *proto.Fault) proto.Event {
	return proto.Event{What: proto.What{Kind: proto.Broken}, Err: f}
}

// refusal is the fault of an answer that opens no tunnel.
func (o *Options) refusal(status uint16) *proto.Fault {
	why := ""
	switch {
	case status == 407 && o.Authorization == "":
		why = "; it wants a user, as in http://USER:PASSWORD@" + o.Proxy
	case status == 407:
		why = "; it does not accept the user and password"
	case status == 403 || status == 405:
		why = "; it allows no tunnel there"
	case status >= 500:
		why = "; it could not connect there"
	}
	return &proto.Fault{Kind: fmt.Sprintf("%s%03d", proto.FaultProxy, status), Detail: fmt.Sprintf(
		"the proxy %s answered %03d to CONNECT %s%s", o.Proxy, status, o.Target, why)}
}

// fault is the fault of what is no answer.
func (o *Options) fault(err error) *proto.Fault {
	kind, said := proto.FaultGarbage, err.Error()
	if f, is := errors.AsType[*proto.Fault](err); is {
		if kind = f.Kind; kind == proto.FaultClosed {
			said = "it closed the connection and did not answer"
		}
	}
	return &proto.Fault{Kind: proto.FaultProxy + kind, Err: err,
		Detail: fmt.Sprintf("the proxy %s, asked to CONNECT %s: %s", o.Proxy, o.Target, said)}
}

// Open has a proxy open a tunnel on a connection. It reads no byte behind the proxy's answer, and
// waits until the connection's deadline.
func Open(c net.Conn, o Options) error {
	ask, err := o.asking()
	if err != nil {
		return err
	}
	t := codec{ask(nil), nil, &o, false}
	if _, err := c.Write(t.Flush(nil)); err != nil {
		return fmt.Errorf("asking the proxy %s: %w", o.Proxy, err)
	}
	var in []byte
	for one := make([]byte, 1); ; {
		n, err := c.Read(one)
		if in = append(in, one[:n]...); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("the proxy %s, asked to CONNECT %s: %w", o.Proxy, o.Target, err)
		}
		k, ev := t.Decode(in, err != nil)
		in = in[k:]
		switch ev.Kind {
		case proto.Tunneled:
			return nil
		case proto.Broken:
			return ev.Err
		}
	}
}
