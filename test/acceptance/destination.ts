import type { LocalStack } from '../../infra/operate/local-stacks.ts';
import { awsTarget, localTarget, type Target } from '../../infra/operate/target.ts';
import type { StackContext } from '../support/addresses.ts';

/** An acceptance run goes to a deployed stage or to a local stack. */
export type AcceptanceTarget = { readonly apiUrl: string } & (
  | { readonly stage: string; readonly local?: undefined }
  | { readonly local: LocalStack; readonly stage?: undefined }
);

export function targetOfRun({ stage, local }: AcceptanceTarget): Target {
  return stage === undefined ? localTarget(local) : awsTarget(stage);
}

/**
 * Returns the addresses for the tests. What a deployed stage does not have is empty, and no test of the run asks for
 * it.
 */
export function stackOf({ apiUrl, local }: AcceptanceTarget): StackContext {
  return {
    apiUrl,
    platformUrl: '',
    dynamodbEndpoint: local?.dynamodbEndpoint ?? '',
    sqsEndpoint: '',
    secretsEndpoint: local?.secretsEndpoint ?? '',
    queueUrls: {},
    webhookReceiverPort: 0,
    functionLog: '',
  };
}
