// What people do for themselves, where the stage has selfService=on
import { router } from '../lib/http/router.ts';
import { credentialRoutes } from '../lib/self-service/credentials.ts';
import { memberRoutes } from '../lib/self-service/members.ts';
import { nodeRoutes } from '../lib/self-service/nodes.ts';
import { publisherRoutes } from '../lib/self-service/publishers.ts';
import { userRoutes } from '../lib/self-service/users.ts';

export const handler = router([
  ...userRoutes,
  ...publisherRoutes,
  ...nodeRoutes,
  ...memberRoutes,
  ...credentialRoutes,
]);
