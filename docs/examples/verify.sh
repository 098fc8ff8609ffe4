# Verifies one signature with openssl 3, from ID, TIMESTAMP, SIGNATURE and PUBLIC_KEY, and the body in body.json.
# Compare the time yourself.
{ printf '\060\052\060\005\006\003\053\145\160\003\041\000'; printf %s "${PUBLIC_KEY#whpk_}" | base64 -d; } > key.der
printf %s "${SIGNATURE#v1a,}" | base64 -d > signature
{ printf '%s.%s.' "$ID" "$TIMESTAMP"; cat body.json; } > content
openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in content -sigfile signature
