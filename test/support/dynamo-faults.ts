import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** What DynamoDB Local never does by itself; one entry for one attempt of a request. */
export type DynamoFault =
  /** The request never arrives. */
  | { readonly kind: 'throw'; readonly error: Error }
  /** The request is carried out and its reply is lost; the SDK repeats it. */
  | { readonly kind: 'lose_reply' }
  /** A BatchGetItem answers only its first `keep` items and calls the other keys unprocessed. */
  | { readonly kind: 'unprocessed'; readonly keep: number };

type FaultOf = (operation: string, attempt: number) => DynamoFault | undefined;

interface BatchReply {
  Responses?: Record<string, Record<string, unknown>[]>;
  UnprocessedKeys?: Record<string, { Keys: Record<string, unknown>[] }>;
}

/**
 * Puts faults between the SDK's retries and the network. `faultOf` is asked for each attempt, numbered from 1 within its
 * operation (`BatchGetItemCommand`); returns the number of attempts made so far, by operation.
 */
export function injectFaults(client: DynamoDBDocumentClient, faultOf: FaultOf): ReadonlyMap<string, number> {
  const attempts = new Map<string, number>();
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const operation = String(context['commandName']);
      const attempt = (attempts.get(operation) ?? 0) + 1;
      attempts.set(operation, attempt);
      const fault = faultOf(operation, attempt);
      if (fault?.kind === 'throw') throw fault.error;
      const result = await next(args);
      if (fault?.kind === 'lose_reply') {
        throw Object.assign(new Error('the reply was lost'), { name: 'TimeoutError' });
      }
      if (fault?.kind === 'unprocessed') leaveUnprocessed(result.output as BatchReply, fault.keep);
      return result;
    },
    { step: 'deserialize', name: 'injectFaults', priority: 'high', tags: ['test'] },
  );
  return attempts;
}

/** Keeps a part of the answer and hands the keys of the rest back, as a throttled table does. */
function leaveUnprocessed(reply: BatchReply, keep: number): void {
  for (const [table, items] of Object.entries(reply.Responses ?? {})) {
    const rest = items.splice(keep);
    if (rest.length > 0) {
      reply.UnprocessedKeys = { [table]: { Keys: rest.map(({ pk, sk }) => ({ pk, sk })) } };
    }
  }
}
