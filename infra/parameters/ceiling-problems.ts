import type * as z from 'zod/mini';
import { extendVideoRequest } from '../../lib/contracts/extend-video.ts';
import { multiframeVideoRequest } from '../../lib/contracts/multiframe-video.ts';
import { textToVideoRequest } from '../../lib/contracts/text-to-video.ts';
import type { VideoRules } from '../../lib/config.ts';
import { issueSentence } from '../../lib/validation-issues.ts';
import type { Problem, Values } from './parameters.ts';

/** For each operation its schema, and the smallest request for a model and a number of seconds. */
const operations: Record<
  string,
  { schema: (rules: VideoRules) => z.ZodMiniType; request: (seconds?: number) => object }
> = {
  textToVideo: { schema: textToVideoRequest, request: (duration) => ({ duration }) },
  extendVideo: {
    schema: extendVideoRequest,
    request: (duration) => ({
      duration,
      video_url: 'https://example.com/a.mp4',
      video_creation_id: '1',
    }),
  },
  multiframeVideo: {
    schema: multiframeVideoRequest,
    request: (seconds) => ({ start_image: 'https://example.com/a.png', image_settings: framesOf(seconds) }),
  },
};

/** A misspelled entry would bound no task: each must be for one that the contract allows. */
export function ceilingProblems({ creditCeilings, videoModelsExtra }: Values): Problem[] {
  const rules: VideoRules = {
    VIDEO_EXTEND_SOURCE: 'both',
    VIDEO_MODELS_EXTRA: (videoModelsExtra ?? '').split(',').flatMap((model) => model.trim() || []),
  };
  const tasks = (creditCeilings ?? '').split(',').map((entry) => entry.trim().split('=')[0] ?? '');
  return tasks
    .flatMap((task) => taskProblem(task, rules) ?? [])
    .map((text) => ['creditCeilings', `creditCeilings: ${text}`]);
}

function taskProblem(task: string, rules: VideoRules): string | undefined {
  const [operation = '', model, seconds] = task.split('/');
  const { schema, request } = operations[operation] ?? {};
  if (!schema || !request || model === undefined) return undefined;
  const input = { model, ...request(seconds === undefined ? undefined : Number(seconds)) };
  const issues = schema(rules).safeParse(input).error?.issues ?? [];
  const wrongModel = issues.find(({ path }) => path[0] === 'model');
  if (wrongModel) return `the model of ${task} ${issueSentence(wrongModel, input)}.`;
  return issues.length > 0 ? `no ${operation} with ${model} has ${seconds} seconds.` : undefined;
}

const minFrames = 2;
const maxFrameSeconds = 7;

/** As few key frames as the seconds take, which are spread over them. */
function framesOf(seconds?: number): object[] {
  const count = Math.max(minFrames, Math.ceil((seconds ?? 0) / maxFrameSeconds));
  return Array.from({ length: Math.min(count, 100) }, (_, index) => ({
    key_image: 'https://example.com/b.png',
    duration: seconds === undefined ? undefined : Math.floor((seconds + index) / count),
  }));
}
