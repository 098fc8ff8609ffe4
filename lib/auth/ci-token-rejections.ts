import { ApiError } from '../errors.ts';

/** The reasons why an ID token of a CI job is rejected for every publisher. */
const rejections = {
  malformed: 'The CI token is malformed.',
  unknown_issuer: 'The CI token comes from an issuer that this registry does not accept.',
  bad_signature: 'The signature of the CI token is not valid.',
  expired: 'The CI token has expired; let the job request a new one.',
  not_yet_valid: 'The CI token is not yet valid.',
  wrong_audience:
    'The CI token is for another audience, or for others too; request it for this registry alone.',
  incomplete: 'The CI token lacks a claim that identifies its job.',
  foreign_workflow: 'The CI token names a workflow file of another repository.',
  pull_request: 'The CI token belongs to a job of a pull request, which never publishes.',
} as const;

export type CiTokenRejection = keyof typeof rejections;

export class RejectedCiToken extends ApiError {
  constructor(rejection: CiTokenRejection, cause?: unknown) {
    super('invalid_personal_access_token', {
      message: rejections[rejection],
      reason: `ci_token_${rejection}`,
      cause,
    });
  }
}
