package loadplan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"unicode/utf8"

	"dyno/internal/engine/proto"
)

// longestBody is how long a body may be for JSON to hold it, in bytes. Of a longer body, or one
// that is not text, JSON holds the length and the SHA-256.
const longestBody = 4 << 10

// A digest stands for a body that JSON does not hold.
type digest struct {
	Bytes  int64  `json:"body_bytes,omitempty"`
	SHA256 string `json:"body_sha256,omitempty"`
}

type requestJSON struct {
	Name      string      `json:"name,omitempty"`
	Method    string      `json:"method"`
	Authority string      `json:"authority"`
	Path      string      `json:"path"`
	Headers   []fieldJSON `json:"headers,omitempty"`
	Body      string      `json:"body,omitempty"`
	digest
	Weight   int     `json:"weight"`
	At       Seconds `json:"at_s,omitempty"` // of a replay; absent: 0
	Timeout  Seconds `json:"timeout_s,omitempty"`
	Template bool    `json:"template,omitempty"` // its texts have holes
	OwnExpectations
}

type fieldJSON struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// LostBody is how many bytes a body has that JSON does not hold. It is 0 if JSON holds the body, or
// if there is none.
func (r *Request) LostBody() int64 {
	switch body := r.Written().Body; {
	case len(body) == 0:
		return r.digest.Bytes
	case jsonHolds(body):
		return 0
	default:
		return int64(len(body))
	}
}

func jsonHolds(body []byte) bool { return len(body) <= longestBody && utf8.Valid(body) }

// MarshalJSON writes the request as the user wrote it, with its body if that is UTF-8 of at most
// 4 KiB.
func (r Request) MarshalJSON() ([]byte, error) {
	w := r.Written()
	j := requestJSON{Name: r.Name, Method: w.Method, Authority: w.Authority, Path: w.Path,
		digest: r.digest, Weight: r.Weight, Timeout: r.Timeout, At: r.At,
		Template: r.Template != nil}
	if r.Expect != nil {
		j.OwnExpectations = *r.Expect
	}
	for _, f := range w.Header {
		j.Headers = append(j.Headers, fieldJSON(f))
	}
	switch {
	case len(w.Body) == 0:
	case jsonHolds(w.Body):
		j.Body, j.digest = string(w.Body), digest{}
	default:
		sum := sha256.Sum256(w.Body)
		j.digest = digest{int64(len(w.Body)), hex.EncodeToString(sum[:])}
	}
	// Not json.Marshal: it would write the & of every query as \u0026.
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(j)
	return b.Bytes(), err
}

// UnmarshalJSON reads what MarshalJSON wrote. A request whose body was not written has none
// afterwards, but MarshalJSON writes it as it was read. One with holes has them in its Template
// only.
func (r *Request) UnmarshalJSON(b []byte) error {
	var j requestJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*r = Request{Name: j.Name, Weight: j.Weight, Timeout: j.Timeout, At: j.At, digest: j.digest}
	r.Method, r.Authority, r.Path = j.Method, j.Authority, j.Path
	for _, f := range j.Headers {
		r.Header = append(r.Header, proto.Field(f))
	}
	if j.Body != "" {
		r.Body = []byte(j.Body)
	}
	r.Expect = j.OwnExpectations.OrNil()
	if j.Template {
		written := r.Request
		r.Template = &written
	}
	return nil
}
