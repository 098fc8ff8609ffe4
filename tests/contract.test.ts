import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler as bulkNodeVersions } from '../functions/bulk-node-versions.ts';
import { handler as publishNodeVersion } from '../functions/publish-node-version.ts';
import { handler as updateHostNode } from '../functions/update-host-node.ts';
import { handler as updateNode } from '../functions/update-node.ts';
import { parseAsWritten } from '../lib/json.ts';
import { loadContracts } from '../infra/operations.ts';
import { invoke, type Result, sampleBody } from './support/invoke.ts';
import { loggedLines } from './support/logged-lines.ts';
import { misbehave, type ProxyName, proxies, simulation } from './support/proxies.ts';
import { addPublishers, publish } from './support/publish.ts';
import { addNode, storedNode } from './support/registry.ts';
import { bearer } from './support/tokens.ts';
import { setVariables } from './support/variables.ts';

/*
 * The contract, in its own order. Each row quotes a row or a sentence of it and says what is accepted and what is
 * rejected, on both sides of each limit. Where the contract states nothing, the row shows that the value passes.
 */

interface Row {
  /** Values that arrive as they were sent. */
  takes?: readonly unknown[];
  /** Values that arrive as something that means the same. */
  reads?: readonly (readonly [sent: unknown, arrived: unknown])[];
  /** Values that are a 400, and what the caller is told. */
  rejects?: readonly (readonly [value: unknown, message: string])[];
  /** Any value is accepted and changes nothing, because the service itself knows it. */
  isComputed?: boolean;
  /** The value that goes out for a field that is absent, null, "" or []. */
  standard?: unknown;
  isRequired?: boolean;
  /** Only an admin may change it: from anyone else 403 with its name, unless it is what is stored. */
  isForAdmins?: boolean;
}

/** Rows by what they quote. */
type Table = Readonly<Record<string, Row>>;

const texts = { isText: 'must be text', isFlag: 'must be true or false', isWhole: 'must be a whole number' };
const noNumber = 'must be a number';
const noList = 'must be a list';
const noWebAddress = 'must be an absolute http or https URL';
const noImage = 'must be base64 data, an absolute URL or a data URI';
const noAddress = 'must be an absolute URL';
const isRun = 'must not be a URL that runs code, such as javascript:';

const anyText: Row = {
  takes: ['x', ' ', 'naïve 画像 🖼', 'x'.repeat(2001)],
  rejects: eachIs([5, {}], texts.isText),
};
const flag: Row = {
  takes: [true, false],
  rejects: eachIs(['true', 1], texts.isFlag),
};
const int32 = wholeNumber(-(2 ** 31), 2 ** 31 - 1);
const webAddress: Row = {
  takes: ['https://example.com/a', 'http://localhost:1/x?y=z#a'],
  reads: [[' https://example.com/a\n', 'https://example.com/a']],
  rejects: [
    ...eachIs('example.com|/path|//example.com|ftp://a.com|https:///x|http:x|https://a b', noWebAddress),
    [5, texts.isText],
  ],
};
/** "Base64 data or URL". */
const imageSource: Row = {
  takes: [
    ...'iVBOR/w0K+Ggo=|iVBOR_w0K-Ggo|https://example.com/a.png|HTTP://localhost/a|s3://b/a b.png'.split('|'),
    ...'asset:42|ssupload:?id=1|file:///a|data:image/png;base64,iVBORw0=|DATA:;BASE64,iVBO%2Fw0='.split('|'),
    ...['data:image/svg+xml;charset=utf-8;base64,iVBORw0=', 'data:image/svg+xml,%3Csvg/%3E', 'data:,x'],
    'iVBOR/w0K+Ggo='.repeat(100_000),
  ],
  rejects: [
    ...eachIs('no image!|a.b|A|/a.png|//a.com/a|https://|https:///a|:a|data:image/png;base64,', noImage),
    ['data:image/png;base64,*', noImage],
    [5, texts.isText],
  ],
};
const requiredImage: Row = {
  ...imageSource,
  isRequired: true,
  rejects: [...(imageSource.rejects ?? []), [undefined, 'is required'], [null, texts.isText], ['', noImage]],
};
/** A string without a stated form. */
const reference = 'asset:42|ssupload:?id=1|s3://bucket/a.png|a| |https://example.com/a b|iVBORw0='.split('|');

/** Values that get one message. */
function eachIs(values: string | unknown[], message: string): (readonly [value: unknown, message: string])[] {
  const all: unknown[] = typeof values === 'string' ? values.split('|') : values;
  return all.map((value) => [value, message]);
}

function wholeNumber(min: number, max: number, standard?: number): Row {
  return {
    takes: [min, max],
    rejects: [
      [min - 1, `must be at least ${min}`],
      [max + 1, `must be at most ${max}`],
      [min + 0.5, texts.isWhole],
      [String(min), noNumber],
    ],
    standard,
  };
}

function oneOf(values: readonly string[], standard?: string): Row {
  const message = `must be one of ${values.join(', ')}`;
  const others = [`${values[0]} `, values[0]?.toUpperCase(), 'constructor', 1];
  return { takes: values, rejects: others.map((value) => [value, message] as const), standard };
}

function required(row: Row, ...others: unknown[]): Row {
  const [, message = ''] = row.rejects?.[0] ?? [];
  const absent: Row['rejects'] = [undefined, null, '', ...others].map((value) => [
    value,
    value === undefined ? 'is required' : message,
  ]);
  return { ...row, isRequired: true, rejects: [...(row.rejects ?? []), ...absent] };
}

/** An emoji is one character. */
function upTo(maxCharacters: number): Row {
  const message = `must have at most ${maxCharacters} characters`;
  return {
    takes: ['x'.repeat(maxCharacters), '🙂'.repeat(maxCharacters)],
    rejects: [
      ...eachIs(['x'.repeat(maxCharacters + 1), '🙂'.repeat(maxCharacters + 1)], message),
      [5, texts.isText],
    ],
  };
}

