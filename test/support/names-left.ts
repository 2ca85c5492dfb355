import { brotliDecompressSync, gunzipSync, inflateRawSync } from 'node:zlib';
import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../lib/aws/dynamodb-batch.ts';

/* The search finds a person's data where the service may keep none. It knows no format of ours: it unpacks everything
   that can be unpacked, base64 inside texts too, because the platform's ids contain numbers in that form. */

export async function allItems(client: DynamoDBDocumentClient, table: string): Promise<Item[]> {
  const items: Item[] = [];
  let start: Item | undefined;
  do {
    const page = await client.send(
      new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: start }),
    );
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return items;
}

/** Returns the keys of items that contain one of the words, in any packing. */
export function itemsWith(words: readonly string[], items: readonly Item[]): string[] {
  return items.filter((item) => textHolds(words, textOf(item))).map(({ pk, sk }) => `${pk} / ${sk}`);
}

/** Tells whether a text contains one of the words, plain or in base64. */
export function textHolds(words: readonly string[], text: string): boolean {
  const decoded = [...text.matchAll(/[0-9A-Za-z+/]{16,}={0,2}/g)].map(([each]) =>
    Buffer.from(each, 'base64').toString('latin1'),
  );
  return [text, ...decoded].some((each) => words.some((word) => each.includes(word)));
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return textOf(unpackedBy(value));
  if (value instanceof Set) return [...value].map(textOf).join(' ');
  if (Array.isArray(value)) return value.map(textOf).join(' ');
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, each]) => `${name} ${textOf(each)}`)
      .join(' ');
  }
  return String(value);
}

function unpackedBy(bytes: Uint8Array): string {
  for (const unpack of [brotliDecompressSync, gunzipSync, inflateRawSync]) {
    try {
      return unpack(bytes).toString('utf8');
    } catch {
      // This packing does not apply.
    }
  }
  throw new Error('bytes that cannot be unpacked: what they hold is not known');
}
