import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { SyncPorts } from '../../../../lib/templates/sync/sync.ts';

/** Refuses transactions with items of this partition, as if they were too large. */
export function refuseWritesOf(client: DynamoDBDocumentClient, partition: string): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const { TransactItems = [] } = args.input as { TransactItems?: { Update?: { Key?: { pk?: string } } }[] };
      const reasons = TransactItems.map(({ Update }) => ({
        Code: Update?.Key?.pk === partition ? 'ValidationError' : 'None',
      }));
      if (reasons.every(({ Code }) => Code === 'None')) return next(args);
      throw new TransactionCanceledException({ message: 'no', $metadata: {}, CancellationReasons: reasons });
    },
    { step: 'initialize', name: 'refuseWritesOf' },
  );
}

/** The run dies before or after its n-th call, and gets no later answer. */
export function crashingAt(point: number, real: SyncPorts): { crashing: SyncPorts; crashed: Promise<'crashed'> } {
  const { mortal, crashed } = mortalCalls(point);
  const crashing = {
    ...real,
    directory: { listWabas: mortal(real.directory.listWabas) },
    templates: {
      rowsOf: mortal(real.templates.rowsOf),
      storedFacts: mortal(real.templates.storedFacts),
      writeUpstream: mortal(real.templates.writeUpstream),
    },
    platform: { page: mortal(real.platform.page) },
    locks: {
      acquire: real.locks.acquire,
      heartbeat: mortal(real.locks.heartbeat),
      release: mortal(real.locks.release),
    },
  };
  return { crashing, crashed };
}

/** Counts the calls of one run; at `point` it resolves `crashed`, and no call returns any more. */
function mortalCalls(point: number) {
  let calls = 0;
  let die: (how: 'crashed') => void = () => undefined;
  const crashed = new Promise<'crashed'>((resolve) => {
    die = resolve;
  });
  const never = () => {
    die('crashed');
    return new Promise<never>(() => undefined);
  };
  const mortal = <A extends unknown[], R>(call: (...given: A) => Promise<R>) => {
    return async (...given: A): Promise<R> => {
      calls += 1;
      if (calls >= point) return never();
      const result = await call(...given);
      calls += 1;
      return calls >= point ? never() : result;
    };
  };
  return { mortal, crashed };
}
