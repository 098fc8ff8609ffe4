import * as config from '../../lib/config.ts';

/** Every variable of the functions by name. */
export const variables = Object.assign(
  {},
  ...Object.values(config).map((member) =>
    typeof member === 'function' && 'variables' in member ? member.variables() : {},
  ),
) as config.Variables;
