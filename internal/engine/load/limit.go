package load

// A Limit is the error that this machine cannot give what was asked for: what that was, and what
// the user can do.
type Limit string

// Error is the text.
func (l Limit) Error() string { return string(l) }
