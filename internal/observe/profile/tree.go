package profile

import (
	"slices"
	"strings"

	pprof "github.com/google/pprof/profile"
)

// processLabel names the process that a sample is of, where a profile has several.
const processLabel = "process"

// rootName is that of every tree's root.
const rootName = "all"

// A Node is a function called on one path, with all that it calls: a flame graph's box.
type Node struct {
	Name     string  `json:"name"`
	Kernel   bool    `json:"kernel,omitempty"`   // it runs in the kernel
	Self     int64   `json:"self"`               // of the samples that end here
	Total    int64   `json:"total"`              // Self and the totals of Children
	Children []*Node `json:"children,omitempty"` // by name
}

// Tree is a profile as a flame graph has it, in the unit of its default values. Below the
// root, "all", are the processes where the profile names them, and then the functions from
// the outermost on. Samples without a positive value are left out.
func Tree(p *Profile) *Node {
	w := newWeighing(p)
	type edge struct {
		from *Node
		to   string
	}
	root := &Node{Name: rootName}
	nodes := map[edge]*Node{}
	for _, sample := range p.Sample {
		value, _ := w.sampleWeight(sample)
		if value <= 0 {
			continue
		}
		at := root
		at.Total += value
		for _, f := range framesFromRoot(sample) {
			next := nodes[edge{at, f.name}]
			if next == nil {
				next = &Node{Name: f.name, Kernel: f.kernel}
				nodes[edge{at, f.name}], at.Children = next, append(at.Children, next)
			}
			at = next
			at.Total += value
		}
		at.Self += value
	}
	root.sortChildren()
	return root
}

func (n *Node) sortChildren() {
	slices.SortFunc(n.Children, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range n.Children {
		c.sortChildren()
	}
}

// framesFromRoot are a sample's frames from the outermost on, below that of its process.
func framesFromRoot(s *pprof.Sample) []frame {
	all := framesOf(s)
	if process := s.Label[processLabel]; len(process) > 0 {
		all = append(all, frame{name: process[0]})
	}
	slices.Reverse(all)
	return all
}

// A DiffNode is a box of a differential flame graph. All values are shares, 0 to 1, of the
// total of the profile that they are from.
type DiffNode struct {
	Name      string      `json:"name"`
	Kernel    bool        `json:"kernel,omitempty"`
	BaseSelf  float64     `json:"base_self"`
	Base      float64     `json:"base"` // with all that it calls
	OtherSelf float64     `json:"other_self"`
	Other     float64     `json:"other"`              // with all that it calls
	Children  []*DiffNode `json:"children,omitempty"` // by name
}

// DiffTree lays the trees of two profiles of the same kind over each other: each path that
// is in either.
func DiffTree(base, other *Profile) (*DiffNode, error) {
	if _, _, err := weighBoth(base, other); err != nil {
		return nil, err
	}
	b, o := Tree(base), Tree(other)
	return overlayTrees(b, o, float64(b.Total), float64(o.Total)), nil
}

// overlayTrees makes one node of two, either of which may be nil.
func overlayTrees(b, o *Node, baseTotal, otherTotal float64) *DiffNode {
	d := &DiffNode{}
	var was, is []*Node
	if b != nil {
		d.Name, d.Kernel, was = b.Name, b.Kernel, b.Children
		d.BaseSelf, d.Base = float64(b.Self)/baseTotal, float64(b.Total)/baseTotal
	}
	if o != nil {
		d.Name, d.Kernel, is = o.Name, o.Kernel, o.Children
		d.OtherSelf, d.Other = float64(o.Self)/otherTotal, float64(o.Total)/otherTotal
	}
	for len(was) > 0 || len(is) > 0 {
		var left, right *Node
		if len(is) == 0 || len(was) > 0 && was[0].Name <= is[0].Name {
			left = was[0]
		}
		if len(was) == 0 || len(is) > 0 && is[0].Name <= was[0].Name {
			right = is[0]
		}
		if left != nil {
			was = was[1:]
		}
		if right != nil {
			is = is[1:]
		}
		d.Children = append(d.Children, overlayTrees(left, right, baseTotal, otherTotal))
	}
	return d
}
