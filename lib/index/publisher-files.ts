import { publishersPath } from '@node-registry/registry-rules/index-paths';
import { foldNodeId } from '@node-registry/registry-rules/names';
import {
  PublicPublisher,
  type PublisherProfile,
  type Publishers,
} from '@node-registry/registry-rules/schemas/index-files';
import { beginning, firstOf } from '@node-registry/site/entry';
import { json, refreshFile } from '../bucket/public-file.ts';
import type { Context } from '../context.ts';
import { pickFields, publisherRecord, type PublisherRecord } from '../registry/records.ts';
import { publisherKey } from '../store/keys.ts';
import { get } from '../store/read.ts';

export const publishersFile = json<Publishers>(publishersPath, 'publishers');

/**
 * Updates the profiles of some publishers. One file holds all of them, because a publisher rarely changes, and
 * the lists that need them are written together.
 */
export function refreshPublishers(
  context: Context,
  ids: readonly string[],
  onlyIfDifferent = false,
): Promise<'written' | 'unchanged'> {
  const next = async (current: Publishers | undefined) => {
    const records = await get(context, ...ids.map(publisherKey));
    const profiles = new Map(current?.publishers.map((profile) => [foldNodeId(profile.id), profile]));
    for (const [place, id] of ids.entries()) {
      const record = publisherRecord(records[place]);
      if (record && !record.banned && record.moved_to === undefined)
        profiles.set(foldNodeId(id), profileOf(record));
      else profiles.delete(foldNodeId(id));
    }
    if (!current && profiles.size === 0) return undefined;
    return { publishers: [...profiles.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) };
  };
  return refreshFile(context, publishersFile, next, onlyIfDifferent);
}

/* Anyone may make publishers, and each change of one reads and writes the file of all. */
/** All that a person may write: the publisher's page has no other source. */
const maxDescription = 2000;
const maxAddress = 300;

function profileOf(record: PublisherRecord): PublisherProfile {
  const names = firstOf(Object.values(record.members).flatMap(({ name }) => name || []));
  const { description, source_code_repo, support, website, ...profile } = pickFields(record, PublicPublisher);
  const addresses = Object.entries({ source_code_repo, support, website });
  return {
    ...profile,
    ...(description && { description: beginning(description, maxDescription) }),
    ...Object.fromEntries(addresses.filter(([, address]) => address && address.length <= maxAddress)),
    id: record.id,
    ...(names.length > 0 && { member_names: names }),
  };
}
