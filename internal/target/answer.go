package target

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// An answer is the one answer of a server, ready to be sent but for the date.
type answer struct {
	keep, last []byte // the head on a connection that stays, and on one that ends
	dated      bool   // the heads end with a Date of ours
	body       []byte // shared by all answers
}

const (
	inlineMax = 4 << 10 // bodies up to here are copied, larger ones sent from where they are
	dateLen   = len(http.TimeFormat)
	filler    = "Hello World\n"
)

// newAnswer makes the answer of a checked configuration. With the default, 200
// and 12 bytes, its head has 141 bytes: the sizes of the experiments that dyno
// repeats. The digit after the server's name is there to reach them.
func newAnswer(c Config) answer {
	status := max(c.Status, 200)
	bodiless := status == http.StatusNoContent || status == http.StatusNotModified
	var a answer
	if !bodiless {
		a.body = bytes.Repeat([]byte(filler), c.Body/len(filler)+1)[:c.Body]
	}
	lines := make([]string, 0, 4+len(c.Header))
	if !bodiless {
		lines = append(lines, "Content-Length: "+strconv.Itoa(len(a.body)),
			"Content-Type: text/plain")
	}
	lines = append(lines, "Server: dyno1")
	lines = overrideHeaders(lines, c.Header)
	a.dated = !hasHeader(c.Header, "Date")
	if a.dated {
		lines = append(lines, "Date: "+strings.Repeat(" ", dateLen))
	}
	head := func(connection string) []byte {
		return []byte("HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) +
			"\r\nConnection: " + connection + "\r\n" + strings.Join(lines, "\r\n") +
			"\r\n\r\n")
	}
	a.keep, a.last = head("keep-alive"), head("close")
	a.refreshDate(time.Now())
	return a
}

// overrideHeaders is the lines with those of extra, which replace any of their name.
func overrideHeaders(lines, extra []string) []string {
	var out []string
	for _, line := range lines {
		name, _, _ := strings.Cut(line, ":")
		if !hasHeader(extra, name) {
			out = append(out, line)
		}
	}
	return append(out, extra...)
}

func hasHeader(lines []string, name string) bool {
	for _, line := range lines {
		if n, _, _ := strings.Cut(line, ":"); strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// cloneHeads is an answer with heads of its own, as whoever calls refreshDate needs.
func (a answer) cloneHeads() answer {
	a.keep, a.last = bytes.Clone(a.keep), bytes.Clone(a.last)
	return a
}

// refreshDate writes the date into the heads.
func (a *answer) refreshDate(t time.Time) {
	if !a.dated {
		return
	}
	for _, head := range [][]byte{a.keep, a.last} {
		at := len(head) - len("\r\n\r\n") - dateLen
		t.UTC().AppendFormat(head[at:at], http.TimeFormat)
	}
}

// appendTo appends the answer to out. It returns how many bytes of the body are
// to follow that were not worth copying: all of them, or none.
func (a *answer) appendTo(out []byte, last, bare bool) ([]byte, int) {
	if last {
		out = append(out, a.last...)
	} else {
		out = append(out, a.keep...)
	}
	switch {
	case bare:
		return out, 0
	case len(a.body) > inlineMax:
		return out, len(a.body)
	}
	return append(out, a.body...), 0
}

// appendCounts appends the answer to who asks for the counts.
func appendCounts(out []byte, c Counts, last, bare bool) []byte {
	body := make([]byte, 0, 160)
	for _, f := range []struct {
		name  string
		value uint64
	}{
		{`{"served":`, c.Requests},
		{`,"connections":`, c.Connections},
		{`,"refused":`, c.Refused},
		{`,"bytes_received":`, c.BytesReceived},
		{`,"bytes_sent":`, c.BytesSent},
	} {
		body = strconv.AppendUint(append(body, f.name...), f.value, 10)
	}
	body = append(body, "}\n"...)
	return appendPlain(out, http.StatusOK, "application/json", body, last, bare)
}

// appendRefusal appends the answer to what is not a request.
func appendRefusal(out []byte, status int) []byte {
	why := strings.ToLower(http.StatusText(status)) + "\n"
	return appendPlain(out, status, "text/plain", []byte(why), true, false)
}

func appendPlain(out []byte, status int, kind string, body []byte, last, bare bool) []byte {
	connection := "keep-alive"
	if last {
		connection = "close"
	}
	out = append(out, "HTTP/1.1 "+strconv.Itoa(status)+" "+http.StatusText(status)+
		"\r\nConnection: "+connection+"\r\nContent-Length: "+strconv.Itoa(len(body))+
		"\r\nContent-Type: "+kind+"\r\n\r\n"...)
	if bare {
		return out
	}
	return append(out, body...)
}
