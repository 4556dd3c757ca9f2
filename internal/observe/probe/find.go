package probe

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A candidate is a process that might be meant.
type candidate struct {
	pid, parent int
	comm        string // as the kernel has it, on Linux at most 15 bytes
	program     string // the file name in the first word of its command line
}

// Find returns the trees that a user means by a pid or by the name of a program. By a
// name it is all processes that are called so (by the kernel, or by their command line)
// and are no descendants of one that is; never this process. A tree is named as what
// was asked for, with its pid if there are several. It needs no right but to read the
// list of processes. When there is none, the error names those that are similar.
func Find(what string) ([]Tree, error) {
	all, err := running()
	if err != nil {
		return nil, err
	}
	return findAmong(what, all, os.Getpid())
}

// Also is trees and those that Find returns, each once. No two have the same name.
func Also(trees []Tree, what string) ([]Tree, error) {
	found, err := Find(what)
	if err != nil {
		return nil, err
	}
	for _, tree := range found {
		same := func(t Tree) bool { return t.PID == tree.PID }
		named := func(t Tree) bool { return t.Name == tree.Name }
		if slices.ContainsFunc(trees, same) {
			continue
		}
		if slices.ContainsFunc(trees, named) {
			tree.Name = fmt.Sprintf("%s[%d]", tree.Name, tree.PID)
		}
		trees = append(trees, tree)
	}
	return trees, nil
}

func findAmong(what string, all []candidate, self int) ([]Tree, error) {
	byPID := make(map[int]candidate, len(all))
	for _, c := range all {
		byPID[c.pid] = c
	}
	if pid, err := strconv.Atoi(what); err == nil {
		c, there := byPID[pid]
		if !there {
			return nil, fmt.Errorf("there is no process %d", pid)
		}
		return []Tree{{Name: c.programName(), PID: pid}}, nil
	}
	var roots []Tree
	for _, c := range all {
		if c.pid != self && c.isNamed(what) && !hasAncestor(c, byPID, func(up candidate) bool {
			return up.pid != self && up.isNamed(what)
		}) {
			roots = append(roots, Tree{Name: what, PID: c.pid})
		}
	}
	if len(roots) == 0 {
		return nil, fmt.Errorf("no process is named %q%s", what, nearestName(what, all, self))
	}
	slices.SortFunc(roots, func(a, b Tree) int { return cmp.Compare(a.PID, b.PID) })
	if len(roots) > 1 {
		for i := range roots {
			roots[i].Name = fmt.Sprintf("%s[%d]", what, roots[i].PID)
		}
	}
	return roots, nil
}

// isNamed compares with the kernel's name, which is cut at 15 bytes, and the program's.
func (c candidate) isNamed(name string) bool {
	const cut = 15
	return name != "" && (c.comm == name || c.program == name ||
		len(name) > cut && c.comm == name[:cut] && (c.program == "" || c.program == name))
}

func (c candidate) programName() string { return cmp.Or(c.program, c.comm) }

// hasAncestor says whether an ancestor fits.
func hasAncestor(c candidate, byPID map[int]candidate, fits func(candidate) bool) bool {
	start := c.pid
	for range len(byPID) {
		up, there := byPID[c.parent]
		if !there || up.pid == start { // pids that were used again can make a ring
			return false
		}
		if fits(up) {
			return true
		}
		c = up
	}
	return false
}

// nearestName lists up to five names that are similar.
func nearestName(what string, all []candidate, self int) string {
	var alike []candidate
	seen := map[string]bool{}
	for _, c := range all {
		if c.pid != self && !seen[c.programName()] && isSimilar(what, c.programName()) {
			seen[c.programName()] = true
			alike = append(alike, c)
		}
	}
	if len(alike) == 0 {
		return ""
	}
	slices.SortStableFunc(alike, func(a, b candidate) int {
		return cmp.Compare(editDistance(what, a.programName()), editDistance(what, b.programName()))
	})
	var names []string
	for _, c := range alike[:min(len(alike), 5)] {
		names = append(names, fmt.Sprintf("%s (%d)", c.programName(), c.pid))
	}
	return "; similar: " + strings.Join(names, ", ")
}

func isSimilar(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if a == "" || b == "" {
		return false
	}
	const telling = 3 // bytes of a name for it to be found in a longer one
	return strings.Contains(b, a) || len(b) >= telling && strings.Contains(a, b) ||
		editDistance(a, b) <= len(a)/2 && len(a) >= telling
}

// editDistance is how many bytes to insert, delete or change to make a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// programOf is the program in a command line whose words end in NUL: the file name of
// the first, or what comes before the colon in a title that a program wrote itself.
func programOf(line string) string {
	first, _, _ := strings.Cut(line, "\x00")
	if before, _, written := strings.Cut(first, ": "); written && !strings.Contains(before, "/") {
		return before
	}
	if first == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(first, `\`, "/"))
}
