import * as config from '../../lib/config.ts';
import { publicFiles, registryCaller, type Right } from '../../lib/deployment.ts';

/** The variables and rights of the one function of all routes. */
export const selfServiceDeployment = {
  variables: [
    ...registryCaller,
    ...publicFiles,
    config.signIn,
    config.selfService,
    config.proxyAccess,
    config.spending,
  ],
  rights: [
    {
      table: ['BatchGetItem'],
      keys: ['publishers', 'people', 'newPublishers', 'blocks', 'nodes', 'callers', 'tasks', 'pending'],
    },
    { table: ['Query'], keys: ['publishers', 'people', 'nodes', 'owned', 'usage'] },
    { index: 'versions', keys: ['nodes'] },
    { table: ['PutItem', 'UpdateItem', 'DeleteItem'], keys: ['publishers', 'people', 'newPublishers'] },
    // A withdrawn version, and a dropped one.
    { table: ['UpdateItem', 'DeleteItem'], keys: ['nodes', 'pending'] },
    // Bans and moves are the administration's, and archives the finalizer's.
    {
      table: ['PutItem', 'UpdateItem'],
      neverChanges: [
        ...['banned', 'ban_reason', 'moved_to', 'moved_at', 'moved_by', 'bans', 'before_ban'],
        ...['archive_key', 'sha256', 'published_at', 'publisher_id'],
      ],
    },
  ] as const satisfies readonly Right[],
};
