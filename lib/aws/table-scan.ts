import { type DynamoDBDocumentClient, ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Item } from './dynamodb-batch.ts';
import { maxRepetitions, type Pause } from './pause.ts';

/** A whole table is read in so many segments side by side, none of them faster than so many read units a second. */
export interface ScanPace {
  readonly segments: number;
  readonly unitsPerSecond: number;
}

interface ScanPorts {
  readonly documentClient: DynamoDBDocumentClient;
  /** Waits before a page is asked for again that DynamoDB had no capacity for. */
  readonly pause: Pause;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** What DynamoDB says of a moment without capacity; the SDK has tried again by itself before. */
const throttles = new Set(['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded']);

/**
 * Reads all of a table, page by page, not strongly consistent: what was written within the last second may be missed. `each` is
 * awaited before the next page of its segment is asked for, so that no more than a page for each segment is in memory. Returns the
 * read units that were used. Throws where a page stays throttled, and what `each` throws.
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
