import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Pause } from '../../aws/pause.ts';
import { type ScanPace, scanTable } from '../../aws/table-scan.ts';
import { clientPartition } from '../../webhooks/items.ts';
import type { ErasePorts } from './erase-ports.ts';
import { attributesRead, skippedKinds } from './person-data.ts';

interface ScanOptions {
  readonly client: DynamoDBDocumentClient;
  readonly tables: ErasePorts['tables'];
  readonly pace: ScanPace;
  readonly pause: Pause;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** A filter expression takes a hundred operands; with more ids all events are returned. */
const mostFiltered = 50;

/**
 * DynamoDB bills filtered items but does not transfer them: packed items must be transferred, events are searched by
 * the filter.
 */
export function personScans({
  client,
  tables,
  pace,
  ...ports
}: ScanOptions): Pick<ErasePorts, 'scanMessages' | 'scanEvents'> {
  const scanPorts = { ...ports, documentClient: client };
  return {
    scanMessages: async (each) => {
      const { partitions, sortKeys } = skippedKinds;
      const others = [
        ...partitions.map((_, at) => `NOT begins_with(pk, :pk${at})`),
        ...sortKeys.map((_, at) => `NOT begins_with(sk, :sk${at})`),
      ];
      return await scanTable(
        {
          TableName: tables.messages,
          ProjectionExpression: attributesRead.map((_, at) => `#a${at}`).join(', '),
          ExpressionAttributeNames: Object.fromEntries(attributesRead.map((name, at) => [`#a${at}`, name])),
          FilterExpression: others.join(' AND '),
          ExpressionAttributeValues: {
            ...Object.fromEntries(partitions.map((value, at) => [`:pk${at}`, value])),
            ...Object.fromEntries(sortKeys.map((value, at) => [`:sk${at}`, value])),
          },
        },
        pace,
        each,
        scanPorts,
      );
    },

    scanEvents: async ({ ids, clientId }, each) => {
      const some = ids.size > mostFiltered ? [] : [...ids];
      const spelling = some.map((_, at) => `contains(event, :id${at})`).join(' OR ');
      const filters = [
        ...['attribute_exists(event)', ...(some.length === 0 ? [] : [`(${spelling})`])],
        ...(clientId === undefined ? [] : ['pk = :client']),
      ];
      const values = {
        ...Object.fromEntries(some.map((id, at) => [`:id${at}`, id])),
        ':client': clientId === undefined ? undefined : clientPartition(clientId),
      };
      return await scanTable(
        {
          TableName: tables.webhooks,
          ProjectionExpression: 'pk, sk, event',
          FilterExpression: filters.join(' AND '),
          ...(Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: values }),
        },
        pace,
        each,
        scanPorts,
      );
    },
  };
}
