// npm run publish-node -- …: npm starts it in the repository, but the person is in another folder.
import { runToExitCode } from '@node-registry/publish-node/program';
import { bucketName, localAddress, ports } from './addresses.ts';

// The packed command doesn't know this stack, whose ports may be moved.
process.env.NODE_REGISTRY_URL ??= localAddress(ports.api);
process.env.NODE_REGISTRY_DOWNLOADS_URL ??= `${localAddress(ports.s3)}/${bucketName}`;
process.chdir(process.env.INIT_CWD ?? '.');
await runToExitCode(process.argv.slice(2));
