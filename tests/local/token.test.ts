import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadSigningKey, startIssuer } from '../../tools/local/issuer.ts';
import { directory } from '@node-registry/testing/folders';
import { runProgram } from '@node-registry/testing/shell';

const key = await loadSigningKey(directory);

/** Any function of the tests checks the signature of such a token. */
function claimsOf(token: string) {
  return JSON.parse(Buffer.from(String(token.split('.')[1]), 'base64url').toString());
}

describe('npm run token', () => {
  test('prints nothing but a token, wherever the data of its stack is, and says that no stack runs', async () => {
    const issuer = await startIssuer(0, key);
    const env = {
      LOCAL_DIRECTORY: join(directory, 'elsewhere'),
      LOCAL_PORT_OFFSET: String(issuer.port - 3001),
    };
    const print = () =>
      runProgram(process.execPath, ['tools/local/token.ts', '--user', 'root', '--admin'], { env });
    const { code, stdout, stderr } = await print();
    await issuer.stop();

    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^[\w-]+(?:\.[\w-]+){2}\n$/);
    expect(claimsOf(stdout)).toMatchObject({ sub: 'root', role: 'admin' });
    expect(await print()).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^No local stack runs on \S+: start it with npm start, or set its LOCAL_PORT_OFFSET\.\n$/,
      ),
    });
  });
});
