import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { SQSMessageAttribute, SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import { present } from '../../lib/keys/present.ts';
import { localRegion } from './intrinsics.ts';

/** A message as Lambda hands it to a function. */
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
    ...present({ md5OfMessageAttributes: message.MD5OfMessageAttributes }),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: localRegion,
  };
}

function attributeOf(value: MessageAttributeValue): SQSMessageAttribute {
  return {
    ...present({
      stringValue: value.StringValue,
      binaryValue: value.BinaryValue && Buffer.from(value.BinaryValue).toString('base64'),
    }),
    stringListValues: [],
    binaryListValues: [],
    dataType: value.DataType ?? '',
  };
}

/** Largest payload of one invocation, in bytes (Lambda: 6 MB as measured at its border). */
export const invocationMaxBytes = 6_291_556;

/** Room for the `{"Records":[...]}` around the records. */
const eventFrameBytes = 20;

/** Cuts a batch where the next record would lift the payload over Lambda's limit; order is kept. */
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
 * The records that are done, given what the function answered with ReportBatchItemFailures on: all but the listed ones.
 * No list, an empty one or no answer at all means all; an answer of another form, an empty identifier or one that is not
 * of this batch means none, so the whole batch comes again (R18).
 */
export function recordsDone(records: readonly SQSRecord[], answer: unknown): readonly SQSRecord[] {
  const parsed = v.safeParse(BatchAnswerSchema, answer);
  if (!parsed.success) return [];
  const failed = new Set(parsed.output?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier));
  const known = new Set(records.map(({ messageId }) => messageId));
  if ([...failed].some((identifier) => !known.has(identifier))) return [];
  return records.filter(({ messageId }) => !failed.has(messageId));
}
