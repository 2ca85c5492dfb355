import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../aws/conditional-write.ts';
import { type Rates, RatesSchema } from './rates.ts';

/** The last good rates that were read from the source. */
export interface RatesStore {
  /** The stored rates, strongly consistent; undefined when there are none. Throws what is no rate file. */
  find(): Promise<Rates | undefined>;
  /** Replaces the stored rates unless they take effect later than these; false when they do. */
  replaceOlder(rates: Rates): Promise<boolean>;
}

const StoredSchema = v.optional(v.object({ rates: RatesSchema }));
const key = { pk: 'RATES' };

export function ratesStore(client: DynamoDBDocumentClient, tableName: string): RatesStore {
  return {
    find: async () => {
      const { Item } = await client.send(new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true }));
      return v.parse(StoredSchema, Item)?.rates;
    },
    replaceOlder: async (rates) => {
      const { written } = await conditionalWrite(
        client.send(
          new PutCommand({
            TableName: tableName,
            Item: { ...key, effective: rates.effective, rates },
            ConditionExpression: 'attribute_not_exists(pk) OR effective <= :effective',
            ExpressionAttributeValues: { ':effective': rates.effective },
          }),
        ),
      );
      return written;
    },
  };
}
