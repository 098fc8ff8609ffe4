import * as z from 'zod/mini';
import { clearable } from './clearable.ts';
import { list, maxRecordItems } from './lists.ts';

const policies = ['HostNodePolicyActive', 'HostNodePolicyBanned', 'HostNodePolicyLocalOnly'] as const;

const fields = {
  category: z.string().with(z.describe('UI category used for grouping')),
  deprecated: z.boolean().with(z.describe('Deprecated entries are hidden in the UI')),
  description: z.string(),
  experimental: z.boolean().with(z.describe('Subject to change or removal')),
  function: z.string().with(z.describe('Entry-point function name')),
  input_types: z.string().with(z.describe('Defines input parameters')),
  output_is_list: list(z.boolean(), maxRecordItems).with(z.describe('One flag per output')),
  return_names: z.string().with(z.describe('Names of outputs')),
  return_types: z.string().with(z.describe('Types of outputs')),
};

export const HostNodeInput = z.object({
  ...clearable(fields),
  policy: z
    .nullish(z.enum([...policies, '']))
    .with(z.describe('To and from HostNodePolicyBanned is for admins; empty keeps it')),
});
export type HostNodeInput = z.infer<typeof HostNodeInput>;

export const HostNode = z
  .partial(
    z.object({
      ...fields,
      policy: z.enum(policies),
      host_node_name: z.string().with(z.describe('Unique identifier, taken from the path')),
    }),
  )
  .with(z.meta({ id: 'HostNode' }));
export type HostNode = z.infer<typeof HostNode>;
