import { type AccessToken, createRegistryClient, type RegistryClient } from '@node-registry/registry-client';
import { Failure } from './failure.ts';
import { say } from './output.ts';
import { isThisMachine, proxiedFetch } from './proxy.ts';

export interface Address {
  baseUrl: string;
  downloadsUrl?: string | undefined;
  allowHttp?: boolean | undefined;
}

export function connect({ baseUrl, downloadsUrl }: Address, accessToken?: AccessToken): RegistryClient {
  for (const address of [baseUrl, downloadsUrl ?? baseUrl]) {
    const { username, password, host } = new URL(address);
    if (username || password)
      throw new Failure('usage', `Give the address of ${host} without a name and a password.`);
  }
  return createRegistryClient({ baseUrl, downloadsUrl, accessToken, fetch: proxiedFetch });
}

/** For calls with tokens: allows https, this machine, or http if a person accepts it. */
export function connectWithTokens(address: Address, accessToken?: AccessToken): RegistryClient {
  const url = new URL(address.baseUrl);
  if (url.protocol === 'http:' && !isThisMachine(url)) {
    const sentence = `A token would be readable on its way to ${url.origin}. Use https or, in a closed network, --allow-http.`;
    if (!address.allowHttp) throw new Failure('usage', sentence, { about: '--base-url' });
    say(`Tokens go to ${url.origin} without encryption, as --allow-http says.`);
  }
  return connect(address, accessToken);
}
