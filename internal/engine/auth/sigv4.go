package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
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
	scheme          string
	chunked         bool // all bodies are
}

func newSigV4(key, secret, region, service string, tls, chunked bool) *sigV4 {
	s := &sigV4{credentials: aws.Credentials{AccessKeyID: key, SecretAccessKey: secret},
		region: region, service: service, scheme: "http", chunked: chunked}
	if tls {
		s.scheme = "https"
	}
	s.signer = v4.NewSigner(func(o *v4.SignerOptions) {
		o.DisableURIPathEscaping = service == "s3" // of which alone paths are escaped once
	})
	return s
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
	if s.service == "s3" && !r.HasField(hashField) {
		u.add(hashField, hash)
	}
	path, query, _ := strings.Cut(r.Path, "?")
	q := &http.Request{Method: r.Method, Host: r.Authority, Header: http.Header{},
		ContentLength: int64(len(r.Body)),
		URL:           &url.URL{Scheme: s.scheme, Host: r.Authority, RawQuery: query}}
	for _, f := range r.Header {
		switch {
		case strings.EqualFold(f.Name, "Host"):
			q.Host, q.URL.Host = f.Value, f.Value
		case strings.EqualFold(f.Name, hashField):
			hash = f.Value
			fallthrough
		default:
			q.Header.Add(f.Name, f.Value)
		}
	}
	q.URL.Opaque = "//" + q.URL.Host + path
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
