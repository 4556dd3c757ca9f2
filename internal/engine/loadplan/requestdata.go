package loadplan

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"dyno/internal/engine/proto"
	"dyno/internal/redact"
)

// JSON holds only the first requests of a plan, limited in number and in bytes; none, if the first
// is too long. Otherwise each result would contain the whole file of requests that it was measured
// with.
const (
	headRequests = 20
	headBytes    = 64 << 10
)

// Data says what all requests of a plan are, where JSON holds only the first of them. Data of
// one SHA256 are the same, whichever server they were sent to, but for the headers that the lines
// leave out. Data of one Marks have these in common, too.
type Data struct {
	Requests int    `json:"requests"`
	Bytes    int64  `json:"bytes"`  // of the lines that WriteRequests writes
	SHA256   string `json:"sha256"` // of these lines

	// Marks is the SHA256 of the headers of which only marks are kept, with their lines, but for
	// credentials: who may ask is not what is asked. "" if there are none.
	Marks string `json:"marks_sha256,omitempty"`

	File string `json:"-"` // a file that holds them, where that is known
}

// Asks is how many requests the plan has, including those that were not read with it.
func (p *Plan) Asks() int {
	if p.Data != nil {
		return p.Data.Requests
	}
	return len(p.Requests)
}

// Whole reports whether the plan holds all its requests, and not only the first of them.
func (p *Plan) Whole() bool { return len(p.Requests) == p.Asks() }

// SetData sets Data if JSON does not hold all requests of the plan.
func (p *Plan) SetData() error {
	if !p.Whole() || p.jsonRequests() == len(p.Requests) {
		return nil
	}
	sum, n := sha256.New(), new(counter)
	marks, marked := sha256.New(), false
	err := p.writeRequests(io.MultiWriter(sum, n), func(line int, left proto.Field) {
		if !redact.Secret(left.Name) {
			fmt.Fprintf(marks, "%d %q %q\n", line, left.Name, left.Value) // a hash takes everything
			marked = true
		}
	})
	if err != nil {
		return err
	}
	p.Data = &Data{Requests: len(p.Requests), Bytes: int64(*n),
		SHA256: hex.EncodeToString(sum.Sum(nil))}
	if marked {
		p.Data.Marks = hex.EncodeToString(marks.Sum(nil))
	}
	return nil
}

type counter int64

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

// jsonRequests is how many of the requests JSON holds: none if the first is too long.
func (p *Plan) jsonRequests() int {
	size := 0
	for i := range p.Requests[:min(len(p.Requests), headRequests)] {
		b, err := p.Requests[i].MarshalJSON()
		if size += len(b); err == nil && size > headBytes {
			return i
		}
	}
	return min(len(p.Requests), headRequests)
}

// MarshalJSON writes the plan with the first of its requests, and Data if there are more.
func (p Plan) MarshalJSON() ([]byte, error) {
	if p.Data == nil {
		if err := p.SetData(); err != nil {
			return nil, err
		}
	}
	if p.Forget(); p.Requests == nil { // of a scenario whose requests are all its own
		p.Requests = []Request{}
	}
	type plain Plan
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(plain(p))
	return b.Bytes(), err
}

// Forget removes the requests that JSON does not hold.
func (p *Plan) Forget() {
	if p.Data != nil && p.Whole() {
		p.Requests = slices.Clone(p.Requests[:p.jsonRequests()])
	}
}

// lineJSON is a request as a line of a requests file.
type lineJSON struct {
	At      *Seconds `json:"at_s,omitempty"` // of a replay
	Name    string   `json:"name,omitempty"`
	Method  string   `json:"method"`
	URL     string   `json:"url"`
	Headers []string `json:"headers,omitempty"`
	Body    *string  `json:"body,omitempty"`
	Base64  []byte   `json:"body_base64,omitempty"` // of a body that is not UTF-8
	digest           // of a body that is not known any more: such a line cannot be read again
	Weight  int      `json:"weight,omitempty"`
	Timeout string   `json:"timeout,omitempty"`
	Status  []string `json:"expect_status,omitempty"`
	Expectations
}

// WriteRequests writes all requests of the plan, a line each, in the format of --requests-file. It
// leaves out headers of which only a mark is kept: whoever sends the requests again has to give
// their values.
func (p *Plan) WriteRequests(w io.Writer) error {
	return p.writeRequests(w, func(int, proto.Field) {})
}

// writeRequests is WriteRequests that tells of each header that it leaves out, and of which line.
func (p *Plan) writeRequests(w io.Writer, leave func(line int, left proto.Field)) error {
	if !p.Whole() {
		return fmt.Errorf("writing requests: of %d the first %d are known", p.Asks(), len(p.Requests))
	}
	origin, authority := p.Target.originAndAuthority()
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range p.Requests {
		asked := &p.Requests[i]
		r := asked.Written()
		line := lineJSON{Method: r.Method, URL: r.Path, digest: asked.digest}
		if r.Authority != authority && r.Path != "*" {
			scheme, _, _ := strings.Cut(origin, "://")
			line.URL = scheme + "://" + r.Authority + r.Path
		}
		if asked.Name != r.Method+" "+r.Path {
			line.Name = asked.Name
		}
		if p.Replay > 0 {
			line.At = &asked.At
		}
		if own := asked.Expect; own != nil {
			line.Expectations = own.Expectations
			for _, s := range own.Status {
				line.Status = append(line.Status, s.String())
			}
		}
		if asked.Timeout > 0 {
			line.Timeout = asked.Timeout.String()
		}
		if asked.Weight != 1 {
			line.Weight = asked.Weight
		}
		for _, f := range r.Header {
			if redact.FirstMark(f.Value) == "" {
				line.Headers = append(line.Headers, f.Name+": "+f.Value)
			} else {
				leave(i, f)
			}
		}
		if r.Body != nil && (asked.Raw || !utf8.Valid(r.Body)) {
			line.Base64 = r.Body
		} else if r.Body != nil {
			body := string(r.Body)
			line.Body = &body
		}
		if err := e.Encode(line); err != nil {
			return fmt.Errorf("writing requests: %w", err)
		}
	}
	return nil
}

// originAndAuthority returns the beginning of the target's URL, and its Host header.
func (t Target) originAndAuthority() (origin, authority string) {
	scheme, rest, _ := strings.Cut(t.URL, "://")
	if t.Unix != "" {
		return scheme + "://" + t.Unix + ":", "localhost"
	}
	authority = rest[:cmp.Or(strings.IndexAny(rest+"/", "/?#"), len(rest))]
	if usual := map[string]string{"http": ":80", "h2c": ":80", "https": ":443"}[scheme]; usual != "" {
		authority = strings.TrimSuffix(authority, usual)
	}
	return scheme + "://" + authority, authority
}
