package loadresult

import "slices"

// A Retry is how many requests of a method were sent again for a reason.
type Retry struct {
	Method string `json:"method"` // OtherMethods, if there were more than a result has
	Why    string `json:"why"`
	Count  int64  `json:"count"`
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

// Count counts n requests.
func (r *Retries) Count(method, why string, n int64) {
	for {
		i := slices.IndexFunc(*r, func(k Retry) bool { return k.Method == method && k.Why == why })
		switch {
		case i >= 0:
			(*r)[i].Count += n
			return
		case len(*r) < retriesMost || method == OtherMethods:
			*r = append(*r, Retry{method, why, n})
			return
		}
		method = OtherMethods
	}
}

// AddRetries adds the counts of another worker or part.
func (r *Retries) AddRetries(from Retries) {
	for _, k := range from {
		r.Count(k.Method, k.Why, k.Count)
	}
}