const strings: Row = {
  takes: [['x', ''], [], Array(1000).fill('x')],
  rejects: [
    ['x', noList],
    [Array(1001).fill('x'), 'must have at most 1000 items'],
  ],
};
const name: Row = {
  takes: ['x', '', '画像', 'x'.repeat(5000)],
  rejects: eachIs([5, ['x']], texts.isText),
};
const place: Row = {
  takes: [
    ...'|https://example.com/a b|http://x|ssh://git@example.com/a|git@a.com:a/b.git|git://a/b'.split('|'),
    ...'data:image/png;base64,iVBORw0=|./icon.png|icon.png|icons/javascript:x| https://a.com '.split('|'),
  ],
  rejects: [
    ...eachIs('javascript:alert(1)| JavaScript:alert(1)|java\nscript:x|\u0001javascript:x', isRun),
    ...eachIs('vbscript:x|data:text/html,<b>|data:,x|DATA:text/html,x', isRun),
  ],
};
/** A double would round some of these, and writes the others in another way. */
const writtenNumbers = Object.fromEntries(
  '1e20 9007199254740993 -9007199254740992 1e400 -0 1.0 2.50 1E-7 0.1000000000000000055 0.5'
    .split(' ')
    .map((number) => [`n${number}`, [{ of: JSON.rawJSON(number) }]]),
);
const computed: Row = { isComputed: true };

// ---------------------------------------------------------------------------------------------------------------------

