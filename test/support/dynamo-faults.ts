import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** DynamoDB Local never causes these faults; each attempt of a request has one entry. */
export type DynamoFault =
  /** The request never arrives. */
  | { readonly kind: 'throw'; readonly error: Error }
  /** The request takes effect and its reply is lost; the SDK retries it. */
  | { readonly kind: 'lose_reply' }
  /** BatchGetItem returns its first `keep` items and reports the other keys as unprocessed. */
  | { readonly kind: 'unprocessed'; readonly keep: number };

type FaultOf = (operation: string, attempt: number) => DynamoFault | undefined;

interface BatchReply {
  Responses?: Record<string, Record<string, unknown>[]>;
  UnprocessedKeys?: Record<string, { Keys: Record<string, unknown>[] }>;
}

/**
 * Injects faults below the SDK's retries. `faultOf` is called for each attempt, numbered from 1 within its operation
 * (`BatchGetItemCommand`). Returns the number of attempts so far, by operation.
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

/** Keeps a part of the answer and returns the other keys as unprocessed, as a throttled table does. */
function leaveUnprocessed(reply: BatchReply, keep: number): void {
  for (const [table, items] of Object.entries(reply.Responses ?? {})) {
    const rest = items.splice(keep);
    if (rest.length > 0) {
      reply.UnprocessedKeys = { [table]: { Keys: rest.map(({ pk, sk }) => ({ pk, sk })) } };
    }
  }
}
