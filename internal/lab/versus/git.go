package versus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"

	"dyno/internal/hole"
	"dyno/internal/lab/experiment"
)

// A Git is revisions of a repository, each built and run by the same commands.
type Git struct {
	Repository string // absolute path of its folder
	Below      string // folder in it, from which dyno vs was called; "": the top
	Shallow    bool   // the repository lacks old commits, and a clone gets no more than its branches
	Revisions  []Revision
	Build, Run string // commands; in both, {out} is a folder for what is built
}

// A Revision is a commit and the name that it was given by.
type Revision struct{ Name, Commit string }

// OpenGit finds the repository of a folder, and the commits of revisions in it.
func OpenGit(ctx context.Context, dir string, revisions []string) (*Git, error) {
	if n := len(revisions); n < leastServers {
		return nil, fmt.Errorf("--git: two revisions are wanted, or more, as in --git main HEAD; %d "+
			"given", n)
	}
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR",
		"GIT_OBJECT_DIRECTORY"} {
		if os.Getenv(name) != "" { // as in a hook: a clone's commands would change this repository
			return nil, fmt.Errorf("--git: %s is set, as git does in hooks, and names another repository "+
				"to all commands of git; unset it", name)
		}
	}
	top, err := runGit(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("--git: %s is in no git repository: %w", dir, err)
	}
	below, err := runGit(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, fmt.Errorf("--git: %w", err)
	}
	shallow, err := runGit(ctx, dir, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return nil, fmt.Errorf("--git: %w", err)
	}
	g := &Git{Repository: top, Below: strings.TrimSuffix(below, "/"), Shallow: shallow == "true"}
	for _, name := range revisions {
		commit, wrong := runGit(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options",
			name+"^{commit}")
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("--git: %q is not a revision of %s", name, top))
		}
		g.Revisions = append(g.Revisions, Revision{name, commit})
	}
	return g, err
}

// runGit runs git in a folder, and returns what it printed.
func runGit(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		if text := oneLine(said.String()); text != "" {
			return "", errors.New(text)
		}
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// variants are the revisions. Each is checked out into a clone of its own, in the folder for what
// is built, and not into a worktree: the repository never knows of it, so nothing is left in it
// however dyno ends, and the experiment can be resumed. The clone shares the repository's objects.
func (g *Git) variants(address string) (all []experiment.Definition, err error) {
	for flag, command := range map[string]string{"--build": g.Build, "--run": g.Run} {
		if strings.TrimSpace(command) == "" {
			err = errors.Join(err, fmt.Errorf("%s: revisions need it, as in --build 'go build -o "+
				"{out}/srv .' --run '{out}/srv -listen 127.0.0.1:{port}'", flag))
		}
	}
	if err != nil {
		return nil, err
	}
	build, err := splitCommand(g.Build)
	if err != nil {
		return nil, fmt.Errorf("--build: %w", err)
	}
	const source = "{{build}}/source"
	dir := path.Join(source, hole.Verbatim(g.Below))
	compile := newStep(build.command())
	compile.Env, compile.Dir = build.variables(), experiment.Template(dir)
	run, err := newProcess(g.Run, dir)
	if err != nil {
		return nil, fmt.Errorf("--run: %w", err)
	}
	if one := (&Comparison{Address: address}).lacksPort(g.Run, run); one != nil {
		return nil, fmt.Errorf("--run: %w", one)
	}
	for _, r := range g.Revisions {
		all = append(all, experiment.Definition{
			Description: r.Name + ", commit " + r.Commit[:min(12, len(r.Commit))],
			Build:       append(g.checkout(r.Commit, source), compile),
			Processes:   []experiment.Process{run}, URL: experiment.Template(address)})
	}
	return all, nil
}

// checkout are the steps that put a commit into a folder, which is a template.
func (g *Git) checkout(commit, folder string) (all []experiment.Step) {
	step := func(words ...experiment.Template) { all = append(all, newStep(words)) }
	repository := experiment.Template(hole.Verbatim(g.Repository))
	of, in := experiment.Template(commit), experiment.Template(folder)
	step("git", "clone", "--quiet", "--shared", "--no-checkout", repository, in)
	if g.Shallow {
		step("git", "-C", in, "fetch", "--quiet", "--update-shallow", repository, of)
	}
	step("git", "-C", in, "-c", "advice.detachedHead=false", "checkout", "--quiet", "--detach", of)
	return all
}

func newStep(c experiment.Command) experiment.Step {
	s := experiment.Default[experiment.Step]()
	s.Cmd = c
	return s
}
