import { type Given, valuesOf } from '../parameters/stage-parameters.ts';

/** The last line of a deployment that lets whoever signs in spend. */
export default class RepeatAccess {
  readonly hooks: Record<string, () => void>;

  constructor(framework: Given) {
    this.hooks = {
      finalize: () => {
        const isDeployed = framework.processedInput.commands.join(' ') === 'deploy';
        const { selfService, proxyAccess, stageCreditsPerDay } = valuesOf(framework);
        if (isDeployed && selfService === 'on' && proxyAccess === 'any')
          process.stderr.write(
            `proxyAccess=any: whoever can sign in at the issuer spends your providers' credits, ${stageCreditsPerDay} a day together.\n`,
          );
      },
    };
  }
}
