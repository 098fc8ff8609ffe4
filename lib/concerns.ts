import * as z from 'zod/mini';
import {
  accessTokenSwitch,
  ciIssuers,
  count,
  creditCeilings,
  endpointUrl,
  keyHeader,
  limit,
  list,
  nonEmpty,
  secureOrLoopbackUrl,
} from './environment-values.ts';

/*
 * Every environment variable of the functions, by concern. docs/configuration.md is generated from it.
 * A provider's key comes from the deployment as a reference, so that it is in no template: `ssm:` and the name of
 * a SecureString parameter, or `secretsmanager:` and the name of a secret. Anything else is the key itself.
 * Each concern is a constant of its own, so that a bundle has only those that its function reads.
 */

export const tokens = () =>
  z.object({
    TOKEN_ISSUER: secureOrLoopbackUrl.with(z.describe('The issuer (`iss`) of access tokens.')),
    TOKEN_AUDIENCE: nonEmpty.with(z.describe('The audience (`aud`) of access tokens.')),
    TOKEN_JWKS_URL: secureOrLoopbackUrl.with(
      z.describe('Where the issuer publishes its key set; refetched for an unknown key.'),
    ),
    TOKEN_JWKS: z
      .optional(z.string())
      .with(z.describe('The key set itself as JSON, so that a cold start fetches nothing.')),
    ID_TOKENS: z
      ._default(z.enum(['refused', 'accepted']), 'refused')
      .with(z.describe('Whether a token that calls itself an ID token (`token_use`) is accepted.')),
    ADMIN_CLAIM: z
      ._default(nonEmpty, 'role')
      .with(z.describe('The claim that marks an admin; dots lead into nested claims.')),
    ADMIN_CLAIM_VALUE: z
      ._default(nonEmpty, 'admin')
      .with(z.describe('The value of that claim (or one of its values).')),
    PUBLISH_ACCESS_TOKEN: accessTokenSwitch.with(
      z.describe('`optional` lets publishers in that send only a personal access token.'),
    ),
    PROXY_ACCESS_TOKEN: accessTokenSwitch.with(
      z.describe('`optional` opens the video operations to callers without a token; for closed networks.'),
    ),
  });

export const ci = () =>
  z.object({
    CI_AUDIENCE: list().with(
      z.describe(
        'The audiences that ID tokens of CI jobs may name, such as the address of the API, separated by commas. Without one, no such token is accepted.',
      ),
    ),
    CI_ISSUERS: ciIssuers().with(
      z.describe(
        'Issuers of such tokens next to GitHub Actions and gitlab.com: `github` or `gitlab`, the issuer and, if it is not the usual one, the address of its key set; commas separate several.',
      ),
    ),
  });

export const metrics = () =>
  z.object({
    METRICS_NAMESPACE: z
      .optional(nonEmpty)
      .with(
        z.describe('The CloudWatch namespace of the metrics in the log lines; without it, lines have none.'),
      ),
  });

export const registry = () =>
  z.object({
    TABLE_NAME: nonEmpty.with(z.describe('The DynamoDB table.')),
  });

export const publishing = () =>
  z.object({
    MAX_PENDING_VERSIONS: count(100).with(
      z.describe('How many versions of a publisher may wait for their archives at the same time.'),
    ),
    MAX_NEW_NODES_PER_DAY: count(50).with(
      z.describe('How many new nodes a publisher may publish per UTC day.'),
    ),
  });

export const bucket = () =>
  z.object({
    AWS_REGION: nonEmpty.with(z.describe('The region of the bucket; set by Lambda itself.')),
    BUCKET_NAME: nonEmpty.with(z.describe('The S3 bucket of the archives.')),
    AWS_ENDPOINT_URL_S3: z
      .optional(endpointUrl)
      .with(z.describe('Another S3 endpoint, addressed path-style; the SDK reads it too.')),
  });

export const downloads = () =>
  z.object({
    DOWNLOAD_BASE_URL: z
      .optional(secureOrLoopbackUrl)
      .with(
        z.describe(
          'Where published archives are downloaded, such as a CDN before the bucket; by default the bucket itself.',
        ),
      ),
  });

export const archives = () =>
  z.object({
    MAX_ARCHIVE_BYTES: count(100_000_000).with(z.describe('The largest archive that is published.')),
    MAX_ARCHIVE_ENTRIES: count(10_000).with(z.describe('The most files and folders in an archive.')),
    MAX_UNPACKED_BYTES: count(1_000_000_000).with(z.describe('The most bytes that an archive unpacks to.')),
    MAX_UNPACKED_RATIO: count(100).with(z.describe('How many times its own size an archive may unpack to.')),
  });

export const extraction = () =>
  z.object({
    EXTRACTION_TAGS: z
      ._default(z.enum(['on', 'off']), 'on')
      .with(
        z.describe(
          'Whether what the code of a version calls, such as `calls-eval`, becomes part of its `tags_admin`.',
        ),
      ),
  });

