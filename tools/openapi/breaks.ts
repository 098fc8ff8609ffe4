/** Why each break since the last release is worth it; a break without a reason is not released. */
const reasons: readonly (readonly [change: RegExp, reason: string])[] = [
  [
    /versions 409\.error no longer knows idempotency_consumed/,
    'a publish never answered it: it spends nothing, so its key is released',
  ],
  [
    /identifier\.\w+ may now be (?:absent|null)$/,
    'a pair that lacks a field is an entry with an error now, which repeats it as it was sent; the request was a 400',
  ],
  [
    /body\.host_node_name is gone/,
    'the interface has it in answers only; it was ignored in a request and still is',
  ],
  [
    /body\.node\.id no longer has its form/,
    'any text was checked there; one that is not the id of the path is a 400 as before',
  ],
];

export function reasonOf(change: string): string | undefined {
  return reasons.find(([pattern]) => pattern.test(change))?.[1];
}
