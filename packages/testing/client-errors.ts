import { RegistryError } from '@node-registry/registry-client';

/** The error of a call that must fail. */
export async function errorOf(call: Promise<unknown>): Promise<RegistryError> {
  const error = await call.then(() => undefined).catch((thrown: unknown) => thrown);
  if (!(error instanceof RegistryError)) throw new Error('The call did not end with a RegistryError.');
  return error;
}
