package loadplan

import "strings"

// Digest is the Auth of a plan whose users answer challenges of RFC 7616.
const Digest = "digest"

// SigV4 is the region and the service of an Auth that signs for AWS: sigv4:REGION/SERVICE.
func SigV4(auth string) (region, service string, is bool) {
	scope, is := strings.CutPrefix(auth, "sigv4:")
	region, service, both := strings.Cut(scope, "/")
	return region, service, is && both
}

// checkAuth checks how requests say who sends them.
func (p *Plan) checkAuth(flaw finder) {
	if p.Auth == "" {
		flaw(p.User != "", "User", "says who sends requests, and nothing says how").Mend =
			"give {Auth}"
		return
	}
	region, service, signs := SigV4(p.Auth)
	word := func(s string) bool {
		return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
	}
	flaw(p.Auth != Digest && !(signs && word(region) && word(service)), "Auth",
		"%q is not digest, or sigv4:REGION/SERVICE, as sigv4:eu-west-1/s3", p.Auth)
	user, password, has := strings.Cut(p.User, ":")
	flaw(!has || user == "", "Auth", "needs {User}, USER:PASSWORD, or KEY:SECRET for sigv4")
	flaw(signs && has && password == "", "User", "has no secret").Mend = "write KEY:SECRET"
	flaw(p.Auth == Digest && p.Pipeline > 1, "Pipeline", "a request that is sent again for a "+
		"challenge has the rest of its timeout, which ends its connection and with it the requests "+
		"behind it").Mend = "leave one of the two out, or use {HTTP} 2"
	flaw(p.Target.FastCGI, "Auth", "%s is FastCGI, whose requests a server has authenticated",
		p.Target.URL)
}
