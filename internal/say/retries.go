package say

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// retryReasons say why requests were sent again. %s is the peer.
var retryReasons = map[string]string{
	"closed":    "the connection was closed before the answer began",
	"announced": "%s closed the connection after an earlier answer with Connection: close",
	"unsent":    "the connection was lost before any of it was sent",
	"refused":   "the server said that it had not processed it",
}

func retries(a fact.Retries) string {
	return fmt.Sprintf("%s (%.1f %%) %s sent again on another connection: %s",
		digits.Plural(a.Count, "request"), a.Percent, digits.Were(a.Count), retryList(a.Of, a.Peer, true))
}

// notRetried says why requests failed that were not sent again.
func notRetried(a fact.NotRetried) string {
	them := "them"
	if a.Count == 1 {
		them = "it"
	}
	return fmt.Sprintf("%s (%.1f %%) failed, and dyno did not send %s again, because the server may "+
		"have carried %s out: %s", digits.Plural(a.Count, "request"), a.Percent, them, them,
		retryList(a.Of, a.Peer, false))
}

// retryList is how many requests of each method there were, and why. What was sent again may have
// been carried out twice.
func retryList(all []fact.Retry, by fact.Peer, again bool) string {
	parts := make([]string, len(all))
	for i, r := range all {
		why := retryReason(r, by)
		if again && r.Twice {
			why += "; the server may have carried a request out twice"
		}
		parts[i] = fmt.Sprintf("%s %s (%s)", count(r.Count), r.Method, why)
	}
	return strings.Join(parts, ", ")
}

// retryReason is why requests of a method were sent again. If a peer closes connections after so
// many answers, that is said in its place.
func retryReason(r fact.Retry, by fact.Peer) string {
	switch {
	case !r.IsAfterAnswers():
		return strings.Replace(retryReasons[r.Why], "%s", Peer(by), 1)
	case r.Least < r.Most:
		return fmt.Sprintf("%s closed connections after %s to %s requests", Peer(by), count(r.Least),
			count(r.Most))
	case r.Count < fact.OftenClosed:
		return Peer(by) + " closed a connection after " + digits.Plural(r.Most, "request")
	}
	return Peer(by) + " closes a connection after " + digits.Plural(r.Most, "request")
}

// Retried is retries in few words: "3,926 retried: the server closes a connection after 20
// requests"; "" if there were none.
func Retried(a fact.Retries) string {
	if a.Count == 0 {
		return ""
	}
	said := count(a.Count) + " retried"
	switch one := oneReason(a.Of); {
	case one.Why == "refused":
		return said + " after a refusal"
	case one.IsAfterAnswers():
		return said + ": " + retryReason(one, a.Peer)
	case slices.ContainsFunc(a.Of, func(r fact.Retry) bool { return r.Why == "refused" }):
		return said // after a close, and after a refusal
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
			if one.Least = min(one.Least, r.Least); one.Most*r.Most == 0 { // of some it is not known
				one.Most = 0
				continue
			}
			one.Most = max(one.Most, r.Most)
		}
	}
	return one
}
