import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/** A key and its self-signed certificate for 127.0.0.1, used by the tests only. */
export const peer = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+mN4vQiuRJvPDNPf
TXMURGPhWyCkVOFkvFZjvPbiXCGhRANCAARccqMW3lfdxm2clDdWBE0KwzCxctF9
En2lAzCz6VIQkLLw7CV7okkNjC4pYiX3odT1cZo7+EE80pBr4skEmgYn
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBkTCCATagAwIBAgIUJHsqFfkPk3Q71PCDN1Qi4WiQPQ0wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTExMTMxNFoYDzIxMjYxMDI4
MTExMzE0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARccqMW3lfdxm2clDdWBE0KwzCxctF9En2lAzCz6VIQkLLw7CV7okkN
jC4pYiX3odT1cZo7+EE80pBr4skEmgYno2QwYjAdBgNVHQ4EFgQUWDwu5dhKAnel
bcuqJ6mbVQpypYEwHwYDVR0jBBgwFoAUWDwu5dhKAnelbcuqJ6mbVQpypYEwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0kAMEYC
IQC02k1OzkiF+iSwifl98dVBAKO3oPQ6RNeoHvsMbYH4lQIhAPWA6MNTySX48+rG
JKauPpu8R4DI0pYBRpDbA4rtOXdL
-----END CERTIFICATE-----
`,
};

/** Makes this process trust the certificate. */
export function trustPeer(): void {
  setDefaultCACertificates([...getCACertificates('default'), peer.cert]);
}
