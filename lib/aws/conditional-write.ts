import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';

/** How a write under a condition ended: carried out, or refused; then with the item in the way, if the write asked for it. */
export type ConditionalWrite<Output> =
  | { readonly written: true; readonly output: Output }
  | { readonly written: false; readonly existing: Readonly<Record<string, unknown>> | undefined };

/**
 * Waits for a write that carries a condition. A condition that does not hold is an answer, not an error; everything else
 * throws. `existing` needs `ReturnValuesOnConditionCheckFailure: 'ALL_OLD'` on the write.
 */
export async function conditionalWrite<Output>(write: Promise<Output>): Promise<ConditionalWrite<Output>> {
  try {
    return { written: true, output: await write };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { written: false, existing: error.Item === undefined ? undefined : unmarshall(error.Item) };
  }
}
