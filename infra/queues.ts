import type { queueMessageMaxBytes } from '../lib/aws/queue-body.ts';
import type { queuePurposes } from './names.ts';
import type { Severity } from './severity.ts';

/**
 * `variable` is the environment variable in which a granted sender finds the queue's URL; the queue's alarms show the
 * texts.
 */
export interface QueueShape {
  readonly variable: string;
  /** Paid messages must survive a long outage: SQS drops them silently at the end. */
  readonly retentionDays: number;
  readonly maxReceiveCount: number;
  readonly whoIsHurt: string;
  readonly whatToDo: string;
  /** The queue's alarms and its worker's have this severity. */
  readonly severity: Severity;
  readonly age: QueueAge;
}

/**
 * The alarm rings at this age. No message is delayed over 15 minutes, and one that is sent again starts at age 0, so an
 * older one means that too few functions read the queue.
 */
export interface QueueAge {
  readonly minutes: number;
  /** A period has five minutes. */
  readonly periods: number;
  readonly whoIsHurt: string;
  readonly whatToDo: string;
}

export type QueueName = keyof typeof queuePurposes;

/**
 * SQS allows no more. A message keeps its age when it moves, so this must be longer than every queue's own retention.
 */
export const deadLetterRetentionDays = 14;

/** The code makes messages of up to this size; SQS's default is 256 KiB. */
export const messageMaxBytes: typeof queueMessageMaxBytes = 1_048_576;

/** A message must not be delivered again while its function may still run (AWS's rule for Lambda). */
export const visibilityPerTimeout = 6;

const idle = (worker: string) =>
  `See whether the event source of ${worker} is enabled, and look for its errors and throttles`;

const redrive =
  'Find the cause in the logs of the function, fix it, then send its dead letters again (infra/ops redrive)';

export const queues: Readonly<Record<QueueName, QueueShape>> = {
  dispatch: {
    variable: 'DISPATCH_QUEUE_URL',
    // A wake carries nothing: within a minute a sweep sends another one.
    retentionDays: 1,
    maxReceiveCount: 5,
    whoIsHurt:
      'Clients of a number whose sender has failed five times in a row: their accepted messages leave late, or wait.',
    whatToDo:
      'Read send.error in the log of messages-dispatch, remove the cause, and drop the letters (infra/ops redrive QUEUE --drop --yes): a sweep wakes what waits within a minute.',
    severity: 'page',
    age: {
      minutes: 15,
      periods: 3,
      whoIsHurt: 'Recipients whose accepted message has waited for more than 15 minutes for a sender of its number.',
      whatToDo: `${idle('messages-dispatch')}; when all is quiet, more numbers send than there are workers: raise dispatchMaximumConcurrency.`,
    },
  },
  urgent: {
    variable: 'URGENT_QUEUE_URL',
    retentionDays: 10,
    maxReceiveCount: 5,
    whoIsHurt:
      'Recipients of small requests, of one-time codes above all, whose message was accepted and not handed to the platform.',
    whatToDo: `${redrive} before its letters are 14 days old: claims live for 30, so no recipient is sent to twice.`,
    severity: 'page',
    age: {
      minutes: 5,
      periods: 2,
      whoIsHurt:
        'Recipients of small requests, of one-time codes above all, whose accepted message has waited for more than five minutes.',
      whatToDo: `${idle('messages-dispatch-urgent')}, then for rate-limit answers of the platform in its log; when all are quiet, raise urgentMaximumConcurrency.`,
    },
  },
  counts: {
    variable: 'COUNTS_QUEUE_URL',
    retentionDays: 10,
    maxReceiveCount: 5,
    whoIsHurt: 'Clients whose spend lacks what dispatches cost, until a receipt of each comes.',
    whatToDo: `${redrive}: a count that comes twice counts nothing twice.`,
    severity: 'ticket',
    age: {
      minutes: 45,
      periods: 3,
      whoIsHurt: 'Clients whose spend shows the cost of dispatches 45 minutes late.',
      whatToDo: `${idle('spend-count')}; spend.not_counted in its log says why.`,
    },
  },
  sync: {
    variable: 'SYNC_QUEUE_URL',
    retentionDays: 1,
    maxReceiveCount: 5,
    whoIsHurt: 'Clients whose synchronization stopped half way: their listing shows templates as they were before.',
    whatToDo:
      'Find the cause in the logs of the function, fix it, start a new synchronization and drop its letters (infra/ops redrive QUEUE --drop --yes).',
    severity: 'ticket',
    age: {
      minutes: 30,
      periods: 3,
      whoIsHurt: 'Clients whose synchronization has not gone on for more than 30 minutes.',
      whatToDo: `${idle('templates-sync-worker')}; this queue forgets its messages after a day: start a new synchronization then.`,
    },
  },
  events: {
    variable: 'EVENT_QUEUE_URL',
    retentionDays: 10,
    maxReceiveCount: 5,
    whoIsHurt: 'Clients who are not told what became of their templates, synchronizations and messages.',
    whatToDo: `${redrive}: receivers tell a repeated event by its id, and what waits in the table is looked at again.`,
    severity: 'page',
    age: {
      minutes: 45,
      periods: 3,
      whoIsHurt:
        'Clients who are told late what happened: events have waited for more than 45 minutes to be looked at.',
      whatToDo: `${idle('events-deliver')}; when all are quiet, twenty receivers are slow at a time: see webhook.delivered and webhook.failed in its log for their durations, and raise its concurrency in infra/function-shapes/webhooks.ts.`,
    },
  },
  receipts: {
    variable: 'RECEIPT_QUEUE_URL',
    retentionDays: 10,
    maxReceiveCount: 5,
    whoIsHurt: 'Clients whose reports do not show what became of messages after the platform took them.',
    whatToDo: `${redrive}: a receipt that comes twice changes nothing.`,
    severity: 'page',
    age: {
      minutes: 15,
      periods: 3,
      whoIsHurt:
        'Clients whose reports are behind, and who are told late of messages that failed: receipts have waited for more than 15 minutes.',
      whatToDo: `${idle('messages-receipts')}, and for receipts.failed and receipts.events_left in its log; when all are quiet, raise its concurrency in infra/function-shapes/messages.ts.`,
    },
  },
  hints: {
    variable: 'HINT_QUEUE_URL',
    retentionDays: 1,
    maxReceiveCount: 5,
    whoIsHurt: 'Clients who see a template or a number as it was before the platform changed it.',
    whatToDo:
      'Find the cause in the logs of the function, fix it, start a synchronization and drop its letters (infra/ops redrive QUEUE --drop --yes).',
    severity: 'ticket',
    age: {
      minutes: 45,
      periods: 3,
      whoIsHurt:
        'Clients who see a template or a number as it was before the platform changed it, for more than 45 minutes.',
      whatToDo: `${idle('platform-hints')}; this queue forgets its messages after a day: start a synchronization then.`,
    },
  },
  inbound: {
    variable: 'INBOUND_QUEUE_URL',
    retentionDays: 10,
    maxReceiveCount: 5,
    whoIsHurt:
      'Recipients who have said that they want no marketing, and get more; clients who are not told what people reply.',
    whatToDo: `${redrive} at once: until then what these people have said is not heard. A word that comes twice changes nothing.`,
    severity: 'page',
    age: {
      minutes: 15,
      periods: 2,
      whoIsHurt:
        'Recipients who have said more than 15 minutes ago that they want no marketing, and get more of it meanwhile.',
      whatToDo: `${idle('platform-inbound')}; inbound.not_taken in its log says what fails.`,
    },
  },
};
