import * as z from 'zod/mini';
import { clearable, list, maxRecordItems, sentBackFields } from './fields.ts';

const policies = ['HostNodePolicyActive', 'HostNodePolicyBanned', 'HostNodePolicyLocalOnly'] as const;

const fields = {
  category: z.string().with(z.describe('UI category used for grouping')),
  host_node_name: z
    .string()
    .with(z.meta({ description: 'Unique identifier, taken from the path', readOnly: true })),
  deprecated: z.boolean().with(z.describe('Deprecated entries are hidden in the UI')),
  description: z.string().with(z.describe('What the host node does')),
  experimental: z.boolean().with(z.describe('Subject to change or removal')),
  function: z.string().with(z.describe('Entry-point function name')),
  input_types: z.string().with(z.describe('Defines input parameters')),
  output_is_list: list(z.boolean(), maxRecordItems).with(z.describe('One flag per output')),
  policy: z.enum(policies).with(z.describe('Whether a host may run the entry, and where')),
  return_names: z.string().with(z.describe('Names of outputs')),
  return_types: z.string().with(z.describe('Types of outputs')),
};

const { host_node_name, ...writable } = fields;

export const maxLeftOpen = 20;

/** In addition to the fields of the contract. Only an extraction writes them. */
const ownFields = {
  display_name: z
    .string()
    .with(z.meta({ description: 'Added by this service: the title that the host shows', readOnly: true })),
  conditional: z.boolean().with(
    z.meta({
      description:
        'Added by this service: true if it is listed only under a condition that the code does not show',
      readOnly: true,
    }),
  ),
  left_open: list(z.string(), maxLeftOpen).with(
    z.meta({
      description:
        'Added by this service: what the code does not show. Each names the field, its part and why. In input_types, null stands for such a value',
      readOnly: true,
    }),
  ),
};

export const HostNodeInput = z.object({
  ...clearable(writable),
  policy: z
    .nullish(z.enum([...policies, '']))
    .with(
      z.describe(
        'To and from HostNodePolicyBanned is for admins, and holds for the name in every version; empty keeps it',
      ),
    ),
});
export type HostNodeInput = z.infer<typeof HostNodeInput>;

export const HostNode = z.partial(z.object({ ...fields, ...ownFields })).with(z.meta({ id: 'HostNode' }));
export type HostNode = z.infer<typeof HostNode>;
HostNodeInput.register(sentBackFields, { names: Object.keys(HostNode.shape) });
