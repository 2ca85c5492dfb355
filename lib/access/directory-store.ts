import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Directory } from './directory.ts';

/** Placeholder: the store itself is built on another branch and replaces this file. */
export const directoryStore: (documentClient: DynamoDBDocumentClient, tableName: string) => Directory = () =>
  Object.create(null) as Directory;
