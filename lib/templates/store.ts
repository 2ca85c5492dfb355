import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { TemplatesForSending } from './template.ts';

export function templateStore(_documentClient: DynamoDBDocumentClient, _tableName: string): TemplatesForSending {
  const notMerged = () => Promise.reject(new Error('the template store is not merged yet'));
  return { find: notMerged, refresh: notMerged };
}