export const imageProvider = () =>
  z.object({
    IMAGE_PROVIDER_URL: secureOrLoopbackUrl.with(z.describe('The base address of the image provider.')),
    IMAGE_PROVIDER_KEY: nonEmpty.with(
      z.describe('The key for the image provider: `ssm:<name>`, `secretsmanager:<name>`, or the key itself.'),
    ),
    IMAGE_PROVIDER_KEY_HEADER: z
      ._default(keyHeader(), 'x-api-key')
      .with(z.describe('The header that carries the key.')),
    IMAGE_PROVIDER_KEY_SCHEME: z
      ._default(z.string(), '')
      .with(z.describe('What stands before the key in that header.')),
  });

export const videoProvider = () =>
  z.object({
    VIDEO_PROVIDER_URL: secureOrLoopbackUrl.with(z.describe('The base address of the video provider.')),
    VIDEO_PROVIDER_KEY: nonEmpty.with(
      z.describe('The key for the video provider: `ssm:<name>`, `secretsmanager:<name>`, or the key itself.'),
    ),
    VIDEO_PROVIDER_KEY_HEADER: z
      ._default(keyHeader(), 'authorization')
      .with(z.describe('The header that carries the key.')),
    VIDEO_PROVIDER_KEY_SCHEME: z
      ._default(nonEmpty, 'Token')
      .with(z.describe('What stands before the key in that header.')),
    VIDEO_PROVIDER_MODEL_PREFIX: z
      ._default(nonEmpty, 'vid')
      .with(z.describe('How the provider spells the `vid` that model names begin with.')),
  });

export const usageRecords = () =>
  z.object({
    USAGE_RECORDS: z
      ._default(z.enum(['on', 'off']), 'on')
      .with(
        z.describe('`off` keeps no usage records and knows no limits and no blocks; for closed networks.'),
      ),
  });

export const spending = () =>
  z.object({
    CREDITS_PER_DAY: limit.with(z.describe('Credits that each caller may spend per UTC day; 0 is no limit.')),
    TASKS_PER_DAY: limit.with(z.describe('Tasks that each caller may start per UTC day; 0 is no limit.')),
    REQUESTS_PER_MINUTE: limit.with(
      z.describe('Paid requests that each caller may send per minute; 0 is no limit.'),
    ),
    CREDIT_CEILINGS: creditCeilings().with(
      z.describe(
        'The most credits that a task may cost, by operation, `operation/model` or `operation/model/seconds`; for `relightImage` it is the price.',
      ),
    ),
  });

export const notifications = () =>
  z.object({
    NOTIFICATIONS: z
      ._default(z.enum(['direct', 'relay']), 'direct')
      .with(
        z.describe(
          'Who notifies callers of their tasks: `direct` gives the provider their address; with `relay` this service does.',
        ),
      ),
  });

export const relay = () =>
  z.object({
    NOTIFICATION_URL: secureOrLoopbackUrl.with(
      z.describe('Where providers notify this service; needed with `relay` only.'),
    ),
  });

export const notificationSignatures = () =>
  z.object({
    IMAGE_NOTIFICATION_KEY: z
      .optional(nonEmpty)
      .with(
        z.describe(
          'The key with which the image provider signs its notifications, given as `IMAGE_PROVIDER_KEY` is; without it no signature is asked for.',
        ),
      ),
    IMAGE_NOTIFICATION_KEY_HEADER: z
      ._default(keyHeader(), 'x-signature')
      .with(z.describe('The header with the signature: HMAC-SHA256 of the body, in hexadecimal digits.')),
    VIDEO_NOTIFICATION_KEY: z.optional(nonEmpty).with(z.describe('The same key of the video provider.')),
    VIDEO_NOTIFICATION_KEY_HEADER: z
      ._default(keyHeader(), 'x-signature')
      .with(z.describe('The same header of the video provider.')),
  });

export const deliveries = () =>
  z.object({
    NOTIFICATION_SIGNING_KEY: nonEmpty.with(
      z.describe(
        'The Ed25519 key that signs notifications, `whsk_…`, or two while it is replaced: `ssm:<name>`, `secretsmanager:<name>`, or the keys themselves.',
      ),
    ),
  });

export const receivers = () =>
  z.object({
    NOTIFY_LOCALHOST: z
      ._default(z.enum(['refused', 'accepted']), 'refused')
      .with(z.describe('`accepted` notifies receivers on localhost, too; for the local stack.')),
  });

export const videoRules = () =>
  z.object({
    VIDEO_EXTEND_SOURCE: z
      ._default(z.enum(['both', 'either']), 'both')
      .with(z.describe('`either` takes `video_url` without `video_creation_id`, and the reverse.')),
    VIDEO_MODELS_EXTRA: list().with(
      z.describe('Model names to accept in addition to the listed ones, separated by commas.'),
    ),
  });

export const secretStore = () =>
  z.object({
    AWS_REGION: nonEmpty.with(z.describe('The region of the secrets; set by Lambda itself.')),
    AWS_ENDPOINT_URL_SSM: z.optional(endpointUrl).with(z.describe('Another endpoint for SSM parameters.')),
    AWS_ENDPOINT_URL_SECRETS_MANAGER: z
      .optional(endpointUrl)
      .with(z.describe('Another endpoint for Secrets Manager.')),
  });
