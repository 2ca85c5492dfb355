import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import type { DynamoFault } from '../dynamo-faults.ts';

export type FaultKind = 'none' | 'conflict' | 'throttled' | 'reply lost';
export const anyFaults = fc.array(fc.constantFrom<FaultKind>('none', 'conflict', 'throttled', 'reply lost'), {
  maxLength: 4,
});

/** Returns one fault for each of the first attempts of every kind of write. */
export function faultOf(kinds: readonly FaultKind[], operation: string, attempt: number): DynamoFault | undefined {
  const kind = kinds[attempt - 1] ?? 'none';
  if (kind === 'none' || !/^(UpdateItem|TransactWriteItems)/.test(operation)) return undefined;
  if (kind === 'reply lost') return { kind: 'lose_reply' };
  if (kind === 'throttled') {
    return { kind: 'throw', error: Object.assign(new Error('slow down'), { name: 'ThrottlingException' }) };
  }
  const facts = { message: 'conflict', $metadata: {} };
  const CancellationReasons = [{ Code: 'TransactionConflict' }];
  const transaction = operation.startsWith('Transact');
  return {
    kind: 'throw',
    error: transaction
      ? new TransactionCanceledException({ ...facts, CancellationReasons })
      : new TransactionConflictException(facts),
  };
}
