// What people do for themselves, where the stage has selfService=on
import { router } from '../lib/http/router.ts';
import { memberRoutes } from '../lib/self-service/members.ts';
import { publisherRoutes } from '../lib/self-service/publishers.ts';
import { userRoutes } from '../lib/self-service/users.ts';

export const handler = router([...userRoutes, ...publisherRoutes, ...memberRoutes]);
