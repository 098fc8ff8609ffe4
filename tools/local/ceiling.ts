import { loadPaidContracts } from '../../infra/operations.ts';
import { ceilingOf } from '../../lib/attempts/price.ts';

/** The most credits that a request may cost, by the rule that reserves them. */
export async function ceilingFor(operation: string | null, body: object): Promise<number | undefined> {
  const contract = (await loadPaidContracts()).find(({ name }) => name === operation);
  return contract && ceilingOf(contract.name, contract.price, body);
}
