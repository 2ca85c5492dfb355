import type { RunningStack } from '../../../infra/local/stack.ts';
import { startFunction } from '../function-process.ts';
import { startMeteringProxy } from '../metering-proxy.ts';
import { benchTable } from '../template-tables.ts';
import * as assumed from './assumed.ts';
import { type Counts, lambdaTime, times, totalDollars } from './price.ts';
import { minutesOfMonth } from './standing.ts';

const warmUps = 5;

/** Returns what a sweep takes where nothing is due, by the built function. */
export async function costOfSweep(stack: RunningStack): Promise<Counts> {
  const { tableName } = await benchTable(stack, 'cost-sweep', 'messages');
  const dynamodb = await startMeteringProxy(stack.addresses.dynamodbEndpoint);
  const sweep = startFunction(stack, 'messages-sweep', {
    addresses: { dynamodbEndpoint: dynamodb.endpoint },
    variables: { MESSAGES_TABLE: tableName },
  });
  try {
    for (let run = 0; run < warmUps; run += 1) await sweep.run({});
    dynamodb.taken();
    const { processorMs, logBytes } = await sweep.run({});
    const { requests, ...units } = dynamodb.taken();
    return {
      ...units,
      invocations: 1,
      ...lambdaTime({
        memoryMb: assumed.memoryOf('messages-sweep'),
        waitedMs: requests * assumed.storeMs,
        processorMs,
      }),
      logBytes: logBytes + assumed.invocationLogBytes,
    };
  } finally {
    sweep.stop();
    dynamodb.stop();
  }
}

/** Returns the dollars of a month of sweeps, one each minute. */
export function dollarsOfSweeps(sweep: Counts): number {
  return totalDollars(times(sweep, minutesOfMonth));
}
