import { mkdir } from 'node:fs/promises';
import S3rver from '@20minutes/s3rver';
import type { S3Event } from 'aws-lambda';
import { corsDocument, localCorsRules } from './cors-rules.ts';
import { s3Conditions } from './s3-conditions.ts';
import { encodeEventKey } from './s3-event-key.ts';
import { answerRefusals } from './s3-request.ts';
import { requireSignature } from './s3-signatures.ts';
import { s3VersionedStore } from './s3-versioned-store.ts';
import { S3Versions } from './s3-versions.ts';

interface Server {
  url: string;
  stop: () => Promise<void>;
  /** Called for every object that is put or copied, as S3 sends its events. */
  onObjectCreated: (listener: (event: S3Event) => void) => void;
}

/** Starts the embedded S3 server, which checks signatures and expiry. The parts before it add what else S3 does. */
export async function startS3(port: number, directory: string, ...bucketNames: string[]): Promise<Server> {
  await mkdir(directory, { recursive: true });
  const configs = [corsDocument(await localCorsRules())];
  const server = new S3rver({
    port,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: bucketNames.map((name) => ({ name, configs })),
  });
  const versions = new S3Versions(server.store);
  server.middleware.unshift(
    answerRefusals,
    requireSignature,
    s3Conditions(versions),
    s3VersionedStore(versions),
  );
  const address = await server.run();
  const onObjectCreated: Server['onObjectCreated'] = (listener) => {
    server.on('event', (event: S3Event) => {
      if (event.Records.every(({ eventName }) => eventName.startsWith('ObjectCreated:'))) {
        listener(withEncodedKeys(event));
      }
    });
  };
  return { url: `http://localhost:${address.port}`, stop: () => server.close(), onObjectCreated };
}

/** The embedded server's own events have the keys as they are. */
function withEncodedKeys({ Records }: S3Event): S3Event {
  return {
    Records: Records.map((record) => {
      const object = { ...record.s3.object, key: encodeEventKey(record.s3.object.key) };
      return { ...record, s3: { ...record.s3, object } };
    }),
  };
}
