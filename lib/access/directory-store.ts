import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Directory } from './directory.ts';

export function directoryStore(_client: DynamoDBDocumentClient, _tableName: string): Directory {
  const notMerged = () => Promise.reject(new Error('the directory store is not merged yet'));
  return {
    findDid: notMerged,
    findUser: notMerged,
    listWabas: notMerged,
    listCampaigns: notMerged,
    findChannels: notMerged,
  };
}
