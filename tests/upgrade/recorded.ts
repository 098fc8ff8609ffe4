import { release } from '../../infra/release.ts';

/** The release that today's code is compared with: the last one, or this one until it has a next. */
export const recorded = release.before ?? release.name;
