import { type DynamoDBDocumentClient, ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Item } from './dynamodb-batch.ts';
import { maxRepetitions, type Pause } from './pause.ts';

export interface ScanPace {
  readonly segments: number;
  readonly unitsPerSecond: number;
}

interface ScanPorts {
  readonly documentClient: DynamoDBDocumentClient;
  readonly pause: Pause;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** These throttles remain after the SDK's own retries. */
const throttles = new Set(['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded']);

/**
 * Scans a table, eventually consistently: writes of the last second may be missing. `each` is awaited before a
 * segment's next page, which bounds memory. Returns the used read units. Throws for a lasting throttle, and what `each`
 * throws.
 */
export async function scanTable(
  query: Omit<ScanCommandInput, 'Segment' | 'TotalSegments' | 'ExclusiveStartKey' | 'ReturnConsumedCapacity'>,
  { segments, unitsPerSecond }: ScanPace,
  each: (items: readonly Item[]) => Promise<void>,
  ports: ScanPorts,
): Promise<number> {
  const readSegment = async (Segment: number): Promise<number> => {
    const sinceMs = ports.nowMs();
    let units = 0;
    let start: Item | undefined;
    do {
      const page = await pageFrom({ ...query, Segment, TotalSegments: segments, ExclusiveStartKey: start }, ports);
      units += page.ConsumedCapacity?.CapacityUnits ?? 0;
      if ((page.Items?.length ?? 0) > 0) await each(page.Items ?? []);
      start = page.LastEvaluatedKey;
      const aheadMs = (1_000 * units) / unitsPerSecond - (ports.nowMs() - sinceMs);
      if (start !== undefined && aheadMs > 0) await ports.sleep(aheadMs);
    } while (start !== undefined);
    return units;
  };
  const ends = await Promise.allSettled(Array.from({ length: segments }, (_, segment) => readSegment(segment)));
  let units = 0;
  for (const end of ends) {
    if (end.status === 'rejected') throw end.reason;
    units += end.value;
  }
  return units;
}

async function pageFrom(input: ScanCommandInput, { documentClient, pause }: ScanPorts) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await documentClient.send(new ScanCommand({ ...input, ReturnConsumedCapacity: 'TOTAL' }));
    } catch (error) {
      if (attempt > maxRepetitions || !(error instanceof Error) || !throttles.has(error.name)) throw error;
      await pause(attempt);
    }
  }
}
