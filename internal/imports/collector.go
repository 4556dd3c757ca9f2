package imports

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"dyno/internal/engine/proto"
)

// Options say what of a source is wanted, and in which form.
type Options struct {
	Host  Host    // whose requests are wanted; zero: all, if they are of one host
	Merge bool    // equal requests become one, with a weight
	Speed float64 // above 0: requests keep their times, that many times as fast
	Jar   bool    // who sends them keeps the cookies of responses, so that these are left out
}

// A Dropped is a host whose requests were left out.
type Dropped struct {
	Host  string
	Count int
	First string // its first URL
}

// A Collector takes a source's requests and writes them as a requests file.
type Collector struct {
	Options
	Dropped []Dropped // in the order of their first requests; further ones than 100 are one

	vault   vault
	entries []entry
	byLine  map[string]int // with Merge, an index of entries
	origin  Host           // of the first request
	jar     []string       // names of the cookies that responses set
	bytes   int
}

// An entry is a line of the requests file.
type entry struct {
	line   line
	weight int
	at     time.Duration
	whole  bool // at is a whole second, as logs have it
	status int  // of the recorded response, the first of several; 0: not known

	failing []int // statuses from 400 on that were recorded, each once
}

// A line is a request as the file has it.
type line struct {
	At      *float64 `json:"at_s,omitempty"`
	Method  string   `json:"method"`
	URL     string   `json:"url"`
	Headers []string `json:"headers,omitempty"`
	Body    *string  `json:"body,omitempty"`
	Base64  []byte   `json:"body_base64,omitempty"`
	Weight  int      `json:"weight,omitempty"`
	Expect  string   `json:"expect_status,omitempty"`
}

// mostHosts is how many hosts are listed each for itself.
const mostHosts = 100

// Secrets are the values that variables stand for.
func (c *Collector) Secrets() []Secret { return c.vault.secrets }

// Requests is how many lines Write writes.
func (c *Collector) Requests() int { return len(c.entries) }

// Origin is the host of the first request that a source gave a host to.
func (c *Collector) Origin() Host { return c.origin }

// Add takes a request. Requests of other hosts are left out. Its errors are of the request, or say
// that there are too many.
func (c *Collector) Add(r Request) error {
	path, wanted, err := c.admit(&r)
	if err != nil || !wanted {
		return err
	}
	if c.Jar {
		r.Header = c.withoutJar(r.Header)
	}
	l, err := c.lineOf(r, path)
	if err != nil {
		return Unsendable{err}
	}
	for _, name := range r.SetCookies {
		if len(c.jar) < mostCookies && !slices.Contains(c.jar, name) {
			c.jar = append(c.jar, name)
		}
	}
	e := entry{line: l, weight: 1, at: r.At, whole: r.At%time.Second == 0, status: r.Status}
	e.expect(r.Status)
	if c.Speed > 0 && !r.Timed {
		return errors.New("has no time, which --replay needs")
	}
	if c.Merge && c.Speed == 0 {
		text, err := json.Marshal(l)
		if err != nil {
			return err
		}
		if i, known := c.byLine[string(text)]; known {
			c.entries[i].weight++
			c.entries[i].expect(r.Status)
			return nil
		}
		if c.byLine == nil {
			c.byLine = map[string]int{}
		}
		c.byLine[string(text)] = len(c.entries)
	}
	if len(c.entries) == MaxRequests {
		return fmt.Errorf("is one more than the %d different requests that a run can have", MaxRequests)
	}
	if c.bytes += len(r.URL) + len(r.Body); c.bytes > MaxBytes {
		return fmt.Errorf("all requests have more than %d MiB", MaxBytes>>20)
	}
	c.entries = append(c.entries, e)
	return nil
}

// admit returns the path of r, and whether its host is wanted.
func (c *Collector) admit(r *Request) (path string, wanted bool, err error) {
	path, host := r.URL, Host{}
	if r.Host != "" {
		if host, err = ParseHost(r.Host); err != nil {
			return "", false, err
		}
	}
	if strings.Contains(r.URL, "://") && !strings.HasPrefix(r.URL, "/") {
		var login string
		if host, login, path, err = splitURL(r.URL); err != nil {
			return "", false, Unsendable{err}
		}
		r.setLogin(login)
	}
	if path != "*" && !strings.HasPrefix(path, "/") {
		return "", false, Unsendable{fmt.Errorf("%.80q is neither a path nor a URL", r.URL)}
	}
	if host == (Host{}) {
		return path, true, nil
	}
	if c.origin == (Host{}) {
		c.origin = host
	}
	want := cmp.Or(c.Host, c.origin)
	if want.includes(host) {
		return path, true, nil
	}
	if c.Host == (Host{}) {
		return "", false, fmt.Errorf("is for %s, and others are for %s; say which of them is wanted, "+
			"with --base or --host", host, c.origin)
	}
	c.drop(host.String(), host.String()+path)
	return "", false, nil
}

// mostCookies is how many names of cookies are kept.
const mostCookies = 1000

// withoutJar is a header without those cookies that responses to requests before it have set.
func (c *Collector) withoutJar(all []proto.Field) (header []proto.Field) {
	for _, f := range all {
		if strings.EqualFold(f.Name, "Cookie") {
			var fixed []string
			for pair := range strings.SplitSeq(f.Value, ";") {
				pair = strings.TrimSpace(pair)
				name, _, _ := strings.Cut(pair, "=")
				if pair != "" && !slices.Contains(c.jar, name) {
					fixed = append(fixed, pair)
				}
			}
			if f.Value = strings.Join(fixed, "; "); f.Value == "" {
				continue
			}
		}
		header = append(header, f)
	}
	return header
}

