import { describeInterleavings } from './cases.ts';
import { registry } from './registry.ts';

describeInterleavings(registry, ({ by }) => by !== 'administrator');
