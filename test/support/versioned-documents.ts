import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, type PutCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';

type Attributes = Readonly<Record<string, unknown>>;

export interface VersionedItems {
  readonly read: (key: Attributes) => Promise<Attributes | undefined>;
  /** Returns the item in the way. A missing item is overwritten by a writer that has seen one. */
  readonly write: (item: Attributes, expected: number) => Promise<Attributes | undefined>;
}

/** The real code of versioned items (lib/aws/versioned-item.ts) works on a model of a table. */
export function versionedDocuments({ read, write }: VersionedItems): DynamoDBDocumentClient {
  const send = async (command: GetCommand | PutCommand) => {
    if (command instanceof GetCommand) return { Item: await read(command.input.Key ?? {}) };
    const { Item = {}, ExpressionAttributeValues: values } = command.input;
    const inTheWay = await write(Item, values?.[':seen']);
    if (inTheWay === undefined) return {};
    throw new ConditionalCheckFailedException({
      ...{ message: 'it has changed', $metadata: {} },
      Item: marshall(inTheWay, { removeUndefinedValues: true }),
    });
  };
  return { send } as unknown as DynamoDBDocumentClient;
}
