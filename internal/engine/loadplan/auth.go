package loadplan

import (
	"slices"
	"strings"
)

// Digest is the Auth of a plan whose users answer challenges of RFC 7616.
const Digest = "digest"

// SigV4 is the region and the service of an Auth that signs for AWS: sigv4:REGION/SERVICE.
func SigV4(auth string) (region, service string, is bool) {
	scope, is := strings.CutPrefix(auth, "sigv4:")
	region, service, both := strings.Cut(scope, "/")
	return region, service, is && both
}

// isWord reports whether a text may be a region or a service.
func isWord(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// IsAuth reports whether a text is Digest, or sigv4:REGION/SERVICE.
func IsAuth(how string) bool {
	region, service, signs := SigV4(how)
	return how == Digest || signs && isWord(region) && isWord(service)
}

// HasAuth reports whether the plan, or one of its requests, says in this way who sends requests.
func (p *Plan) HasAuth(how string) bool {
	return p.Auth == how || slices.ContainsFunc(p.Requests, func(r Request) bool {
		return r.Auth == how
	})
}

// checkAuth checks how requests say who sends them.
func (p *Plan) checkAuth(flaw finder) {
	flaw(p.HasAuth(Digest) && p.Pipeline > 1, "Pipeline", "a request that is sent again for a "+
		"challenge has the rest of its timeout, which ends its connection and with it the requests "+
		"behind it").Mend = "leave one of the two out, or use {HTTP} 2"
	if p.Auth == "" {
		flaw(p.User != "", "User", "says who sends requests, and nothing says how").Mend =
			"give {Auth}"
		return
	}
	_, _, signs := SigV4(p.Auth)
	flaw(!IsAuth(p.Auth), "Auth",
		"%q is not digest, or sigv4:REGION/SERVICE, as sigv4:eu-west-1/s3", p.Auth)
	user, password, has := strings.Cut(p.User, ":")
	flaw(!has || user == "", "Auth", "needs {User}, USER:PASSWORD, or KEY:SECRET for sigv4")
	flaw(signs && has && password == "", "User", "has no secret").Mend = "write KEY:SECRET"
	flaw(p.Target.FastCGI, "Auth", "%s is FastCGI, whose requests a server has authenticated",
		p.Target.URL)
}