describe('Resources and their fields', () => {
  describe('Node', () => {
    const node: Table = {
      'author | string': name,
      'banner_url | string | URL to the node banner': place,
      'category | string | Deprecated; use tags; to be removed in a future version': name,
      'created_at | string, date-time | Creation time of the node': computed,
      'description | string': name,
      'downloads | integer | Number of downloads': computed,
      'repo_stars | integer | Stars on the source repository': computed,
      'icon | string | URL to the node icon': place,
      'latest_version | NodeVersion': computed,
      'license | string | Path to the LICENSE file in the repository': name,
      'name | string | Display name': name,
      'preempted_host_node_names | string[] | Host node names preempted by this node': {
        ...strings,
        isForAdmins: true,
      },
      'publisher | Publisher': computed,
      'rating | number | Average rating': computed,
      'repository | string | URL to the repository': place,
      'search_ranking | integer | Used for sorting search results': {
        takes: [0, -1, 2 ** 31, 2 ** 53 - 1, -(2 ** 53) + 1],
        rejects: [
          [0.5, texts.isWhole],
          ['7', noNumber],
          [2 ** 53, 'must be at most 9007199254740991'],
        ],
        isForAdmins: true,
      },
      'status_detail | string': name,
      'supported_accelerators | string[] | Accelerator kinds the node supports': strings,
      'supported_host_frontend_version | string | Supported host frontend versions': name,
      'supported_host_version | string | Supported host versions': name,
      'supported_os | string[] | Operating systems supported': strings,
      'tags | string[]': strings,
      'tags_admin | string[] | Admin-only tags for security warnings and admin metadata': {
        ...strings,
        isForAdmins: true,
      },
      'translations | object | Translations of node metadata per language; inner shape: not shown': {
        takes: [
          {},
          { fr: { name: 'Nœud' } },
          { fr: 'Nœud', de: 7, it: [1, null], es: null, constructor: 'x' },
          { a: nested(100) },
          writtenNumbers,
        ],
        rejects: eachIs([[], 'x', JSON.rawJSON('1e20')], 'must be an object'),
      },
    };
    rows('update-node', node);
    rows('publish-node-version', node, 'node');

    test('holds "No field is marked required": an empty update is 200', async () => {
      expect((await update({})).status).toBe(200);
    });

    test('holds "id | string | Unique identifier of the node": the one of the path in any spelling, and no other', async () => {
      for (const id of ['Some-Node', 'SOME-NODE', '', null, 7])
        expect([id, (await update({ id })).status]).toEqual([id, 200]);
      const { status, body } = await update({ id: 'other' });

      const message = 'must be the node id of the path';
      expect([status, body.details]).toEqual([400, [{ path: 'body.id', message }]]);
    });

    describe('status | enum | NodeStatusActive, NodeStatusDeleted, NodeStatusBanned', () => {
      test('keeps the status when it is absent, empty or sent back as it stands', async () => {
        for (const status of [undefined, null, '', 'NodeStatusActive'])
          expect((await update({ status })).body.status).toBe('NodeStatusActive');
      });

      test('lets an owner withdraw and restore a node, with its detail', async () => {
        const withdrawn = await update({ status: 'NodeStatusDeleted', status_detail: 'Use Other instead' });
        const sentBack = await update(withdrawn.body);
        const restored = await update({ status: 'NodeStatusActive', status_detail: null });

        const deleted = { status: 'NodeStatusDeleted', status_detail: 'Use Other instead' };
        expect(withdrawn.body).toMatchObject(deleted);
        expect([sentBack.status, sentBack.body.status]).toEqual([200, 'NodeStatusDeleted']);
        expect([restored.status, restored.body.status]).toEqual([200, 'NodeStatusActive']);
      });

      test('rejects a ban by an owner with the name of the command, and changes of a banned node', async () => {
        const banning = await update({ status: 'NodeStatusBanned' });
        await addNode('acme', 'spam', { status: 'NodeStatusBanned' });
        const lifting = await update({ status: 'NodeStatusActive' }, owner, { nodeId: 'spam' });

        const message = expect.stringContaining('node ban');
        expect([banning.status, banning.body.error]).toEqual([400, 'invalid_request']);
        expect(banning.body.details).toEqual([{ path: 'body.status', message }]);
        expect([lifting.status, lifting.body.error]).toEqual([403, 'node_banned']);
      });

      test('rejects another word', async () => {
        const { body } = await update({ status: 'NodeStatusGone' });

        const message = 'must be one of NodeStatusActive, NodeStatusDeleted, NodeStatusBanned';
        expect(body.details).toEqual([{ path: 'body.status', message }]);
      });
    });
  });

  describe('NodeVersion', () => {
    rows(
      'publish-node-version',
      {
        'changelog | string': name,
        'host_node_extract_status | string': computed,
        'createdAt | string, date-time': computed,
        'dependencies | string[]': strings,
        'deprecated | boolean': flag,
        'downloadUrl | string': computed,
        'id | string': computed,
        'node_id | string | Owning node': computed,
        'status_reason | string': computed,
        'supported_accelerators | string[]': strings,
        'supported_host_frontend_version | string': name,
        'supported_host_version | string': name,
        'supported_os | string[]': strings,
        'tags | string[]': strings,
        'tags_admin | string[]': { ...strings, isForAdmins: true },
      },
      'node_version',
    );

    test.each([
      ['1.2.3', '1.2.3'],
      ['v1.2', '1.2.0'],
      ['V2', '2.0.0'],
      ['01.002.3', '1.2.3'],
      ['1.0.0-beta.1', '1.0.0-beta.1'],
      ['1.0.0+cu118', '1.0.0+cu118'],
      [`1.0.0-${'a'.repeat(58)}`, `1.0.0-${'a'.repeat(58)}`],
    ])('holds "version | string | Version label": %j is published as %j', async (version, label) => {
      const { status, body } = await publish({ nodeId: `label-${fresh()}`, version });

      expect([status, body.node_version?.version]).toEqual([201, label]);
    });

    const noVersion = 'must be a semantic version such as 1.2.3 or 2.0.0-beta.1';
    test.each([
      ['nightly', noVersion],
      ['', noVersion],
      ['1-2', noVersion],
      ['2024-01-01', noVersion],
      ['1.2-rc.1', `${noVersion}; write 1.2.0-rc.1`],
      ['1.0.0 cu118', noVersion],
      ['1.0 beta', `${noVersion}; write 1.0.0-beta.0`],
      ['1.0.0rc1', `${noVersion}; write 1.0.0-rc.1`],
      ['1.0b2', `${noVersion}; write 1.0.0-beta.2`],
      [`1.0.0-${'a'.repeat(59)}`, 'must have at most 64 characters'],
      [7, texts.isText],
      [undefined, 'is required'],
    ])('holds "version": %j is rewritten into nothing else', async (version, message) => {
      const { status, body } = await publish({ nodeId: 'label', fields: { version } });

      expect([status, body.details]).toEqual([400, [{ path: 'body.node_version.version', message }]]);
    });
  });

  describe('Publisher', () => {
    test('appear in the answer of an update', async () => {
      const { publisher } = (await update({})).body;

      const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      const member = (id: string, role: string) => ({ id, role, user: { id } });
      const members = [member('mats', 'member'), member('olga', 'owner')];
      expect(publisher).toEqual({ createdAt, id: 'acme', name: 'acme', members });
    });
  });

  describe('HostNode (entry inside a node version)', () => {
    rows('update-host-node', {
      'category | string | UI category used for grouping': name,
      'deprecated | boolean | Deprecated entries are hidden in the UI': flag,
      'description | string': name,
      'experimental | boolean | Subject to change or removal': flag,
      'function | string | Entry-point function name': name,
      'input_types | string | Defines input parameters': name,
      'output_is_list | boolean[] | One flag per output': {
        takes: [[], [true, false], Array(1000).fill(true)],
        rejects: [
          [true, noList],
          [Array(1001).fill(true), 'must have at most 1000 items'],
        ],
      },
      'return_names | string | Names of outputs': name,
      'return_types | string | Types of outputs': name,
    });

    test('holds "host_node_name | Unique identifier (response only)": the path has it', async () => {
      const { body } = await changeHostNode({ host_node_name: 'Other' }, 'Load');

      expect(body.host_node_name).toBe('Load');
    });

    test('holds "policy | HostNodePolicyActive, HostNodePolicyBanned, HostNodePolicyLocalOnly"', async () => {
      for (const policy of ['HostNodePolicyActive', 'HostNodePolicyLocalOnly'])
        expect((await changeHostNode({ policy }, 'Load')).body.policy).toBe(policy);
      const banning = await changeHostNode({ policy: 'HostNodePolicyBanned' }, 'Load');
      const banned = await changeHostNode({ policy: 'HostNodePolicyBanned' }, 'Load', admin);
      const sentBack = await changeHostNode(banned.body, 'Load');
      const lifting = await changeHostNode({ policy: 'HostNodePolicyActive' }, 'Load');
      const lifted = await changeHostNode({ policy: 'HostNodePolicyActive' }, 'Load', admin);

      expect([banning.status, banning.body.details]).toEqual([403, forAdmins('body.policy')]);
      expect([banned.status, sentBack.status, lifted.status]).toEqual([200, 200, 200]);
      expect(sentBack.body.policy).toBe('HostNodePolicyBanned');
      expect([lifting.status, lifting.body.details]).toEqual([403, forAdmins('body.policy')]);
    });
  });

  describe('Relight request fields', () => {
    const weights =
      'must weight phrases, as in (text:1.2), by 1 to 1.4; if the number isn’t a weight, leave the parentheses out';
    rows('relight-image', {
      'image | string | yes | Base64 data or URL of the image': requiredImage,
      'advanced_settings | object | no | their types, ranges and allowed values: not shown': {
        takes: [
          { whites: 1, blacks: 2, brightness: 3, contrast: 4, saturation: 5, fixed_generation: true },
          { engine: 'cool', transfer_light_a: 'low', transfer_light_b: 'straight' },
          { whites: -7.5, engine: 'an engine of tomorrow', gamma: null, whites_b: '', constructor: 'x' },
          { nested: { list: [[]] } },
          {},
          writtenNumbers,
        ],
        rejects: eachIs(['x', [1], JSON.rawJSON('1e20')], 'must be an object'),
      },
      'change_background | boolean | no | true': { ...flag, standard: true },
      'interpolate_from_original | boolean | no | false': { ...flag, standard: false },
      'light_transfer_strength | integer | no | 100 | Range 0 to 100': wholeNumber(0, 100, 100),
      'preserve_details | boolean | no | true': { ...flag, standard: true },
      'prompt | string | no | a phrase may be weighted with a number from 1 to 1.4 in the form (text:weight)':
        {
          takes: [
            'x'.repeat(9000),
            ...'(a:1)|(a:1.4) (b:1.0)|((a:1.1) b:1.2)|(a : 1.2 )|a:9|a:9) (x|(iso:400) photo'.split('|'),
            ...'(:3)|(:1.7)|( :1.7)|(a:-1.7)|(a:1e0)|(a:12)|(16:9)|(1:2)|(chapter 12)'.split('|'),
            ...'(at 12:00)|(2.39:1)|(a:)|(a:.)|(a:b)|(a):1.7)'.split('|'),
          ],
          rejects: [
            ...eachIs('(a:0.99)|(a:1.41)|(cat:1.7)|(a:2)|(a:0)|(a:.9)|(a : 1.5 )|((a:1.2) b:1.5)', weights),
            ...eachIs('((a:1.2):1.5)|(a (b:1.2):1.5)|(a) (b:1.5)|(catch 22:1.9)|(v1:2)', weights),
            ...eachIs('(sun:3)|(v:0.5)|(chapter:2)|(f:2.8)|(太陽:3)', weights),
            ['(iso:400) (b:1.9)', weights],
          ],
        },
      'style | enum | no | standard': oneOf(
        'standard darker_but_realistic clean smooth brighter contrasted_n_hdr just_composition'.split(' '),
        'standard',
      ),
      'transfer_light_from_lightmap | string | no | Base64 data or URL': imageSource,
      'transfer_light_from_reference_image | string | no | Base64 data or URL': imageSource,
      'webhook_url | string, URI | no | Receives notifications when the task changes status': webAddress,
    });

    test.each([
      [
        { generated: ['a', 'b'], task_id: 't' },
        { generated: ['a', 'b'], task_id: 't', status: 'CREATED' },
      ],
      [
        { generated: null, task_id: 7, status: 'COMPLETED' },
        { generated: [], task_id: '7', status: 'COMPLETED' },
      ],
    ])(
      'holds "Relight response: object data (required) with generated (string[]) and task_id": %j',
      async (data, expected) => {
        misbehave({ kind: 'text', text: JSON.stringify({ data }) });

        expect((await send('relight-image', sampleBody('relight-image'))).body).toEqual({ data: expected });
      },
    );
  });

  const resolutions = ['540p', '720p', '1080p'];
  const models = 'vidq3-pro vidq2-pro-fast vidq2-pro vidq2-turbo vidq1 vidq1-classic vid2.0'.split(' ');
  const editing = ['vidq2-pro', 'vidq2-turbo'];
  const callback: Table = { 'callback_url | string | Callback for task status updates': webAddress };
  const payload: Table = {
    'payload | string | Pass-through parameters, max 1048576 characters': upTo(1_048_576),
  };
  const prompt: Table = { 'prompt | string | Max 2000 characters': upTo(2000) };
  const oneImage: Row = {
    takes: reference.map((one) => [one]),
    rejects: [
      [['a', 'b'], 'must have at most 1 item'],
      ['a', noList],
    ],
  };

  describe('Text-to-video request fields', () => {
    rows('text-to-video', {
      'aspect_ratio | string': anyText,
      'audio | boolean | Enables direct audio-video generation; default true for model vidq3-pro': flag,
      'audio_type | enum | all, speech_only, sound_effect_only': oneOf([
        'all',
        'speech_only',
        'sound_effect_only',
      ]),
      'bgm | boolean | Background music': flag,
      ...callback,
      'duration | integer (int32) | Seconds; vidq2-turbo 1-8': {
        takes: [1, 8],
        rejects: [
          ...eachIs([0, 9], 'must be 1 to 8 seconds for vidq2-turbo'),
          [1.5, texts.isWhole],
          ['5', noNumber],
        ],
      },
      'enhance | boolean': flag,
      'images | string[] | For image-to-video; accepts 1 image as start frame': oneImage,
      'is_rec | boolean | Use recommended prompt; costs 10 additional credits': flag,
      'meta_data | string | JSON-format string of custom metadata': {
        takes: ['{}', '[1]', '"x"', '1'],
        rejects: [...eachIs(['{', 'x'], 'must be JSON'), [{}, texts.isText]],
      },
      'model | string | vidq3-pro, vidq2-pro-fast, vidq2-pro, vidq2-turbo, vidq1, vidq1-classic, vid2.0':
        oneOf(models),
      'movement_amplitude | enum | auto, small, medium, large': oneOf(['auto', 'small', 'medium', 'large']),
      'off_peak | boolean | Lower cost; tasks generated within 48 hours': flag,
      ...payload,
      'priority | integer (int32)': int32,
      ...prompt,
      'resolution | string | 360p, 540p, 720p, 1080p, 2K': oneOf(['360p', '540p', '720p', '1080p', '2K']),
      'seed | integer (int32) | Random when omitted': { ...int32, takes: [...(int32.takes ?? []), 0] },
      'style | enum | general, anime': oneOf(['general', 'anime']),
      'voice_id | string': anyText,
      'watermark | boolean | Default false': { ...flag, standard: false },
      'wm_position | integer (int32) | 1 top left, 2 top right, 3 bottom right (default), 4 bottom left':
        wholeNumber(1, 4),
      'wm_url | string | Watermark image URL; default watermark used when omitted': {
        takes: reference,
        rejects: [[5, texts.isText]],
      },
    });

    test('holds "No field is marked required"', async () => {
      // This provider takes a body without text and picture.
      misbehave({ kind: 'reply' });

      expect((await send('text-to-video', {})).status).toBe(200);
      expect(simulation.received[0]?.body).toEqual({ watermark: false });
    });

    test.each([
      ['vidq3-pro', 16],
      ['vidq2-pro-fast', 10],
      ['vidq2-pro', 8],
      ['vidq2-turbo', 8],
    ])('holds "Seconds; %s 1-%i"', async (model, maxSeconds) => {
      const statuses = [];
      for (const duration of [0, 1, maxSeconds, maxSeconds + 1])
        statuses.push((await send('text-to-video', { prompt: 'x', model, duration })).status);

      expect(statuses).toEqual([400, 200, 200, 400]);
      expect(simulation.received).toHaveLength(2);
    });

    test.each(['vidq1', 'vidq1-classic', 'vid2.0', undefined])(
      'leaves the duration of model %s to the provider',
      async (model) => {
        for (const duration of [1, 17, 1000, 0])
          expect((await send('text-to-video', { prompt: 'x', model, duration })).status).toBe(200);
        expect((await send('text-to-video', { model, duration: 2 ** 31 })).status).toBe(400);
      },
    );

    test.each<[body: object, sent: object]>([
      [{ model: 'vidq3-pro' }, { audio: true, watermark: false }],
      [{ model: 'vidq3-pro', audio: false }, { watermark: false }],
      [{ watermark: true }, { wm_position: 3 }],
      [{ watermark: true, wm_position: 1 }, {}],
      [{ watermark: true, wm_position: null }, { wm_position: 3 }],
    ])('sends the stated defaults with %j', async (body, sent) => {
      await send('text-to-video', { prompt: 'x', ...body });

      expect(simulation.received[0]?.body).toEqual({ prompt: 'x', ...body, ...sent });
    });

    const echoes = {
      ...{ aspect_ratio: 'a', bgm: false, duration: 5, images: ['a'], model: 'vidq1', off_peak: true },
      ...{ movement_amplitude: 'auto', payload: 'p', prompt: 'q', resolution: '720p', seed: 0 },
      ...{ style: 'anime', watermark: true },
    };
    responses('text-to-video', { ...echoes }, echoes);
  });

  describe('Extend request fields', () => {
    rows('extend-video', {
      'model | string | yes | vidq2-pro or vidq2-turbo': required(oneOf(editing), 'vidq3-pro'),
      ...callback,
      'duration | integer (int32) | no | Extended seconds, 1-7, default 5': wholeNumber(1, 7, 5),
      'images | string[] | no | Reference image for the end frame; exactly 1 image accepted': oneImage,
      ...payload,
      ...prompt,
      'resolution | string | no | 540p, 720p, 1080p': oneOf(resolutions),
      'video_creation_id | string | no | Required together with video_url': {
        takes: ['x', ' '],
        isRequired: true,
        rejects: [
          ...[undefined, null, ''].map((value) => [value, 'is required together with video_url'] as const),
          [5, texts.isText],
        ],
      },
      'video_url | string | no | Any video URL; required together with video_creation_id': {
        takes: 'https://a.com/a.mp4|s3://b/a.mp4|ftp://a/b|gs://b/c|asset:42|https://a.b/c d'.split('|'),
        isRequired: true,
        rejects: [
          ...[undefined, null, ''].map(
            (value) => [value, 'is required together with video_creation_id'] as const,
          ),
          ...eachIs('a.mp4|/a.mp4|//example.com/a.mp4|https://|http:///a|:a', noAddress),
          [5, texts.isText],
        ],
      },
    });

    test.each([{ video_url: 'https://example.com/boat.mp4' }, { video_creation_id: '8' }])(
      'takes %j alone where VIDEO_EXTEND_SOURCE is either',
      async (source) => {
        setVariables({ VIDEO_EXTEND_SOURCE: 'either' });
        expect((await send('extend-video', { model: 'vidq2-pro', ...source })).status).toBe(200);
        setVariables({ VIDEO_EXTEND_SOURCE: 'both' });
      },
    );

    test('sends the stated default, and needs no video', async () => {
      await send('extend-video', { model: 'vidq2-pro' });

      expect(simulation.received[0]?.body).toEqual({ model: 'vidq2-pro', duration: 5 });
    });

    const source = { video_creation_id: 'c', video_url: 'https://example.com/a.mp4' };
    responses(
      'extend-video',
      { model: 'vidq2-pro', ...source },
      {
        ...{ duration: 5, images: ['a'], model: 'vidq2-pro', payload: 'p', prompt: 'q', resolution: '540p' },
        ...source,
      },
    );
  });

  describe('Multi-frame request fields', () => {
    const frames = (count: number) => Array.from({ length: count }, () => ({ key_image: 'a' }));
    rows('multiframe-video', {
      'image_settings | object[] | yes | 2 to 9 items; which item fields are required: not shown': {
        takes: [frames(2), frames(9), [{}, {}], [{ duration: 2.5 }, { prompt: 'x' }]],
        isRequired: true,
        rejects: [
          [undefined, 'is required'],
          [frames(1), 'must have at least 2 items'],
          [frames(10), 'must have at most 9 items'],
          [frames(1)[0], noList],
        ],
      },
      'image_settings.0 | object': {
        takes: [{}],
        isRequired: true,
        rejects: eachIs(['x', [], null], 'must be an object'),
      },
      'image_settings.0.key_image | string': { takes: reference, rejects: [[5, texts.isText]] },
      'image_settings.0.duration | number': {
        takes: [1, 2.5, 7, 30, 0.001],
        rejects: eachIs(['5', true], noNumber),
      },
      'image_settings.0.prompt | string | prompt (video): max 2000 characters': upTo(2000),
      'model | string | yes | vidq2-pro or vidq2-turbo': required(oneOf(editing), 'vidq3-pro'),
      'start_image | string | yes | First frame; Base64 data or URL': requiredImage,
      ...callback,
      ...payload,
      'resolution | string | no | 540p, 720p, 1080p': oneOf(resolutions),
    });

    const frame = {
      start_image: 'iVBORw0=',
      image_settings: [{ key_image: 'a', duration: 2.5, prompt: 'q' }, { duration: 0 }],
    };
    responses(
      'multiframe-video',
      { model: 'vidq2-pro', ...frame },
      { model: 'vidq2-pro', payload: 'p', resolution: '540p', ...frame },
    );
  });

  describe('Bulk retrieval', () => {
    test('holds "node_versions (required) array": 0 to 1,000 pairs, an entry each, in order', async () => {
      const pairs = (count: number) =>
        Array.from({ length: count }, (_, index) => ({ node_id: `n${index}`, version: '1.0.0' }));
      for (const count of [0, 1, 1000]) {
        const { body } = await bulk(pairs(count));
        const answered = body.node_versions.map((entry: { identifier: unknown }) => entry.identifier);
        expect(answered).toEqual(pairs(count));
      }
      const problem = (message: string) => [{ path: 'body.node_versions', message }];
      expect((await bulk(pairs(1001))).body.details).toEqual(problem('must have at most 1000 items'));
      expect((await bulk(undefined)).body.details).toEqual(problem('is required'));
    });

    test('holds "objects with node_id (string) and version (string)": a pair with an odd or no value is that entry’s error', async () => {
      const pairs = [
        {},
        { node_id: 'Some-Node' },
        { version: '1.0.0' },
        { node_id: null, version: null },
        { node_id: 'Some-Node', version: 1 },
        { node_id: ['Some-Node'], version: '1.0.0' },
        { node_id: '', version: '' },
        { node_id: 'x'.repeat(201), version: '1.0.0' },
        { node_id: 'Some-Node', version: '1.0.0 cu118' },
        { node_id: 'Some-Node', version: '1.0.0' },
      ];
      const { status, body } = await bulk(pairs);

      expect(status).toBe(200);
      expect(body.node_versions.slice(0, -1)).toEqual(
        pairs
          .slice(0, -1)
          .map((identifier) => ({ identifier, status: 'error', error_message: expect.any(String) })),
      );
      expect(body.node_versions.at(-1)).toMatchObject({
        status: 'success',
        node_version: { version: '1.0.0' },
      });
    });

    test('rejects a pair that is no object', async () => {
      const { status, body } = await bulk(['x']);

      expect([status, body.details]).toEqual([
        400,
        [{ path: 'body.node_versions.0', message: 'must be an object' }],
      ]);
    });
  });
});

