import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite } from '../aws/conditional-write.ts';
import { type AuditEntry, auditExpirySeconds, auditKey } from './entry.ts';

/** Adds a line. Throws when the table cannot be reached. */
export type AppendEntry = (entry: AuditEntry, deadline?: AbortSignal) => Promise<void>;

/**
 * Adds to the table `audit`. No line is ever changed: one that is there was written by an attempt whose answer was
 * lost, for no two have the same id.
 */
export function auditWriter(documentClient: DynamoDBDocumentClient, tableName: string): AppendEntry {
  return async (entry, deadline) => {
    const { whose: _whose, atMs, id: _id, ...facts } = entry;
    const write = new PutCommand({
      TableName: tableName,
      Item: { ...auditKey(entry), ...facts, expiresAtSeconds: auditExpirySeconds(atMs) },
      ConditionExpression: 'attribute_not_exists(pk)',
    });
    await conditionalWrite(documentClient.send(write, { abortSignal: deadline }));
  };
}
