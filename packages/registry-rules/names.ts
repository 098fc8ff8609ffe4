import * as z from 'zod/mini';
import { hasNoHiddenCharacters, hiddenMessage } from './hidden-characters.ts';

const id = z
  .string()
  .check(
    z.maxLength(100),
    z.regex(
      /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/,
      'must be letters, digits, ".", "_" or "-", beginning and ending with a letter or digit',
    ),
  );

export const NodeId = id.with(z.describe('Unique identifier of the node; case does not matter'));

export const PublisherId = id.with(z.describe('Unique identifier of the publisher; case does not matter'));

/** A name of the maximum length takes 600 bytes as UTF-8, well inside the 1,024 of a DynamoDB sort key. */
export const HostNodeName = z
  .string()
  .check(
    z.overwrite(decodeEscapes),
    z.minLength(1),
    z.maxLength(200),
    z.refine((name) => name.isWellFormed(), 'must be valid Unicode'),
    z.refine(hasNoHiddenCharacters, hiddenMessage),
    z.refine(isSendable, 'must not be "." or "..", which no client can send in a path'),
  )
  .with(
    z.describe(
      'Unique identifier of the host node inside its node version: any text, percent-encoded in the path. A gateway decodes the path before it chooses the route, so encode "/", "?", "#" and "%" twice ("/" as "%252F").',
    ),
  );

export function isSendable(name: string): boolean {
  return name !== '.' && name !== '..';
}

/**
 * Decodes the escapes that a client encodes twice, because a gateway would route by the decoded characters.
 * Every other "%" is part of the name.
 */
function decodeEscapes(name: string): string {
  return name.replace(/%(?:2F|3F|23|25)/gi, (escaped) => decodeURIComponent(escaped));
}

/** A separate file, because pages fold ids as well, but load no schemas. */
export { foldNodeId } from './fold-node-id.ts';