describe('What is newly let through', () => {
  test('forwards names of the prototype as they came, without effect on the service', async () => {
    const rawBody =
      '{"image":"iVBORw0=","advanced_settings":{"__proto__":{"isAdmin":true},"constructor":{"x":1},"engine":"new"}}';
    const { status } = await invoke(proxies['relight-image'], 'relight-image', { rawBody });

    expect(status).toBe(200);
    expect(JSON.stringify(simulation.received[0]?.body.advanced_settings)).toBe(
      '{"__proto__":{"isAdmin":true},"constructor":{"x":1},"engine":"new"}',
    );
    expect(Object.hasOwn(Object.prototype, 'isAdmin')).toBe(false);
  });

  test('answers numbers digit by digit, and takes them back', async () => {
    const { text } = await update({ translations: writtenNumbers });
    const { translations } = parseAsWritten(text) as { translations: object };

    expect(JSON.stringify(translations)).toBe(JSON.stringify(writtenNumbers));
    expect((await update(JSON.parse(text))).status).toBe(200);
  });

  // The other values and levels of each body count too.
  test.each<[what: string, most: number, sendValue: (value: unknown) => Promise<Result>]>([
    ['translations of an update', 99_997, (translations) => update({ translations })],
    [
      'translations of a publish',
      99_993,
      (translations) => publish({ nodeId: `translated-${fresh()}`, node: { translations } }),
    ],
    [
      'advanced_settings',
      99_996,
      (advanced_settings) => send('relight-image', { image: 'iVBORw0=', advanced_settings }),
    ],
  ])('bounds depth and size of %s', async (_, most, sendValue) => {
    const flat = (length: number) => ({ a: Array(length).fill(1) });
    const details = [];
    for (const value of [
      { a: nested(497) },
      { a: nested(499) },
      { a: nested(2000) },
      flat(most),
      flat(most + 1),
    ])
      details.push((await sendValue(value)).body.details?.[0]);

    const deep = { path: 'body', message: 'must be nested at most 500 deep' };
    const large = { path: 'body', message: 'must hold at most 100000 values' };
    expect(details).toEqual([undefined, deep, deep, undefined, large]);
    // The node of the other tests, which send back what is stored.
    await update({ translations: {} });
  });

  test('compares settings as part of the request of an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': `settings-${fresh()}` };
    const relight = (gamma: number) =>
      invoke(proxies['relight-image'], 'relight-image', {
        headers,
        body: { image: 'iVBORw0=', advanced_settings: { gamma } },
      });
    const answers = [await relight(1), await relight(1), await relight(2)];

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [200, undefined],
      [200, undefined],
      [409, 'idempotency_mismatch'],
    ]);
    expect(simulation.received).toHaveLength(1);
  });
});

