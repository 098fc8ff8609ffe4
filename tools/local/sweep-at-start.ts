import { handOverExtractions } from '../../lib/uploads/extraction-queue.ts';
import { sweepUploads } from '../../lib/uploads/sweep-uploads.ts';

const limitMs = 10 * 60 * 1000;
const finished = ['published', 'completed'];

/**
 * Finishes what an earlier stack was killed in the middle of, as the deployed functions do every hour. It has to be
 * imported after the environment is set. Only work from before this start is done: events bring the rest.
 */
export async function sweepAtStart(start: number, say: (sentence: string) => void): Promise<void> {
  const context = { deadline: Date.now() + limitMs };
  const period = { from: 0, to: start };
  await sweepUploads(context, period, ({ nodeId, version }, { finding }) => {
    if (finished.includes(finding))
      say(`The upload of ${nodeId} ${version} was left over by an earlier start: ${finding}.`);
  });
  await handOverExtractions(context);
}