// expect has a recorded status be none of the errors of the request.
func (e *entry) expect(status int) {
	if status >= 400 && !slices.Contains(e.failing, status) {
		e.failing = append(e.failing, status)
	}
}

// Expected are statuses as --expect has them: those that are right anyway, and these.
func Expected(failing []int) string {
	slices.Sort(failing)
	text := "2xx,3xx"
	for _, status := range failing {
		text += "," + strconv.Itoa(status)
	}
	return text
}

// setLogin has the credentials of a URL sent as programs do, unless a header says others.
func (r *Request) setLogin(login string) {
	given := func(f proto.Field) bool { return strings.EqualFold(f.Name, "Authorization") }
	if login != "" && !slices.ContainsFunc(r.Header, given) {
		value := "Basic " + base64.StdEncoding.EncodeToString([]byte(login))
		r.Header = append(slices.Clip(r.Header), proto.Field{Name: "Authorization", Value: value})
	}
}

// Drop counts an entry that can be no request to any wanted host.
func (c *Collector) Drop(what, url string) { c.drop(what, url) }

func (c *Collector) drop(host, url string) {
	i := slices.IndexFunc(c.Dropped, func(d Dropped) bool { return d.Host == host })
	if i < 0 && len(c.Dropped) >= mostHosts {
		host = "other hosts"
		i = slices.IndexFunc(c.Dropped, func(d Dropped) bool { return d.Host == host })
	}
	if i < 0 {
		c.Dropped = append(c.Dropped, Dropped{Host: host, First: url})
		i = len(c.Dropped) - 1
	}
	c.Dropped[i].Count++
}

// lineOf is r as a line, without its secrets.
func (c *Collector) lineOf(r Request, path string) (line, error) {
	l := line{Method: r.Method}
	if problem := checkPath(path); problem != "" {
		return l, fmt.Errorf("%.80q %s", path, problem)
	}
	l.URL = c.vault.path(path)
	kind := ""
	for _, f := range r.Header {
		if problem := checkHeader(f); problem != "" {
			return l, fmt.Errorf("header %.40q %s", f.Name, problem)
		}
		if strings.EqualFold(f.Name, "Content-Type") {
			kind = f.Value
		}
		kept := c.vault.header(f)
		l.Headers = append(l.Headers, kept.Name+": "+kept.Value)
	}
	if r.Body == nil {
		return l, nil
	}
	if body, ok := c.vault.body(kind, r.Body, r.Parts); ok {
		l.Body = &body
	} else {
		l.Base64 = r.Body
	}
	return l, nil
}

// checkPath says why a path cannot be sent.
func checkPath(path string) string {
	switch {
	case strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "contains a space or a control character"
	case !utf8.ValidString(path):
		return "is not UTF-8"
	}
	return ""
}

// IsHeaderName reports whether a text can be the name of a header.
func IsHeaderName(name string) bool {
	token := func(r rune) bool {
		return r < 0x80 && (r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	}
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !token(r) })
}

// checkHeader says why a header cannot be sent.
func checkHeader(f proto.Field) string {
	switch {
	case !IsHeaderName(f.Name):
		return "is no name of a header"
	case strings.ContainsAny(f.Value, "\r\n\x00"):
		return "contains the end of a line or NUL"
	case !utf8.ValidString(f.Value):
		return "is not UTF-8"
	}
	return ""
}

// Write writes the requests file: in the order of the source; merged, the most frequent first; with
// times, by time.
func (c *Collector) Write(w io.Writer) error {
	switch {
	case c.Speed > 0:
		c.setTimes()
	case c.Merge:
		slices.SortStableFunc(c.entries, func(a, b entry) int { return cmp.Compare(b.weight, a.weight) })
	}
	most := 1
	for _, e := range c.entries {
		most = max(most, e.weight)
	}
	buffered := bufio.NewWriter(w)
	to := json.NewEncoder(buffered)
	to.SetEscapeHTML(false)
	for _, e := range c.entries {
		if e.weight > 1 {
			e.line.Weight = scaledWeight(e.weight, most)
		}
		if len(e.failing) > 0 {
			e.line.Expect = Expected(e.failing)
		}
		if err := to.Encode(e.line); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// maxWeight is the most that a requests file may have.
const maxWeight = 1_000_000

// scaledWeight is a weight, smaller if the largest of all is too large.
func scaledWeight(weight, most int) int {
	if most <= maxWeight {
		return weight
	}
	return max(int(math.Round(float64(weight)*maxWeight/float64(most))), 1)
}

// setTimes orders the entries by time, and sets when each is sent. Times that are whole seconds
// are spread: the k-th of n in a second is sent k/n of a second after its begin, because a log
// with such times does not say that all were sent at once.
func (c *Collector) setTimes() {
	slices.SortStableFunc(c.entries, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	coarse := !slices.ContainsFunc(c.entries, func(e entry) bool { return !e.whole })
	for i := 0; coarse && i < len(c.entries); {
		n := i + 1
		for n < len(c.entries) && c.entries[n].at == c.entries[i].at {
			n++
		}
		for k := i; k < n; k++ {
			c.entries[k].at += time.Second * time.Duration(k-i) / time.Duration(n-i)
		}
		i = n
	}
	for i := range c.entries {
		e := &c.entries[i]
		after := float64(e.at-c.entries[0].at) / c.Speed
		s := math.Round(after/1e3) / 1e6 // to the microsecond
		e.line.At = &s
	}
}
