package loadresult

// A Wait is of waits for answers that did not come.
type Wait struct {
	After int64 `json:"after_ns"` // that each took at least; 0: as long as the drain

	Requests int64 `json:"requests"` // of the window
	Begun    int64 `json:"begun"`    // those of Requests whose answer had begun
	// Eventful are those of Requests whose stream had its first event.
	Eventful int64 `json:"eventful,omitempty"`

	// Slots are the ns of the window that slots of a closed workload spent in waits that went on, as
	// several requests one after the other or until the end. A user would have asked meanwhile.
	// SlotsBegun is likewise of those whose answer had begun.
	Slots      int64 `json:"slot_ns"`
	SlotsBegun int64 `json:"slot_begun_ns"`
}

// Unanswered are the waits of a load, one Wait for each After. It adds up.
type Unanswered []Wait

// WaitsMost is how many an Unanswered has at most. A plan has one timeout, or some of its steps'.
const WaitsMost = 16

// Add adds w. If it has another After than too many others, it counts as the longest of them that
// is shorter, or else the shortest counts as it: what is known then is less, and still true.
func (u *Unanswered) Add(w Wait) {
	all, at, least := *u, -1, -1
	for i, x := range all {
		if x.After == w.After || x.After > 0 && x.After < w.After && (at < 0 || x.After > all[at].After) {
			at = i
		}
		if x.After > 0 && (least < 0 || x.After < all[least].After) {
			least = i
		}
	}
	switch full := len(all) >= WaitsMost-1 && w.After > 0; { // one is left for the drain
	case at >= 0 && (full || all[at].After == w.After):
	case full:
		at = least
		all[at].After = w.After
	default:
		at = len(all)
		all = append(all, Wait{After: w.After})
	}
	x := &all[at]
	x.Requests, x.Begun = x.Requests+w.Requests, x.Begun+w.Begun
	x.Eventful += w.Eventful
	x.Slots, x.SlotsBegun = x.Slots+w.Slots, x.SlotsBegun+w.SlotsBegun
	*u = all
}

// AddAll adds the waits of another load.
func (u *Unanswered) AddAll(from Unanswered) {
	for _, w := range from {
		u.Add(w)
	}
}
