/** Every provider. Its variables begin with its name, and its adapter is `<name>-provider.ts`. */
export const providerNames = ['image', 'video'] as const;

export type ProviderName = (typeof providerNames)[number];

export function isProviderName(name: unknown): name is ProviderName {
  return providerNames.some((each) => each === name);
}
