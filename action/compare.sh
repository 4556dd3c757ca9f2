#!/usr/bin/env bash
# Compares two revisions with dyno vs, writes the job summary, and the text for a comment into the
# folder. action.yml calls it. It runs anywhere: settings are in the environment, see action.yml.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dyno=${DYNO:-$here/../dyno}
name=${DYNO_NAME:-dyno}
limit=${DYNO_MAX_REGRESSION:-5%}
fail_on=${DYNO_FAIL_ON:-worse}
summary=${GITHUB_STEP_SUMMARY:-}
outputs=${GITHUB_OUTPUT:-/dev/null}

# What builds and runs here is the pull request's. It gets no token, and not the files by which a step
# gives later steps variables, programs and outputs.
for variable in $(compgen -e); do
  case $variable in
    GITHUB_TOKEN | GH_TOKEN | ACTIONS_* | INPUT_* | GITHUB_ENV | GITHUB_PATH | GITHUB_OUTPUT | GITHUB_STATE | GITHUB_STEP_SUMMARY)
      unset "$variable" ;;
  esac
done
for setting in DYNO_BUILD DYNO_RUN DYNO_BASE DYNO_HEAD; do
  if [ -z "${!setting:-}" ]; then echo "::error::$setting is empty"; exit 2; fi
done

if [ "$fail_on" != worse ] && [ "$fail_on" != undecided ]; then
  echo "::error::fail-on is ${fail_on@Q}; worse or undecided is possible"; exit 2
fi

folder=${DYNO_FOLDER:-$(mktemp -d "${RUNNER_TEMP:-/tmp}/dyno-vs.XXXXXX")/results}
command=(vs --git "$DYNO_BASE" "$DYNO_HEAD" --build "$DYNO_BUILD" --run "$DYNO_RUN")
if [ "$limit" != none ]; then command+=(--max-regression "$limit"); fi
shown=("${command[@]}") # without DYNO_ARGS, which may have secrets
if [ -n "${DYNO_ARGS:-}" ]; then # split as a shell does, without its expansions
  mapfile -t more < <(xargs -n 1 printf '%s\n' <<<"$DYNO_ARGS")
  command+=("${more[@]}")
fi

code=0
"$dyno" "${command[@]}" -o "$folder" || code=$?
case $code in
  0) verdict=better-or-same; if [ "$limit" = none ]; then verdict=decided; fi ;;
  1) verdict=worse ;;
  3) verdict=undecided ;;
  *) verdict=failed ;;
esac
mkdir -p "$folder" # of a comparison that failed
text=$folder/comment.md
{ echo "verdict=$verdict"; echo "folder=$folder"; echo "comment=$text"; } >>"$outputs"
printf '### %s: %.12s against %.12s\n\n' "$name" "$DYNO_HEAD" "$DYNO_BASE" >"$text"
repeat=dyno # the command, with quotes where a shell needs them
for word in "${shown[@]}"; do
  if [[ $word =~ ^[A-Za-z0-9_./:=@%+,~-]+$ ]]; then repeat+=" $word"; else repeat+=" ${word@Q}"; fi
done
if [ -n "${DYNO_ARGS:-}" ]; then repeat+=" # and the workflow's args"; fi
if ! "$dyno" lab show --brief "$folder" 2>/dev/null |
    REPEAT=$repeat awk '/^`dyno lab run / { print "```\n" ENVIRON["REPEAT"] "\n```"; next } { print }' >>"$text"; then
  printf 'There is no comparison: dyno vs ended with exit code %s. The log of the job says why.\n' "$code" >>"$text"
fi
if [ -n "$summary" ]; then cat "$text" >>"$summary"; else cat "$text"; fi

# An undecided comparison fails the job only where the workflow says so: the comment says it, too.
if [ "$verdict" = undecided ] && [ "$fail_on" = worse ]; then
  echo "::warning::$name is undecided, and passes: fail-on is worse. More time (--max-time in args) decides more; fail-on: undecided fails the job."
  exit 0
fi
exit "$code"
