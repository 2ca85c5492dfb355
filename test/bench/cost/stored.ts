import type { NativeAttributeValue } from '@aws-sdk/util-dynamodb';
import { scanTable } from '../../../lib/aws/table-scan.ts';
import type { LoadedTable } from '../../support/scale-loading.ts';
import { itemOverheadBytes } from './assumed.ts';

/** Returns the bytes that DynamoDB bills for all items of a table. */
export async function storedBytes({ documentClient, tableName }: LoadedTable): Promise<number> {
  let bytes = 0;
  await scanTable(
    { TableName: tableName },
    { segments: 1, unitsPerSecond: Number.MAX_SAFE_INTEGER },
    async (items) => {
      for (const item of items) bytes += itemBytes(item) + itemOverheadBytes;
    },
    { documentClient, pause: async () => undefined, nowMs: Date.now, sleep: async () => undefined },
  );
  return bytes;
}

/** DynamoDB counts the names and the values of an item. */
export function itemBytes(item: Readonly<Record<string, NativeAttributeValue>>): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);
}

/** A list or a map has three bytes of its own and one for each member; a number has one, and one for two digits. */
function valueBytes(value: NativeAttributeValue): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number' || typeof value === 'bigint') return 1 + Math.ceil(String(value).length / 2);
  if (typeof value === 'boolean' || value === null) return 1;
  if (value instanceof Uint8Array) return value.byteLength;
  const members = Array.isArray(value) || value instanceof Set ? [...value] : undefined;
  if (members !== undefined) return members.reduce((sum: number, each) => sum + 1 + valueBytes(each), 3);
  return 3 + Object.keys(value).length + itemBytes(value);
}