describe('States and transitions', () => {
  test.each([
    ...['created', 'processing', 'queueing', 'success', 'failed'].map((state) => [state, state] as const),
    // What the contract does not have.
    ...['', null, 'paused', 7].map((state) => [state, 'created'] as const),
  ])('answer the state %j of a video task as %s', async (state, shown) => {
    misbehave({ kind: 'reply', fields: { state } });

    expect((await send('text-to-video', {})).body.state).toBe(shown);
  });
});

describe('Endpoints', () => {
  test('match the eight of the contract, with their success codes', async () => {
    const contracts = await loadContracts();

    expect(
      contracts.map(({ method, path, status }) => `${method} ${path.replace('+}', '}')} ${status}`).sort(),
    ).toEqual(
      [
        'POST /proxy/image-provider/v1/ai/image-relight 200',
        'PUT /publishers/{publisherId}/nodes/{nodeId} 200',
        'POST /publishers/{publisherId}/nodes/{nodeId}/versions 201',
        'POST /proxy/video-provider/text2video 200',
        'POST /proxy/video-provider/extend 200',
        'POST /proxy/video-provider/multiframe 200',
        'PUT /nodes/{nodeId}/versions/{version}/host-nodes/{hostNodeName} 200',
        'POST /bulk/nodes/versions 200',
      ].sort(),
    );
  });

  test('publish requires node, node_version and personal_access_token', async () => {
    const { status, body } = await invoke(publishNodeVersion, 'publish-node-version', { body: {} });

    const fields = ['node', 'node_version', 'personal_access_token'];
    const details = fields.map((field) => ({ path: `body.${field}`, message: 'is required' }));
    expect([status, body.details]).toEqual([400, details]);
  });

  test('publish answers node_version and signedUrl', async () => {
    const { body } = await publish({ nodeId: `answered-${fresh()}` });

    expect(Object.keys(body)).toEqual(['node_version', 'signedUrl']);
  });

  test('holds rule 1: of both light sources at most one', async () => {
    const [first, second] = ['transfer_light_from_lightmap', 'transfer_light_from_reference_image'];
    const image = 'iVBORw0=';
    const { status, body } = await send('relight-image', { image, [first]: image, [second]: image });

    const message = `cannot be sent together with ${first}; send one of them`;
    expect([status, body.details]).toEqual([400, [{ path: `body.${second}`, message }]]);
  });

  test('holds rule 2: an update answers the Node fields, which can be sent back', async () => {
    const ofAdmins = { tags_admin: ['checked'], search_ranking: 7, preempted_host_node_names: ['Load'] };
    await addNode('acme', 'whole', { ...ofAdmins, status_detail: 'fine' });
    const place = { nodeId: 'whole' };
    const { body } = await update({ name: 'Whole', translations: { fr: 'Nœud' } }, owner, place);
    const again = await update(body, owner, place);

    expect(body).toMatchObject({ id: 'whole', ...ofAdmins, publisher: { id: 'acme' } });
    expect([again.status, again.body]).toEqual([200, body]);
  });
});

