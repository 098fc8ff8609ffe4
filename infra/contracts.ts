import { readdir } from 'node:fs/promises';
import type { Contract, PriceRule } from '../lib/contract.ts';

/** Every contract under lib/contracts, so that no operation can be left out of what is made from them. */
export async function loadContracts(): Promise<Contract[]> {
  const folder = new URL('../lib/contracts/', import.meta.url);
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort();
  const modules = await Promise.all(files.map((file) => import(new URL(file, folder).href)));
  // A file may export schemas next to its contract.
  const isContract = (exported: unknown) => 'method' in Object(exported);
  return modules.flatMap((exported) => Object.values<Contract>(exported).filter(isContract));
}

export type PaidContract = Contract & { price: PriceRule };

export async function loadPaidContracts(): Promise<PaidContract[]> {
  return (await loadContracts()).filter((contract): contract is PaidContract => contract.price !== undefined);
}
