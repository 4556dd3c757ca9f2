package loadplan

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/scenario"
)

func rampPlan(users int, stages ...UserStage) *Plan {
	p := DefaultPlan()
	p.Target.Host = "h"
	p.Requests = []Request{{Weight: 1}}
	p.Scenario = scenario.Program{}
	p.Users, p.UserStages, p.Threads = users, stages, 1
	p.Duration = Seconds(p.StagesLength())
	return &p
}

// changesOf are the changes of the plan's users in all threads, in order.
func changesOf(p *Plan, threads int) (all []UserChange) {
	for i := range threads {
		first := p.ScenarioShare(i, threads).FirstUser
		for r, _ := p.NewUserRamp(i, threads); !r.Over; r.Advance() {
			c := r.Change
			c.User += int(first)
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b UserChange) int { return cmp.Compare(a.At, b.At) })
	return all
}

// When users begin and leave: by hand. The first begins with a ramp, and the last leaves at its end.
func TestUserRamp(t *testing.T) {
	const s = int64(time.Second)
	for name, c := range map[string]struct {
		p    *Plan
		want []UserChange
	}{
		"up and down": {rampPlan(0, UserStage{Seconds(4 * s), 4}, UserStage{Seconds(2 * s), 4},
			UserStage{Seconds(2 * s), 0}), []UserChange{{0, 0, true}, {s, 1, true}, {2 * s, 2, true},
			{3 * s, 3, true}, {6*s + s/2, 3, false}, {7 * s, 2, false}, {7*s + s/2, 1, false}, {8 * s, 0, false}}},
		"from some": {rampPlan(2, UserStage{Seconds(3 * s), 4}, UserStage{0, 1}),
			[]UserChange{{0, 2, true}, {s + s/2, 3, true}, {3 * s, 3, false}, {3 * s, 2, false}, {3 * s, 1, false}}},
		"a hold": {rampPlan(7, UserStage{Seconds(s), 7}), nil},
	} {
		if got := changesOf(c.p, 1); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		c.p.Warmup = Seconds(5 * s)
		for i, got := range changesOf(c.p, 1) {
			if got.At != c.want[i].At+5*s {
				t.Errorf("%s after a warm-up: change %d at %d", name, i, got.At)
			}
		}
	}
	long := rampPlan(0, UserStage{Seconds(MaxTime), MaxUsers})
	n, last := 0, int64(0)
	for r, _ := long.NewUserRamp(1023, 1024); !r.Over; r.Advance() {
		n, last = n+1, r.Change.At
	}
	if n != MaxUsers/1024 || last != int64(MaxTime)-int64(MaxTime)/MaxUsers-1 {
		t.Errorf("%d changes, the last %d ns before the end", n, int64(MaxTime)-last)
	}
}

// However a load is cut into parts and threads, the changes are those of the whole load, and each
// user is one worker's. Joined, the parts are the whole.
func TestUserRampOfParts(t *testing.T) {
	const s = int64(time.Second)
	whole := rampPlan(10, UserStage{Seconds(7 * s), 61}, UserStage{Seconds(s), 61},
		UserStage{Seconds(3 * s), 5}, UserStage{0, 40})
	whole.Connections = 61
	inOrder := func(all []UserChange) []UserChange {
		for i := range all {
			all[i].User = 0
		}
		slices.SortFunc(all, func(a, b UserChange) int {
			if a.At == b.At && a.Begins != b.Begins {
				return map[bool]int{false: -1, true: 1}[a.Begins]
			}
			return cmp.Compare(a.At, b.At)
		})
		return all
	}
	want := inOrder(changesOf(whole, 1))
	for _, weights := range [][]int{{1}, {1, 1}, {2, 1, 1}, {3, 2}, {1, 2, 3, 4}} {
		var all []UserChange
		next, begun := int64(0), 0
		parts := whole.SplitBy(weights)
		for i := range parts {
			p := &parts[i]
			p.Threads = i + 1
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			all = append(all, changesOf(p, p.Threads)...)
			for k := range p.Threads {
				share := p.ScenarioShare(k, p.Threads)
				if share.FirstUser != next {
					t.Errorf("%v: part %d, thread %d begins with user %d, not %d", weights, i, k, share.FirstUser, next)
				}
				next += share.Users
				_, first := p.NewUserRamp(k, p.Threads)
				begun += first
			}
		}
		if !slices.Equal(inOrder(all), want) || next != 61 || begun != 10 {
			t.Errorf("%v: %d changes of %d users, %d at the start", weights, len(all), next, begun)
		}
		joined, err := Join(parts)
		if err != nil || joined.UserCount() != 61 || joined.Users != 10 {
			t.Errorf("%v: joined %d users from %d, %v", weights, joined.UserCount(), joined.Users, err)
		}
	}
}

// UsersAt is how many have begun and not left.
func TestUsersAt(t *testing.T) {
	p := rampPlan(3, UserStage{Seconds(time.Second), 20}, UserStage{0, 7}, UserStage{Seconds(time.Second), 0},
		UserStage{Seconds(time.Second), 1_000_003})
	changes := changesOf(p, 1)
	for at := time.Duration(1); at <= time.Duration(p.Duration); at += 33_333_333 {
		want := 3
		for _, c := range changes {
			switch {
			case c.At >= int64(at):
			case c.Begins:
				want++
			default:
				want--
			}
		}
		if got := p.UsersAt(at); got != want {
			t.Fatalf("%d users after %v, want %d", got, at, want)
		}
	}
	if got := rampPlan(7); got.UsersAt(time.Second) != 0 {
		t.Error("a plan without stages has users")
	}
}

func TestCheckUserStages(t *testing.T) {
	stage := UserStage{Seconds(time.Second), 5}
	for want, change := range map[string]func(p *Plan){
		"":                                func(p *Plan) {},
		"leave out Rate and D:RATE":       func(p *Plan) { p.Rate = RatePerSecond(1) },
		"or D:Nusers":                     func(p *Plan) { p.Stages = []Stage{{Seconds(time.Second), 1000}} },
		"2s is not the length":            func(p *Plan) { p.Duration = Seconds(2 * time.Second) },
		"needs Users":                     func(p *Plan) { p.Warmup = Seconds(time.Second) },
		"no stage has users":              func(p *Plan) { p.UserStages = []UserStage{{Seconds(time.Second), 0}} },
		"-1 users are not within":         func(p *Plan) { p.UserStages[0].Users = -1; p.Users = 5 },
		"5 cannot be shared by 6 threads": func(p *Plan) { p.Threads = 6 },
		"too few for part 7 of 7":         func(p *Plan) { p.Part, p.Parts = 6, 7 },
		"they add up to":                  func(p *Plan) { p.Parts, p.Weights = 2, []int{MaxWeight, MaxWeight} },
	} {
		p := rampPlan(0, stage)
		change(p)
		if err := p.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
