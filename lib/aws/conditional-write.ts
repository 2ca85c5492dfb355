import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';

export type ConditionalWrite<Output> =
  | { readonly written: true; readonly output: Output }
  | { readonly written: false; readonly existing: Readonly<Record<string, unknown>> | undefined };

/**
 * Awaits a conditional write. A failed condition is an answer, not an error; everything else throws. `existing` needs
 * `ReturnValuesOnConditionCheckFailure: 'ALL_OLD'` on the write.
 */
export async function conditionalWrite<Output>(write: Promise<Output>): Promise<ConditionalWrite<Output>> {
  try {
    return { written: true, output: await write };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { written: false, existing: error.Item === undefined ? undefined : unmarshall(error.Item) };
  }
}
