import type { queueMessageMaxBytes } from '../lib/aws/queue-body.ts';
import type { queuePurposes } from './names.ts';

/**
 * The queues as plain data. `variable` is the environment variable under which a granted sender finds the queue's URL;
 * the last two say in the dead-letter alarm who is hurt and what to do about it.
 */
export interface QueueShape {
  readonly variable: string;
  /** How long a message waits for a consumer. Paid messages must survive a long stall: SQS drops silently at the end. */
  readonly retentionDays: number;
  /** Deliveries before a message goes to the dead-letter queue. */
  readonly maxReceiveCount: number;
  readonly whoIsHurt: string;
  readonly whatToDo: string;
}

export type QueueName = keyof typeof queuePurposes;

/** SQS's maximum. A message keeps its age when it moves, so this must be longer than every queue's own retention. */
export const deadLetterRetentionDays = 14;

/** As large as the code makes them; SQS takes 256 KiB where nothing is said. */
export const messageMaxBytes: typeof queueMessageMaxBytes = 1_048_576;

/** AWS's rule for a queue that a function consumes: a delivery must not reappear while its function may still run. */
export const visibilityPerTimeout = 6;

const redrive = 'Find the cause in the logs of the function, fix it, then redrive the dead-letter queue';

export const queues: Readonly<Record<QueueName, QueueShape>> = {
  sendJobs: {
    variable: 'SEND_JOB_QUEUE_URL',
    retentionDays: 10,
    maxReceiveCount: 5,
    whoIsHurt: 'Clients whose accepted send requests are not, or only partly, on their way to the recipients.',
    whatToDo: `${redrive}: recipients who were already reached are not sent to again.`,
  },
  dispatch: {
    variable: 'DISPATCH_QUEUE_URL',
    retentionDays: 10,
    maxReceiveCount: 5,
    whoIsHurt: 'Recipients whose message was accepted and not handed to the platform.',
    whatToDo: `${redrive} before its letters are 14 days old: claims live for 30, so nobody is sent to twice.`,
  },
  urgent: {
    variable: 'URGENT_QUEUE_URL',
    retentionDays: 10,
    maxReceiveCount: 5,
    whoIsHurt:
      'Recipients of small requests, of one-time codes above all, whose message was accepted and not handed to the platform.',
    whatToDo: `${redrive} before its letters are 14 days old: claims live for 30, so nobody is sent to twice.`,
  },
  watch: {
    variable: 'WATCH_QUEUE_URL',
    retentionDays: 10,
    maxReceiveCount: 5,
    whoIsHurt:
      'Clients who are not told that a dispatch has come to its end; what became of its messages they are told.',
    whatToDo: `${redrive}: an end that is told twice has one id.`,
  },
  sync: {
    variable: 'SYNC_QUEUE_URL',
    retentionDays: 1,
    maxReceiveCount: 5,
    whoIsHurt: 'Clients whose synchronization stopped half way: their listing shows templates as they were before.',
    whatToDo: 'Find the cause in the logs of the function, fix it, start a new synchronization and purge this queue.',
  },
  events: {
    variable: 'EVENT_QUEUE_URL',
    retentionDays: 10,
    maxReceiveCount: 5,
    whoIsHurt: 'Clients who are not told what became of their templates, synchronizations and messages.',
    whatToDo: `${redrive}: receivers tell a repeated event by its id, and what waits in the table is looked at again.`,
  },
  receipts: {
    variable: 'RECEIPT_QUEUE_URL',
    retentionDays: 10,
    maxReceiveCount: 5,
    whoIsHurt: 'Clients whose reports do not show what became of messages after the platform took them.',
    whatToDo: `${redrive}: a receipt that comes twice changes nothing.`,
  },
  hints: {
    variable: 'HINT_QUEUE_URL',
    retentionDays: 1,
    maxReceiveCount: 5,
    whoIsHurt: 'Clients who see a template or a number as it was before the platform changed it.',
    whatToDo: 'Find the cause in the logs of the function, fix it, start a synchronization and purge this queue.',
  },
  inbound: {
    variable: 'INBOUND_QUEUE_URL',
    retentionDays: 10,
    maxReceiveCount: 5,
    whoIsHurt:
      'Recipients who have said that they want no marketing, and get more; clients who are not told what people reply.',
    whatToDo: `${redrive} at once: until then what these people have said is not heard. A word that comes twice changes nothing.`,
  },
};
