import type { Framework } from '../plugins/framework.ts';
import type { Values } from './parameters.ts';

const maxFunctionName = 64;

/** The problems of a stage's name, its region and the place where it is packaged, in sentences. */
export function placeProblems(framework: Framework, { notifications }: Values): string[] {
  const { service } = framework;
  const aws = framework.getProvider('aws');
  const region = aws.getRegion();
  const functions = service
    .getAllFunctions()
    .filter((name) => notifications === 'relay' || service.getFunction(name).condition === undefined);
  return [
    ...longNames(service.service, aws.getStage(), functions),
    ...(isReachable(region)
      ? []
      : [`The stage cannot be in ${region}: the functions do not know the names of its services.`]),
  ];
}

/** The framework names a function after the service, the stage and its own name. */
export function longNames(service: string, stage: string, functions: readonly string[]): string[] {
  const longest = functions.reduce((one, other) => (other.length > one.length ? other : one), '');
  const maxStage = maxFunctionName - `${service}--${longest}`.length;
  if (stage.length <= maxStage) return [];
  return [
    `The stage's name must have at most ${maxStage} characters: Lambda allows ${maxFunctionName} for ${service}-${stage}-${longest}.`,
  ];
}

/** The regions whose service names lib/aws/signing.ts can build. */
export function isReachable(region: string): boolean {
  return !/^(?:us-iso|eu-iso|eusc-)/.test(region);
}
