import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { localRegion } from '../../infra/local/intrinsics.ts';
import { localTarget, type Target } from '../../infra/operate/target.ts';
import { addressOf } from './addresses.ts';

let target: Target | undefined;

/** Reads the stored lock of synchronizations of the shared stack; `lease` is absent while no run holds it. */
export async function syncLock(): Promise<Record<string, unknown>> {
  const [dynamodbEndpoint, secretsEndpoint] = [addressOf('dynamodbEndpoint'), addressOf('secretsEndpoint')];
  target ??= localTarget({ dynamodbEndpoint, secretsEndpoint, region: localRegion, stage: 'local' });
  const { documentClient, tableName } = target;
  const Key = { pk: 'LOCK#sync', sk: 'LOCK' };
  const { Item } = await documentClient.send(
    new GetCommand({ TableName: tableName('templates'), Key, ConsistentRead: true }),
  );
  return Item ?? {};
}
