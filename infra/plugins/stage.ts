import { checkParameters, takeParameters } from '../parameters/stage-parameters.ts';
import {
  checkDeployment,
  checkPackage,
  checkRollback,
  recordRelease,
  printWarnings,
} from './check-release.ts';
import { finishTemplate } from './finish-template.ts';
import type { Framework, Template } from './framework.ts';
import { addResources, shareConfiguration } from './function-resources.ts';
import { nameTree, showRelease } from './name-release.ts';
import { uploadPages } from './upload-site.ts';

const parameters = { usage: 'A file of parameters, a line each: <name>=<value>', type: 'string' };
const yes = { usage: 'Accept other parameters than those of the last deployment', type: 'boolean' };
const deploying = {
  parameters,
  same: { usage: 'Take the parameters of the last deployment that are not given', type: 'boolean' },
  unreleased: { usage: 'Deploy a tree that is not exactly a tagged release', type: 'boolean' },
  yes,
};

/** What this project adds to the framework's commands: options, and the steps of a deployment in their order. */
export default class Stage {
  readonly commands = {
    package: { options: { parameters } },
    deploy: { options: deploying, commands: { function: { options: deploying } } },
    rollback: { options: { yes } },
  };
  readonly hooks: Record<string, () => Promise<void>>;
  readonly #framework: Framework;
  /** The template of the stack. Undefined if nothing will be deployed. */
  #deployed: Template | undefined;

  constructor(framework: Framework) {
    this.#framework = framework;
    checkParameters(framework);
    this.hooks = {
      initialize: async () => {
        this.#deployed = await checkDeployment(framework);
        await nameTree(framework);
      },
      'after:package:compileFunctions': () => addResources(framework),
      'after:aws:package:finalize:mergeCustomProviderResources': async () => {
        showRelease(framework);
        await finishTemplate(framework);
      },
      'before:deploy:deploy': async () => checkPackage(framework, this.#deployed),
      'after:aws:deploy:deploy:updateStack': () => recordRelease(framework),
      'after:deploy:deploy': () => uploadPages(framework),
      'before:rollback:rollback': () => checkRollback(framework),
      finalize: async () => {
        if (this.#deployed) printWarnings(framework);
      },
    };
  }

  async asyncInit(): Promise<void> {
    await takeParameters(this.#framework);
    await shareConfiguration(this.#framework);
  }
}
