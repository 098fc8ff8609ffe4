import { fileOf, loadContracts } from '../../infra/operations.ts';

const contracts = await loadContracts();

/** The files of all operations, and of those that cost something, as `functions` and `events` have them. */
export const endpointNames = contracts.map(({ name }) => fileOf(name));
export const proxyNames = contracts.filter(({ price }) => price).map(({ name }) => fileOf(name));
