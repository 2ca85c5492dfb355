import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Pause, storePause } from './pause.ts';

/** Every store of a table takes it in this form, or what it needs of it. */
export interface Table {
  readonly client: DynamoDBDocumentClient;
  readonly name: string;
  readonly nowMs: () => number;
  /** Waits before a request is repeated. */
  readonly pause: Pause;
}

export function tableOf(
  client: DynamoDBDocumentClient,
  name: string,
  more: Partial<Pick<Table, 'nowMs' | 'pause'>> = {},
): Table {
  return { client, name, nowMs: Date.now, pause: storePause, ...more };
}
