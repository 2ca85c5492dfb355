import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

type Item = Readonly<Record<string, unknown>>;

interface Read {
  readonly ConsistentRead?: boolean;
  readonly RequestItems?: Readonly<Record<string, { readonly ConsistentRead?: boolean; readonly Keys?: Item[] }>>;
}

interface Reply {
  Responses?: Record<string, Item[]>;
}

/**
 * Delays eventually consistent reads as far as possible, which DynamoDB Local never does. Such a read returns the item
 * or the query result of the previous read, and nothing the first time.
 */
export function lagReads(client: DynamoDBDocumentClient): void {
  const seenItems = new Map<string, Item>();
  const seenReplies = new Map<string, object>();
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      const read = args.input as Read;
      const output = result.output as Reply;
      const command = String(context['commandName']);
      if (command.startsWith('BatchGet')) {
        for (const [table, { ConsistentRead }] of Object.entries(read.RequestItems ?? {})) {
          if (ConsistentRead === true || output.Responses === undefined) continue;
          output.Responses[table] = earlier(seenItems, table, output.Responses[table] ?? []);
        }
      } else if (/^(Get|Query)/.test(command) && read.ConsistentRead !== true) {
        const asked = JSON.stringify(read);
        const before = seenReplies.get(asked);
        seenReplies.set(asked, { ...output });
        Object.assign(output, { Item: undefined, Items: [], Count: 0, LastEvaluatedKey: undefined }, before);
      }
      return result;
    },
    { step: 'deserialize', name: 'lagReads', priority: 'high', tags: ['test'] },
  );
}

function earlier(seen: Map<string, Item>, table: string, items: readonly Item[]): Item[] {
  return items.flatMap((item) => {
    const name = JSON.stringify([table, item['pk'], item['sk']]);
    const before = seen.get(name);
    seen.set(name, item);
    return before === undefined ? [] : [before];
  });
}
