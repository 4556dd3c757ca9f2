package say

import (
	"fmt"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// retryReasons say why requests were sent again, after "because".
var retryReasons = map[string]string{
	"closed":    "the connection was closed before a byte of the answer",
	"announced": "the server closed the connection after an earlier answer, as it had announced",
	"unsent":    "the connection was lost before any of it was sent",
	"refused":   "the server said that it had not processed it",
}

func retries(a fact.Retries) string {
	parts := make([]string, len(a.Of))
	for i, r := range a.Of {
		parts[i] = fmt.Sprintf("%s %s, because %s", count(r.Count), r.Method, retryReason(r))
		if r.Twice {
			parts[i] += " (the server may have carried it out twice)"
		}
	}
	return fmt.Sprintf("%s (%.1f %%) %s sent again on another connection: %s",
		digits.Plural(a.Count, "request"), a.Percent, digits.Were(a.Count), strings.Join(parts, "; "))
}

// notRetried says why requests failed that were not sent again.
func notRetried(a fact.NotRetried) string {
	parts := make([]string, len(a.Of))
	for i, r := range a.Of {
		parts[i] = fmt.Sprintf("%s %s, because %s", count(r.Count), r.Method, retryReason(r))
	}
	return fmt.Sprintf("%s (%.1f %%) failed, which the server may have carried out: %s",
		digits.Plural(a.Count, "request"), a.Percent, strings.Join(parts, "; "))
}

// oftenClosed is from how many closed connections on one number of answers is a rule of the server.
const oftenClosed = 3

// retryReason is why requests of a method were sent again. If a server closes connections after so
// many answers, that is said in its place.
func retryReason(r fact.Retry) string {
	closed := r.Why == "closed" || r.Why == "announced"
	switch {
	case !closed || r.Most == 0:
		return retryReasons[r.Why]
	case r.Least < r.Most:
		return fmt.Sprintf("the server closed connections after %s to %s requests", count(r.Least),
			count(r.Most))
	case r.Count < oftenClosed:
		return "the server closed a connection after " + digits.Plural(r.Most, "request")
	}
	return "the server closes a connection after " + digits.Plural(r.Most, "request")
}

// Retried is retries in few words: "3,926 retried: the server closes a connection after 20
// requests"; "" if there were none.
func Retried(a fact.Retries) string {
	if a.Count == 0 {
		return ""
	}
	said := count(a.Count) + " retried"
	one := oneReason(a.Of)
	switch reason := retryReason(one); {
	case one.Why == "refused":
		return said + " after a refusal"
	case one.Why != "" && reason != retryReasons[one.Why]:
		return said + ": " + reason
	}
	return said + " after a close"
}

// oneReason is the reason of all that were sent again, whatever their methods are; Why "": there
// are several.
func oneReason(all []fact.Retry) (one fact.Retry) {
	for i, r := range all {
		switch {
		case i == 0:
			one = r
		case r.Why != one.Why:
			return fact.Retry{}
		default:
			one.Count += r.Count
			one.Least, one.Most = min(one.Least, r.Least), max(one.Most, r.Most)
		}
	}
	return one
}
