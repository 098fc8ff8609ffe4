/** The parts of the framework that the plugins here use. */
export interface Framework {
  processedInput: { commands: string[]; options: Options };
  /** The content of serverless.yml. */
  configurationInput: { params: Record<string, Record<string, unknown> | null>; custom: object };
  service: {
    service: string;
    custom: { tableName: string };
    provider: {
      environment: Record<string, unknown>;
      compiledCloudFormationTemplate: Template;
    };
    getAllFunctions: () => string[];
    getFunction: (name: string) => FrameworkFunction;
    /** Checks the configuration against the framework's schema, once its variables are resolved. */
    validate: () => Promise<void>;
  };
  /** Sets a part of serverless.yml while plugins load. */
  extendConfiguration: (path: string[], value: unknown) => void;
  getProvider: (name: 'aws') => {
    getStage: () => string;
    getRegion: () => string;
    getServerlessDeploymentBucketName: () => Promise<string>;
    getDeploymentPrefix: () => string;
    /** Region and credentials for a client of the SDK. */
    getAwsSdkV3Config: () => Promise<object>;
  };
  /** An error of this class is shown as a sentence, without its stack. */
  classes: { Error: new (message: string) => Error };
}

/** The framework's own options, and those that plugins here add. */
interface Options {
  stage?: string;
  /** A file of parameters. */
  parameters?: string;
  /** Takes the parameters of the last deployment. */
  same?: boolean;
  /** Accepts other parameters than those of the last deployment. */
  yes?: boolean;
  /** When the deployment was that a rollback restores. */
  timestamp?: string;
  /** Deploys a tree that is not exactly a tagged release. */
  unreleased?: boolean;
}

export interface Template {
  Resources: Record<string, Resource>;
  Outputs: Record<string, { Condition?: string; Description?: string; Value?: unknown }>;
  Metadata?: Record<string, unknown>;
}

export interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
  Condition?: string;
  DependsOn?: string | string[];
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

interface FrameworkFunction {
  /** If set, the function is in the template only if this condition holds. */
  condition?: string;
  events: Record<string, unknown>[];
}
