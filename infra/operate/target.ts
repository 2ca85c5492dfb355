import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { documentClient } from '../../lib/aws/dynamodb.ts';
import { resourceName } from '../names.ts';
import type { TableName } from '../tables.ts';

export interface OperateTarget {
  readonly documentClient: DynamoDBDocumentClient;
  readonly tableName: (table: TableName) => string;
}

export function operateTarget(args: readonly string[]): OperateTarget {
  const stageAt = args.indexOf('--stage');
  const stage = stageAt === -1 ? undefined : args[stageAt + 1];
  if (stage !== undefined) {
    return { documentClient: documentClient(), tableName: (table) => resourceName(stage, table) };
  }
  const file = resolve(join(import.meta.dirname, '..', '..', 'dist', 'local-stack.json'));
  const { dynamodbEndpoint: endpoint, region } = JSON.parse(readFileSync(file, 'utf8'));
  return {
    documentClient: documentClient({
      endpoint,
      region,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    }),
    tableName: (table) => resourceName('local', table),
  };
}
