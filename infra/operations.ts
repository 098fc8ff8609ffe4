import { readdir } from 'node:fs/promises';
import type { Contract, PaidContract } from '../lib/contract.ts';
import type { Deployed, Deployment } from '../lib/deployment.ts';
import { credentials, members } from '../lib/contracts/self-service/members.ts';
import { contracts as publishers } from '../lib/contracts/self-service/publishers.ts';
import { contracts as users } from '../lib/contracts/self-service/users.ts';

/** An operation with everything from its file under lib/contracts. */
export interface Operation extends Deployment {
  contract: Contract;
}

/** Every operation, so that none can be missing from generated files. */
export async function loadOperations(): Promise<Operation[]> {
  const folder = new URL('../lib/contracts/', import.meta.url);
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort();
  return Promise.all(
    files.map(async (file) => {
      const exported: object[] = Object.values(await import(new URL(file, folder).href));
      const deployed = exported.find((each): each is Deployed => 'deployment' in each);
      if (!deployed) throw new Error(`lib/contracts/${file} does not say how its operation is deployed.`);
      return { contract: deployed.contract, ...deployed.deployment() };
    }),
  );
}

/** The contracts of self-service: one function has all their routes. */
export const selfServiceContracts: readonly Contract[] = [users, publishers, members, credentials].flatMap(
  (each) => Object.values<Contract>(each).sort((a, b) => (a.name < b.name ? -1 : 1)),
);

/** Clients in use send this one with a slash at its end. The framework would give both routes one name. */
export const slashedRoute = 'GET /users/publishers';

/** The file of an operation in `functions` and `events`. */
export function fileOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export async function loadContracts(): Promise<Contract[]> {
  return (await loadOperations()).map(({ contract }) => contract);
}

export async function loadPaidContracts(): Promise<PaidContract[]> {
  return (await loadContracts()).filter((contract): contract is PaidContract => contract.price !== undefined);
}