describe('Limits that are not shown', () => {
  test('allows a publisher any number of new nodes a day', async () => {
    const statuses = [];
    for (let number = 0; number < 12; number += 1)
      statuses.push((await publish({ nodeId: `many-${number}` })).status);

    expect(statuses).toEqual(Array(12).fill(201));
  });

  test('U+FFFD is text like any other in valid UTF-8', async () => {
    const { status, body } = await update({ description: 'a \ufffd b' });

    expect([status, body.description]).toEqual([200, 'a \ufffd b']);
  });
});

// ---------------------------------------------------------------------------------------------------------------------

const owner = bearer('olga');
const admin = bearer('ada', { admin: true });

beforeAll(async () => {
  await addPublishers();
  await addNode('acme', 'Some-Node');
  await publish({ nodeId: 'Some-Node', version: '1.0.0' });
});

let count = 0;

function fresh(): number {
  count += 1;
  return count;
}

function send(proxy: ProxyName, body: object): Promise<Result> {
  return invoke(proxies[proxy], proxy, { body });
}

function update(body: object, authorization = owner, path = {}): Promise<Result> {
  return invoke(updateNode, 'update-node', {
    path: { publisherId: 'acme', nodeId: 'Some-Node', ...path },
    body,
    headers: { authorization },
  });
}

