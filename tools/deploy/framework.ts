/** The little that the plugins here know of the framework that loads them. */
export interface Framework {
  processedInput: { commands: string[]; options: { param?: string[] | null } };
  configurationInput: { params: { default: Record<string, unknown> } };
  service: {
    service: string;
    custom: { parameters: Record<string, unknown> };
    provider: {
      environment: Record<string, unknown>;
      compiledCloudFormationTemplate: { Resources: Record<string, object> };
    };
    getAllFunctions: () => string[];
    getFunction: (name: string) => FrameworkFunction;
  };
  getProvider: (name: 'aws') => { getStage: () => string };
  /** An error of this class is shown as a sentence, without its stack. */
  classes: { Error: new (message: string) => Error };
}

interface FrameworkFunction {
  environment?: Record<string, unknown>;
  /** Where it is set, events invoke the function under this alias. */
  targetAlias?: { name: string; logicalId: string };
  /** The version of this release, known once functions are compiled. */
  versionLogicalId?: string;
}
