#!/bin/sh
# curl: film.sh ORDER PROMPT. Run it again with the same order after any failure, within a day: it is paid once.
set -eu
registry=${REGISTRY:-http://localhost:3000}
# As text in JSON: lines joined by \n, and other control characters as spaces.
prompt=$(printf %s "$2" | tr '\001-\011\013-\037' ' ' | sed 's/[\\"]/\\&/g' | awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }')
answer=$(mktemp) body=$(mktemp)
trap 'rm -f "$answer" "$body"' EXIT
# A try must be able to empty the output of the one before. A budget that is used up starts over at midnight.
curl --silent --show-error --retry 5 --retry-all-errors --retry-max-time 120 --max-time 35 --dump-header "$answer" --output "$body" \
  --header "authorization: Bearer $ACCESS_TOKEN" --header "idempotency-key: $1" --json "{\"prompt\": \"$prompt\"}" \
  "$registry/proxy/video-provider/text2video"
status=$(sed -n 's/^[Ll]ink: <\(.*\)>; rel="status".*/\1/p' "$answer" | tail -n 1)
test -n "$status" || { cat "$body" >&2; exit 1; }
# The address exists once the provider has said something.
looks=0
until curl --silent --fail --output "$answer" "$status" && grep -qE '"state": ?"(success|failed)"' "$answer"; do
  looks=$((looks + 1))
  test "$looks" -lt 600 || { echo "It takes longer than usual: $status" >&2; exit 1; }
  sleep 2
done
cat "$answer"
# A film that failed is an exit code of 1.
grep -qE '"state": ?"success"' "$answer"
