import { seed as seedDemo } from '../../tools/local/seed.ts';
import { emptyTable } from './table-image.ts';

/** A table with only the demo publisher and its nodes. */
export async function seed(): Promise<void> {
  await emptyTable();
  await seedDemo();
}