function changeHostNode(body: object, hostNodeName: string, authorization = owner): Promise<Result> {
  return invoke(updateHostNode, 'update-host-node', {
    path: { nodeId: 'Some-Node', version: '1.0.0', hostNodeName },
    body,
    headers: { authorization },
  });
}

function bulk(node_versions: unknown): Promise<Result> {
  return invoke(bulkNodeVersions, 'bulk-node-versions', { body: { node_versions } });
}

function forAdmins(path: string) {
  return [{ path, message: 'can be changed only by an admin' }];
}

function nested(depth: number): unknown {
  return depth === 0 ? 'x' : [nested(depth - 1)];
}

/** How one field is sent in a request, and where it arrives: at the provider, or in the record. */
interface Target {
  send: (field: string, value: unknown, authorization?: string) => Promise<Result>;
  arrived: (result: Result, field: string) => unknown;
  /** What a field becomes that is cleared or left out. */
  unset: readonly unknown[];
  within: string;
}

/** Declares a test for each row of a table of fields. */
function rows(operation: string, table: Table, within = ''): void {
  const target = targetOf(operation, within);
  const where = within === '' ? '' : ` in ${operation}`;
  for (const [quote, row] of Object.entries(table)) {
    const [field = ''] = quote.split(' | ');
    if (row.isComputed)
      test(`ignores "${quote}"${where}, whatever is sent`, () => expectIgnored(target, field));
    else test(`holds "${quote}"${where}`, () => expectRow(target, field, row));
    if (row.isForAdmins)
      test(`lets only admins change "${quote}"${where}`, () => expectForAdmins(target, field, row));
  }
}

async function expectRow(target: Target, field: string, row: Row): Promise<void> {
  const sender = row.isForAdmins ? admin : undefined;
  // A member who publishes is no admin.
  const takes = row.isForAdmins && target.within !== '' ? [] : (row.takes ?? []);
  const unset = row.isRequired ? [] : target.unset.map((value) => [value, row.standard] as const);
  const same = takes.map((value) => [value, value] as const);
  for (const [sent, expected] of [...same, ...(row.reads ?? []), ...unset]) {
    simulation.reset();
    const result = await target.send(field, sent, sender);
    expectTaken(sent, result);
    const arrived = await target.arrived(result, field);
    // Comparing megabytes with toEqual would print them.
    if (JSON.stringify(arrived) !== JSON.stringify(expected))
      throw new Error(`${shown(sent)} arrived as ${shown(arrived)}`);
  }
  simulation.reset();
  for (const [value, message] of row.rejects ?? []) {
    const { status, body } = await target.send(field, value, sender);
    const rejected = [400, 'invalid_request', [{ path: pathOf(target, field), message }]];
    expect([shown(value), status, body.error, body.details]).toEqual([shown(value), ...rejected]);
  }
  expect(simulation.received).toEqual([]);
}

