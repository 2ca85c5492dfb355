import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../aws/conditional-write.ts';
import { type Rates, RatesSchema } from './rates.ts';

/** The source's rates are kept by date, because a past delivery costs what it cost then (D58). */
export interface RatesStore {
  /** Returns one for each date, the earliest first, strongly consistent. Throws on another form. */
  find(): Promise<readonly Rates[]>;
  /** Replaces the rates of their date. Throws under lasting contention. */
  keepOfDate(rates: Rates): Promise<void>;
}

const StoredSchema = v.object({ version: v.number(), rates: v.array(RatesSchema) });
const key = { pk: 'RATES' };

/** At four a year, it covers more than the 400 days for which sums are kept. */
const mostKept = 12;
const mostTries = 5;

export function ratesStore(client: DynamoDBDocumentClient, tableName: string): RatesStore {
  async function read(): Promise<v.InferOutput<typeof StoredSchema>> {
    const { Item } = await client.send(new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true }));
    return Item === undefined ? { version: 0, rates: [] } : v.parse(StoredSchema, Item);
  }
  return {
    find: async () => (await read()).rates,
    keepOfDate: async (rates) => {
      for (let times = 0; times < mostTries; times += 1) {
        const { version, rates: before } = await read();
        const others = before.filter(({ effective }) => effective !== rates.effective);
        const all = [...others, rates].toSorted((one, other) => (one.effective < other.effective ? -1 : 1));
        const { written } = await conditionalWrite(
          client.send(
            new PutCommand({
              TableName: tableName,
              Item: { ...key, version: version + 1, rates: all.slice(-mostKept) },
              ConditionExpression: 'attribute_not_exists(pk) OR version = :version',
              ExpressionAttributeValues: { ':version': version },
            }),
          ),
        );
        if (written) return;
      }
      throw new Error('the stored rates keep changing');
    },
  };
}
