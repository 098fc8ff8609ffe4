// $default: every method and path that no operation has
import { unknownRoute } from '../lib/http/unknown-route.ts';

export const handler = unknownRoute;