function expectTaken(value: unknown, { status, body }: Result): void {
  const details = status < 300 ? undefined : body.details;
  expect([shown(value), status < 300, details]).toEqual([shown(value), true, undefined]);
}

async function expectIgnored(target: Target, field: string): Promise<void> {
  for (const value of [{ any: 'thing' }, 7, 'x', [], null]) {
    const result = await target.send(field, value);
    const arrived = await target.arrived(result, field);

    expectTaken(value, result);
    if (value !== null) expect(arrived).not.toEqual(value);
  }
}

async function expectForAdmins(target: Target, field: string, { takes = [] }: Row): Promise<void> {
  const [first, second] = takes.filter((value) => !Array.isArray(value) || value.length > 0);
  if (target.within === '') {
    await target.send(field, first, admin);
    expect((await target.send(field, first)).status).toBe(200);
  }
  const other = second ?? ['another'];
  const { status, body } = await target.send(field, other);
  const cleared = await target.send(field, null);

  expect([status, body.error, body.details]).toEqual([403, 'forbidden', forAdmins(pathOf(target, field))]);
  // There is nothing to clear in a record that this request creates.
  expect(cleared.status).toBe(target.within === '' ? 403 : 201);
  if (target.within === '') await target.send(field, null, admin);
}

function targetOf(operation: string, within: string): Target {
  const clears = [null];
  switch (operation) {
    case 'update-node':
    case 'update-host-node':
      return {
        send: (field, value, authorization) =>
          operation === 'update-node'
            ? update({ [field]: value }, authorization)
            : changeHostNode({ [field]: value }, 'Fields'),
        arrived: ({ body }, field) => body[field],
        ...{ unset: clears, within },
      };
    case 'publish-node-version': {
      const isNode = within === 'node';
      return {
        send: (field, value) =>
          publish({ nodeId: `n-${fresh()}`, [isNode ? 'node' : 'fields']: { [field]: value } }),
        arrived: async ({ body }, field) =>
          isNode ? await storedField(body.node_version?.node_id, field) : body.node_version?.[field],
        ...{ unset: clears, within },
      };
    }
    default: {
      const proxy = operation as ProxyName;
      return {
        send: (field, value) => invoke(proxies[proxy], proxy, { body: bodyWith(proxy, field, value) }),
        arrived: (_, field) => valueAt(simulation.received[0]?.body, field),
        unset: [undefined, null, '', []],
        within,
      };
    }
  }
}

async function storedField(nodeId: string | undefined, field: string): Promise<unknown> {
  const record: Record<string, unknown> = { ...(await storedNode(String(nodeId))) };
  const value = record[field];
  return field === 'translations' && value ? parseAsWritten(String(value)) : value;
}

function pathOf({ within }: Target, field: string): string {
  return ['body', within, field].filter((part) => part !== '').join('.');
}

/** Declares the tests of a video answer: each echo of the contract, and what providers send for unset ones. */
function responses(proxy: ProxyName, request: object, echoes: Record<string, unknown>): void {
  const task = { task_id: 'task-1', state: 'created', credits: 20 };
  const answerTo = async (reply: object) => {
    misbehave({ kind: 'text', text: JSON.stringify({ ...task, ...reply }) });
    return (await send(proxy, request)).body;
  };

  test('holds "response: credits, state, task_id (required)", and its optional echoes', async () => {
    const created_at = '2026-01-02T03:04:05.123456Z';

    expect(await answerTo({ ...echoes, created_at, more: 'x' })).toEqual({ ...task, created_at, ...echoes });
  });

  test('holds "optional": an echo that the provider leaves unset is absent', async () => {
    const unset = Object.keys(echoes).map((field, index) => [field, [null, '', []][index % 3]]);
    const created_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

    expect(await answerTo(Object.fromEntries(unset))).toEqual({ ...task, created_at });
  });

  // Other forms of prices, and values that are not prices: tests/lib/providers/reply-fields.test.ts.
  test('holds "credits (integer int32, required)": a part of a credit is a whole one', async () => {
    expect((await answerTo({ credits: '12.5' })).credits).toBe(13);
  });

  test('holds "credits (required)": without a price it is 0, and the ledger counts the ceiling', async () => {
    misbehave({ kind: 'text', text: JSON.stringify({ ...task, credits: 'free' }) });
    loggedLines.length = 0;
    const { status, headers, body } = await send(proxy, request);

    expect([status, body.credits]).toEqual([200, 0]);
    expect(headers).not.toHaveProperty('x-credits-used');
    expect(loggedLines.join('')).toContain('"credits_are_ceiling":true');
  });
}

function bodyWith(proxy: ProxyName, field: string, value: unknown): Record<string, unknown> {
  // The provider wants a text or a picture, so there is a picture when the text is left out.
  const body = sampleBody(proxy);
  if (proxy === 'text-to-video' && field === 'prompt') body.images = ['asset:42'];
  const steps = field.split('.');
  const last = steps.pop() ?? '';
  let target = body;
  for (const [index, step] of steps.entries()) {
    target[step] ??= /^\d+$/.test(steps[index + 1] ?? last) ? [] : {};
    target = target[step] as Record<string, unknown>;
  }
  target[last] = value;
  return body;
}

function valueAt(body: unknown, field: string): unknown {
  return field
    .split('.')
    .reduce((value, step) => (value as Record<string, unknown> | undefined)?.[step], body);
}

function shown(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 80);
}
