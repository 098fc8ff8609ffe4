import { expect, test } from '@jest/globals';
import { environmentCredentials, serviceHost } from '../../../lib/aws/signing.ts';
import { setVariables } from '../../support/variables.ts';

test('credentials are what the environment holds, with a session token if there is one', async () => {
  setVariables({ AWS_ACCESS_KEY_ID: 'first', AWS_SECRET_ACCESS_KEY: 'secret' });
  expect(await environmentCredentials()).toEqual({ accessKeyId: 'first', secretAccessKey: 'secret' });

  setVariables({ AWS_ACCESS_KEY_ID: 'second', AWS_SESSION_TOKEN: 'session' });
  expect(await environmentCredentials()).toEqual({
    accessKeyId: 'second',
    secretAccessKey: 'secret',
    sessionToken: 'session',
  });
});

test.each(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])(
  'credentials without %s fail with a sentence',
  async (name) => {
    setVariables({ [name]: '' });

    await expect(environmentCredentials()).rejects.toThrow(
      new Error('There are no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.'),
    );
  },
);

// https://docs.amazonaws.cn/en_us/aws/latest/userguide/endpoints-Ningxia.html
test('names a host of AWS, and one in China by the domain of its own', () => {
  expect(serviceHost('s3', 'eu-west-1')).toBe('s3.eu-west-1.amazonaws.com');
  expect(serviceHost('ssm', 'cn-northwest-1')).toBe('ssm.cn-northwest-1.amazonaws.com.cn');
});
