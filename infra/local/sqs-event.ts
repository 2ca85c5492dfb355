import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { SQSMessageAttribute, SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import { localRegion } from './intrinsics.ts';

export function recordOf(message: Message, queueArn: string): SQSRecord {
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: { ...message.Attributes } as unknown as SQSRecord['attributes'],
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, attributeOf(value)]),
    ),
    md5OfBody: message.MD5OfBody ?? '',
    md5OfMessageAttributes: message.MD5OfMessageAttributes,
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: localRegion,
  };
}

function attributeOf(value: MessageAttributeValue): SQSMessageAttribute {
  return {
    stringValue: value.StringValue,
    binaryValue: value.BinaryValue && Buffer.from(value.BinaryValue).toString('base64'),
    stringListValues: [],
    binaryListValues: [],
    dataType: value.DataType ?? '',
  };
}

/** Lambda takes at most this payload in one invocation, in bytes (6 MB as measured at the limit). */
export const invocationMaxBytes = 6_291_556;

/** The `{"Records":[...]}` around the records needs this room. */
const eventFrameBytes = 20;

/** Splits a batch before the record that would exceed Lambda's payload limit; the order is kept. */
export function withinPayloadLimit(records: readonly SQSRecord[], maxBytes = invocationMaxBytes): SQSRecord[][] {
  const batches: SQSRecord[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const recordBytes = Buffer.byteLength(JSON.stringify(record)) + 1;
    if (bytes + recordBytes > maxBytes) {
      batches.push([]);
      bytes = eventFrameBytes;
    }
    batches.at(-1)?.push(record);
    bytes += recordBytes;
  }
  return batches;
}

const BatchAnswerSchema = v.pipe(
  v.unknown(),
  v.check((answer) => !Array.isArray(answer)),
  v.nullish(
    v.object({
      batchItemFailures: v.nullish(v.array(v.object({ itemIdentifier: v.pipe(v.string(), v.minLength(1)) }))),
    }),
  ),
);

/**
 * Returns the finished records by a ReportBatchItemFailures answer: all but the listed ones. No answer or an empty list
 * means all; a malformed answer or an identifier of another batch means none, so the whole batch comes again (R18).
 */
export function recordsDone(records: readonly SQSRecord[], answer: unknown): readonly SQSRecord[] {
  const parsed = v.safeParse(BatchAnswerSchema, answer);
  if (!parsed.success) return [];
  const failed = new Set(parsed.output?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier));
  const known = new Set(records.map(({ messageId }) => messageId));
  if ([...failed].some((identifier) => !known.has(identifier))) return [];
  return records.filter(({ messageId }) => !failed.has(messageId));
}
