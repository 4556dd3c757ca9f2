package fairness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"dyno/internal/engine/stream"
)

// A answerTally compares the responses of one server with the first of them.
type answerTally struct {
	answer *Answer
	wanted []byte            // in each body
	fields map[string]string // of the first, by lower-case name
	last   []byte            // the head seen last, which is mostly the next one too
	varies map[string]bool
	status map[int]int       // how many responses had it
	bodies map[[32]byte]bool // neutral ones
	reader *stream.Reader    // of streams of events; nil: answers are none
	told   int               // streams whose tokens the server told
	taken  taking            // how much of them is read
}

// maxBodies bounds how many different bodies are remembered.
const maxBodies = 64

func newTally(q *Question) *answerTally {
	return &answerTally{
		wanted: []byte(q.Contains),
		answer: &Answer{URL: q.Way.Target.URL, Authority: q.Request.Authority},
		varies: map[string]bool{}, status: map[int]int{}, bodies: map[[32]byte]bool{},
	}
}

// addResponse counts a response to the load's request.
func (t *answerTally) addResponse(r *response) {
	a := t.answer
	sizes := [3]int64{r.headerSize(), int64(len(r.body)), r.wire}
	for i, s := range [3]*Span{&a.HeaderBytes, &a.BodyBytes, &a.WireBytes} {
		s.add(sizes[i], a.Exchanges)
	}
	if t.reader != nil {
		t.addStream(r)
	}
	if !bytes.Contains(r.body, t.wanted) {
		a.Lacks++
	}
	t.status[r.status]++
	digest := t.bodyDigest(r.body)
	if a.Exchanges++; a.Exchanges == 1 {
		t.beginFirst(r, digest)
	} else {
		t.noteDifferences(r, t.reader == nil && !t.bodies[digest])
	}
	if len(t.bodies) < maxBodies {
		t.bodies[digest] = true
	}
	t.last = append(t.last[:0], r.head...)
}

func (t *answerTally) beginFirst(r *response, digest [32]byte) {
	a := t.answer
	a.Version, a.Status, a.Reason, a.Interim = r.version, r.status, r.reason, r.interim
	a.Header, a.Trailer, a.Framing, a.BodyCut = r.fields, r.trailer, r.framing, r.cut
	a.Encoding = r.detectEncoding()
	t.fields = joinByName(r.fields)
	sha := sha256.Sum256(r.body)
	a.BodySHA256 = hex.EncodeToString(sha[:])
	if digest != sha {
		a.BodyNeutral = hex.EncodeToString(digest[:])
	}
	a.BodyStart = beginning(r.body)
}

// How much of a body is shown, and how much is known until Shorten: what is secret in it can only
// be taken out of the whole.
const (
	shownBody = 60
	knownBody = 4 << 10
)

// beginning is that of a body; "" if it does not begin as a text.
func beginning(body []byte) string {
	start := body[:min(len(body), knownBody)]
	n := 0
	for n < len(start) {
		r, size := utf8.DecodeRune(start[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	if n < min(len(body), shownBody) {
		return ""
	}
	return string(start[:n])
}

// Shorten leaves of BodyStart, which has up to 4 KiB until then, what is shown. Whoever keeps an
// Answer calls it, once what is secret has been taken out.
func (a *Answer) Shorten() {
	a.BodyStart = strings.ToValidUTF8(a.BodyStart[:min(len(a.BodyStart), shownBody)], "")
}

// noteDifferences notes what of r is not as in the first response.
func (t *answerTally) noteDifferences(r *response, body bool) {
	a := t.answer
	note := func(differs bool, what string) {
		if differs {
			t.varies[what] = true
		}
	}
	note(body, "body")
	note(r.framing != a.Framing, "framing")
	note(!slices.Equal(r.interim, a.Interim), "interim")
	note(!slices.Equal(r.trailer, a.Trailer), "trailer")
	if r.head != nil && bytes.Equal(r.head, t.last) {
		return
	}
	note(r.version != a.Version, "version")
	note(r.status != a.Status, "status")
	note(r.reason != a.Reason, "reason")
	fields := joinByName(r.fields)
	for name, value := range fields {
		first, has := t.fields[name]
		note(name != "date" && (!has || first != value), "header "+name)
	}
	for name := range t.fields {
		_, has := fields[name]
		note(!has, "header "+name)
	}
}

// bodyDigest is a body's SHA-256, with HOST where it names the server's own address:
// variants have different ports, and that alone is no difference.
func (t *answerTally) bodyDigest(body []byte) [32]byte {
	if !bytes.Contains(body, []byte(t.answer.Authority)) {
		return sha256.Sum256(body)
	}
	return sha256.Sum256([]byte(neutralText(string(body), t.answer.Authority)))
}

// neutralText is s with HOST for an authority that has a port. Without one it may
// be a name, such as localhost, that is meant.
func neutralText(s, authority string) string {
	if !strings.Contains(authority, ":") {
		return s
	}
	return strings.ReplaceAll(s, authority, "HOST")
}

func (t *answerTally) finishAnswer() *Answer {
	t.answer.Varies = slices.Sorted(maps.Keys(t.varies))
	if len(t.status) > 1 {
		t.answer.Statuses = t.status
	}
	return t.answer
}

// joinByName joins the values of lines with the same name.
func joinByName(lines []Line) map[string]string {
	m := make(map[string]string, len(lines))
	for _, l := range lines {
		name := strings.ToLower(l.Name)
		if before, has := m[name]; has {
			m[name] = before + ", " + l.Value
		} else {
			m[name] = l.Value
		}
	}
	return m
}

func valueOf(lines []Line, name string) (string, bool) {
	value, has := joinByName(lines)[strings.ToLower(name)]
	return value, has
}

// detectEncoding is how the body is compressed, whether or not the header says so.
func (r *response) detectEncoding() string {
	if e, _ := valueOf(r.fields, "Content-Encoding"); e != "" {
		return strings.ToLower(e)
	}
	if bytes.HasPrefix(r.body, []byte("\x1f\x8b\x08")) {
		return "gzip, without saying so"
	}
	return ""
}
