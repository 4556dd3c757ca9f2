package loadresult

import "slices"

// A Retry is how many requests of a method were sent again for a reason.
type Retry struct {
	Method string `json:"method"` // OtherMethods, if there were more than a result has
	Why    string `json:"why"`
	Count  int64  `json:"count"`
	// Least and Most are how many requests their connections had answered before.
	Least int64 `json:"answered_least,omitempty"`
	Most  int64 `json:"answered_most,omitempty"`
}

// Why a request was sent again.
const (
	RetryClosed    = "closed"    // its connection was lost before a byte of the answer
	RetryAnnounced = "announced" // so it was, and the server had announced that with an earlier answer
	RetryUnsent    = "unsent"    // its connection was lost before any of it was sent
	RetryRefused   = "refused"   // the server said that it did not process it
)

// OtherMethods stands for all methods beyond retriesMost entries: a scenario invents any number.
const (
	OtherMethods = "other"
	retriesMost  = 32
)

// A Retries is how many requests were sent again, by method and reason.
type Retries []Retry

// RetryTotals are what became of requests whose connections were lost before an answer.
type RetryTotals struct {
	Retried int64 // requests that were sent again
	Retries Retries
	// NotRetried are those that failed: the plan has requests of their methods not sent again.
	NotRetried Retries
}

// Count counts requests.
func (r *Retries) Count(more Retry) {
	for {
		i := slices.IndexFunc(*r, func(k Retry) bool {
			return k.Method == more.Method && k.Why == more.Why
		})
		switch {
		case i >= 0:
			k := &(*r)[i]
			k.Count += more.Count
			k.Least, k.Most = min(k.Least, more.Least), max(k.Most, more.Most)
			return
		case len(*r) < retriesMost || more.Method == OtherMethods:
			*r = append(*r, more)
			return
		}
		more.Method = OtherMethods
	}
}

// AddRetries adds the counts of another worker or part.
func (r *Retries) AddRetries(from Retries) {
	for _, k := range from {
		r.Count(k)
	}
}
