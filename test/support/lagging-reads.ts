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
 * Makes eventually consistent reads as late as they may be; DynamoDB Local is never late. Such a read sees an item, or the
 * result of a query, as it was when it was last asked for, and the first time as if it was not there.
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
