package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"dyno/internal/engine/proto"
)

// A sigV4 signs method, path, query, all fields and the body of each request, with its time.
type sigV4 struct {
	signer          *v4.Signer
	credentials     aws.Credentials
	region, service string
	keys            bool // paths are keys, of S3
	chunked         bool // all bodies are
}

// ofS3 are the names of S3 as a service, whose paths are keys.
var ofS3 = []string{"s3", "s3express", "s3-object-lambda", "s3-outposts"}

func newSigV4(key, secret, region, service string, chunked bool) *sigV4 {
	return &sigV4{credentials: aws.Credentials{AccessKeyID: key, SecretAccessKey: secret},
		region: region, service: service, keys: slices.Contains(ofS3, service), chunked: chunked,
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })}
}

// hashField has the hash of the body, where the service wants it.
const hashField = "X-Amz-Content-Sha256"

// added are the fields that signing adds.
var added = []string{"X-Amz-Date", "Authorization"}

// sign signs a request.
func (s *sigV4) sign(u *user, at time.Time) {
	r := &u.request
	sum := sha256.Sum256(r.Body)
	hash := hex.EncodeToString(sum[:])
	if s.keys && !r.HasField(hashField) {
		u.add(hashField, hash)
	}
	target, query, _ := strings.Cut(r.Path, "?")
	q := &http.Request{Method: r.Method, Host: r.Authority, Header: http.Header{},
		ContentLength: int64(len(r.Body)),
		URL:           &url.URL{RawQuery: parsable(query)}}
	for _, f := range r.Header {
		switch {
		case strings.EqualFold(f.Name, "Host"):
			q.Host = f.Value
		case strings.EqualFold(f.Name, hashField):
			hash = f.Value
			fallthrough
		default:
			q.Header.Add(f.Name, f.Value)
		}
	}
	q.URL.Opaque = "//" + q.Host + s.canonicalPath(target)
	if r.IsChunked() || s.chunked && len(r.Body) > 0 {
		q.ContentLength = -1
	}
	q.Header.Del("Connection") // which the codec may change, and proxies do
	err := s.signer.SignHTTP(context.Background(), s.credentials, q, hash, s.service, s.region,
		at.UTC())
	if err != nil {
		return // it has none but of what is not set here
	}
	for _, name := range added {
		value := q.Header.Get(name)
		if proto.ValueProblem(proto.InHeader, []byte(value)) == "" {
			u.set(name, value)
		}
	}
}

// canonicalPath is the path that is signed. That of S3 is a key, and escaped once, however the
// request has it. Others are without // and .., and escaped once more than in the request.
func (s *sigV4) canonicalPath(of string) string {
	if s.keys {
		key, _ := url.PathUnescape(wellEscaped(of)) // which has no error then
		return escaped(key)
	}
	normal := path.Clean("/" + of)
	if normal != "/" && strings.HasSuffix(of, "/") {
		normal += "/"
	}
	return escaped(normal)
}

// escaped is a path in which all is escaped but slashes and what RFC 3986 calls unreserved.
func escaped(of string) string { return inPath.Replace(url.QueryEscape(of)) }

var inPath = strings.NewReplacer("+", "%20", "%2F", "/")

// parsable is a query that net/url reads as AWS does: a semicolon separates nothing.
func parsable(query string) string {
	return strings.ReplaceAll(wellEscaped(query), ";", "%3B")
}

// wellEscaped is a text whose percent signs that begin no escape are escaped.
func wellEscaped(s string) string {
	hex := func(i int) bool {
		return i < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[i]) >= 0
	}
	var b strings.Builder
	for i := range len(s) {
		if b.WriteByte(s[i]); s[i] == '%' && !(hex(i+1) && hex(i+2)) {
			b.WriteString("25")
		}
	}
	return b.String()
}

// set gives the user's request a field in place of those of the name.
func (x *user) set(name, value string) {
	for i := range x.request.Header {
		if f := &x.request.Header[i]; strings.EqualFold(f.Name, name) {
			f.Value = value
			return
		}
	}
	x.add(name, value)
}
