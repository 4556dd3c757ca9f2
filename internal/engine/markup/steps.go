package markup

import (
	"github.com/antchfx/xpath"

	"dyno/internal/engine/scenario"
)

// A counted is a navigator whose steps are counted: an expression may look at each node of a tree
// for each other, or more often.
type counted struct {
	xpath.NodeNavigator
	left *int // steps
}

func (c *counted) count(steps int) {
	if *c.left -= steps; *c.left < 0 {
		panic(scenario.ErrLimits)
	}
}

func (c *counted) NodeType() xpath.NodeType {
	c.count(1)
	return c.NodeNavigator.NodeType()
}

func (c *counted) Value() string {
	s := c.NodeNavigator.Value()
	c.count(scenario.NodeSteps + len(s))
	return s
}

func (c *counted) Copy() xpath.NodeNavigator {
	c.count(scenario.NodeSteps)
	return &counted{c.NodeNavigator.Copy(), c.left}
}

func (c *counted) NamespaceURL() string {
	if n, is := c.NodeNavigator.(interface{ NamespaceURL() string }); is {
		return n.NamespaceURL()
	}
	return ""
}

func (c *counted) MoveToParent() bool {
	c.count(scenario.NodeSteps)
	return c.NodeNavigator.MoveToParent()
}

func (c *counted) MoveToNextAttribute() bool {
	c.count(scenario.NodeSteps)
	return c.NodeNavigator.MoveToNextAttribute()
}

func (c *counted) MoveToChild() bool {
	c.count(scenario.NodeSteps)
	return c.NodeNavigator.MoveToChild()
}

// MoveToFirst moves step by step, because the library's may take as many as there are nodes.
func (c *counted) MoveToFirst() (moved bool) {
	for c.MoveToPrevious() {
		moved = true
	}
	return moved
}

func (c *counted) MoveToNext() bool {
	c.count(scenario.NodeSteps)
	return c.NodeNavigator.MoveToNext()
}

func (c *counted) MoveToPrevious() bool {
	c.count(scenario.NodeSteps)
	return c.NodeNavigator.MoveToPrevious()
}

func (c *counted) MoveTo(other xpath.NodeNavigator) bool {
	c.count(scenario.NodeSteps)
	o, is := other.(*counted)
	return is && c.NodeNavigator.MoveTo(o.NodeNavigator)
}
