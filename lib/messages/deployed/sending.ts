import { randomUUID } from 'node:crypto';
import { type Pause, sleep } from '../../aws/pause.ts';
import { log } from '../../observe/log.ts';
import { deployedEvents } from '../../webhooks/deployed.ts';
import { acceptedJobsStore } from '../accept/accepted-jobs-store.ts';
import { sliceStore } from '../dispatch/claims/slice-store.ts';
import { paceStore } from '../pace/pace-store.ts';
import { messagesTable } from './messages-table.ts';

/** `pause` is the backoff after a lost optimistic lock. */
export function deployedPaces(pause?: Pause) {
  return paceStore({ ...messagesTable(), newWriter: randomUUID, ...(pause === undefined ? {} : { pause }) });
}

export function deployedAcceptedJobs() {
  const { client, table, nowMs } = messagesTable();
  return acceptedJobsStore(client, table, nowMs);
}

export function deployedSending() {
  return {
    slices: sliceStore(messagesTable()),
    events: deployedEvents(),
    nowMs: Date.now,
    random: Math.random,
    pause: sleep,
    log,
  };
}
