package fairness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// isOld reports whether requests say HTTP/1.0.
func (q *Question) isOld() bool { return q.Way.HTTP == "1.0" }

// closes reports whether each request is its connection's last.
func (q *Question) closes() bool { return q.Way.Reconnect == 1 }

// encodeRequest is q as it goes on the wire. It is the order of the load's codec:
// Host, User-Agent, the user's own, Content-Length, Connection.
func (q *Question) encodeRequest() []byte {
	r := &q.Request
	version := "HTTP/1.1"
	if q.isOld() {
		version = "HTTP/1.0"
	}
	b := fmt.Appendf(nil, "%s %s %s\r\n", r.Method, r.Path, version)
	field := func(name, value string) {
		b = append(append(b, name...), ':')
		if value != "" {
			b = append(append(b, ' '), value...)
		}
		b = append(b, "\r\n"...)
	}
	if !q.hasHeader("Host") {
		field("Host", r.Authority)
	}
	if !q.hasHeader("User-Agent") {
		field("User-Agent", loadplan.UserAgent)
	}
	says := q.closes() && !q.isOld() // HTTP/1.0 closes unless asked to keep
	drop := says || q.closes() && q.connectionHas("keep-alive")
	for _, f := range r.Header {
		if !drop || !strings.EqualFold(f.Name, "Connection") {
			field(f.Name, f.Value)
		}
	}
	if q.hasLength() {
		field("Content-Length", strconv.Itoa(len(r.Body)))
	}
	if says {
		field("Connection", "close")
	}
	return append(append(b, "\r\n"...), r.Body...)
}

func (q *Question) hasLength() bool {
	if q.hasHeader("Content-Length") || q.hasHeader("Transfer-Encoding") {
		return false
	}
	switch q.Request.Method {
	case "POST", "PUT", "PATCH":
		return true
	}
	return len(q.Request.Body) > 0
}

func (q *Question) hasHeader(name string) bool {
	for _, f := range q.Request.Header {
		if strings.EqualFold(f.Name, name) {
			return true
		}
	}
	return false
}

// endsConnection reports whether the request itself is its connection's last.
func (q *Question) endsConnection() bool {
	return q.closes() || q.connectionHas("close") || q.isOld() && !q.connectionHas("keep-alive")
}

// connectionHas reports whether the user's Connection has item.
func (q *Question) connectionHas(item string) bool {
	return slices.ContainsFunc(q.Request.Header, func(f proto.Field) bool {
		return strings.EqualFold(f.Name, "Connection") && listHas(f.Value, item)
	})
}

// withHeader is q with one header field of that value.
func (q Question) withHeader(name, value string) Question {
	var header []proto.Field
	for _, f := range q.Request.Header {
		if !strings.EqualFold(f.Name, name) {
			header = append(header, f)
		}
	}
	q.Request.Header = append(header, proto.Field{Name: name, Value: value})
	return q
}

// listHas reports whether value, a list with commas, has item in any case.
func listHas(value, item string) bool {
	for s := range strings.SplitSeq(value, ",") {
		if strings.EqualFold(strings.Trim(s, " \t"), item) {
			return true
		}
	}
	return false
}
