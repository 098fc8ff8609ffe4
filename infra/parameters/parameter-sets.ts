import { requiredParameters } from '../plugins/packages.ts';

const full = {
  ...requiredParameters,
  imageProviderKey: 'secretsmanager:image-key',
  videoProviderKey: 'ssm:/node-registry/prod/video-provider-key',
  secretsKeyArn: 'arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab',
  tokenKeySet: '{"keys":[{"kty":"RSA","kid":"1","n":"AQAB","e":"AQAB"}]}',
  notifications: 'relay',
  selfService: 'on',
  proxyAccess: 'claim',
  proxyClaim: 'plan=team',
  loginClientId: 'registry',
  loginOrigins: 'https://login.example.com',
  accountDomainName: 'account.example.com',
  accountCertificateArn:
    'arn:aws:acm:us-east-1:123456789012:certificate/1234abcd-12ab-34cd-56ef-1234567890ce',
  corsOrigins: 'https://a.example.com,https://b.example.com',
  finalizeConcurrency: '5',
  proxyConcurrency: '10',
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/1234abcd-12ab-34cd-56ef-1234567890ab',
  generatedUrl: 'off',
  hostedZoneId: 'Z1234567890',
  alarmTopicArn: 'arn:aws:sns:us-east-1:123456789012:alarms',
  dashboard: 'on',
  noticeTopicArn: 'arn:aws:sns:us-east-1:123456789012:notices',
  accessLogs: 'on',
  site: 'on',
  siteDomainName: 'nodes.example.com',
  siteCertificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/1234abcd-12ab-34cd-56ef-1234567890cd',
  webAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/nodes/1234abcd-12ab-34cd-56ef-1234567890ab',
  administrators: 'arn:aws:iam::123456789012:user/ada,arn:aws:iam::123456789012:user/grace',
  archiveAdministratorArn: 'arn:aws:iam::123456789012:role/archives',
};

/** The stages that are packaged to inspect what would be deployed. */
export const parameterSets = {
  /** As few parameters as possible. */
  default: requiredParameters,
  /** A stage whose providers notify callers themselves. */
  direct: { ...requiredParameters, notifications: 'direct' },
  /** Without a distribution, with another account's key, and with every function restarted. */
  minimal: {
    ...requiredParameters,
    restart: '2026-11-21T12:00:00Z',
    downloadBaseUrl: 'https://cdn.example.com',
    videoProviderKey: 'secretsmanager:arn:aws:secretsmanager:us-east-1:210987654321:secret:video-key-AbCdEf',
  },
  /** Everything that can be switched on. */
  full,
} satisfies Record<string, Record<string, string>>;
