import { command } from '../command.ts';
import { erasePerson } from '../registry/erasure.ts';

export const erase = command({
  parameters: ['user'],
  summary: 'Erase a person from all members, histories and usage records, and keep the sums',
  notes:
    'USER is the claim of the access token that names users. Reads the whole table.\nusage shows what the person spent under a hash of the name. docs/spending.md says what stays.',
  options: {
    force: { about: 'Also where the person is the last owner of a publisher' },
  },
  isResumable: true,
  examples: [`person erase 'auth0|1234'`],
  impact: async ({ user }) => `erases the person "${user}" from every record, which cannot be undone`,
  async run({ user }, { force }) {
    const { records, problems } = await erasePerson(user, { force });
    return {
      data: { records, problems },
      text:
        records > 0
          ? `The person was erased from ${records - problems.length} records.`
          : `No record names "${user}": is the name right?`,
      problem: problems.length > 0 ? problems.join('\n') : undefined,
    };
  },
});
