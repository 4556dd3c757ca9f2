package redact

import (
	"slices"
	"strings"
	"unicode"

	"dyno/internal/lazyregexp"
)

// secrets are the words by which a name is that of a secret.
var secrets = []string{"accesskey", "apikey", "assertion", "auth", "authkey", "authorization",
	"authentication", "bearer", "cookie", "cookies", "cred", "credential", "credentials",
	"creds", "csrf", "cvc", "cvv", "dbpass", "hmac", "jwt", "key", "keys", "mfa", "otp", "pass",
	"passcode", "passkey", "passphrase", "passwd", "password", "passwords", "pin", "pincode",
	"privatekey", "pw", "pwd", "requirepass", "saml", "secret", "secretkey", "secrets",
	"session", "sessions", "sessionid", "sessid", "sid", "sig", "signature", "token", "tokens",
	"totp", "verifier", "xsrf"}

// codes are the words before code with which it is a secret; alone it is one, too, as OAuth has
// it.
var codes = []string{"access", "activation", "backup", "confirmation", "device", "login",
	"recovery", "reset", "security", "verification"}

// counted are the words before tokens with which these are a number, as of language models.
var counted = []string{"audio", "cached", "completion", "generated", "input", "output",
	"prediction", "prompt", "reasoning"}

// inside are secret wherever they stand in a word, and last where they are its end.
var (
	inside = []string{"password", "passwd", "passphrase", "apikey", "sessid", "sessionid", "csrf",
		"xsrf"}
	last = []string{"secret", "token", "credential", "credentials", "accesskey", "secretkey",
		"authkey", "privatekey"}
)

// about are words at the end of a name that is of a secret's property and not of a secret, and
// amounts those at its beginning.
var (
	about = []string{"alg", "algorithm", "count", "dir", "enabled", "exp", "expires", "expiry", "file",
		"format", "length", "limit", "max", "maximum", "median", "min", "minimum", "mode", "name", "path",
		"pattern", "prefix", "size", "stddev", "timeout", "total", "ttl", "type", "version"}
	amounts = []string{"count", "max", "min", "num", "number", "public", "total"}
)

// Secret reports whether a field of that name is a secret: whether one of its words is. Words end
// where letters change from small to capital, and at everything that is no letter. So apiKey,
// API_KEY and x-api-key are secrets, and keyword, monkey, author and design are not.
func Secret(name string) bool {
	all := splitName(name)
	if len(all) == 0 {
		return false
	}
	if len(all) > 1 && (slices.Contains(about, all[len(all)-1]) || slices.Contains(amounts, all[0])) {
		return false
	}
	if n := len(all); n > 1 && all[n-1] == "code" && slices.Contains(codes, all[n-2]) {
		return true
	}
	if n := len(all); n > 1 && all[n-1] == "tokens" && slices.Contains(counted, all[n-2]) {
		return false
	}
	return slices.ContainsFunc(all, func(w string) bool {
		return slices.Contains(secrets, w) ||
			slices.ContainsFunc(inside, func(s string) bool { return strings.Contains(w, s) }) ||
			slices.ContainsFunc(last, func(s string) bool { return strings.HasSuffix(w, s) })
	})
}

// splitName are those of a name, in small letters. A run of capitals is one word, but for its last
// letter if a small one follows: APIKey is api and key.
func splitName(name string) (all []string) {
	letters := []rune(name)
	begin := -1
	end := func(i int) {
		if begin >= 0 {
			all = append(all, strings.ToLower(string(letters[begin:i])))
		}
		begin = -1
	}
	for i, c := range letters {
		switch {
		case !unicode.IsLetter(c):
			end(i)
			continue
		case begin >= 0 && unicode.IsUpper(c) && (unicode.IsLower(letters[i-1]) ||
			i+1 < len(letters) && unicode.IsLower(letters[i+1])):
			end(i)
		}
		if begin < 0 {
			begin = i
		}
	}
	end(len(letters))
	return all
}

// What no secret is, though its name may say so: a switch, a file, a place that a template names.
var (
	switches = []string{"", "auto", "basic", "disabled", "enabled", "false", "no", "none", "null",
		"off", "on", "optional", "required", "true", "yes"}
	place = lazyregexp.New(`^(\.{0,2}/|~/|@|\{\{-?\s*(dir|here|build|file|socket)\b)`)
	named = lazyregexp.New(`\.(pem|key|crt|cer|p12|pfx|jks|json|ya?ml|conf|txt|sock)$|^\{\{`)
	whole = lazyregexp.New(`^[0-9]+$`)

	plurals = []string{"keys", "tokens", "secrets", "sessions", "cookies", "credentials", "signatures"}
)

// isPlainSetting reports whether a value in an environment or a command is no secret, whatever
// its name.
func isPlainSetting(name, value string) bool {
	if slices.Contains(switches, strings.ToLower(value)) {
		return true
	}
	if place().MatchString(value) && (named().MatchString(value) || value[0] == '{') {
		return true
	}
	all := splitName(name)
	return whole().MatchString(value) && slices.Contains(plurals, all[len(all)-1]) // so many keys
}
