import type { ReportedState } from '../../../lib/messages/receipts/reported-state.ts';
import { call, type DemoStack } from './client.ts';

/** The recipient is one of the magic recipients (infra/simulator/README.md). */
export interface SpecialRecipient {
  readonly to: string;
  readonly what: string;
  readonly ending: ReportedState;
  readonly code?: string;
  /** The course of its statuses replaces the simulator's, which is too quick to watch, or too slow. */
  readonly course?: object;
}

/** The answer for this recipient is lost, so only a receipt tells that the platform took the message. */
export const lostRecipient = '15550000200';

export const specialRecipients: readonly SpecialRecipient[] = [
  { to: '15550231026', what: 'refused at once', ending: 'failed', code: '131026' },
  { to: '15550131026', what: 'taken, failed later', ending: 'failed', code: '131026' },
  { to: '15550131049', what: 'taken, failed later', ending: 'failed', code: '131049' },
  { to: '15550131050', what: 'taken, failed later', ending: 'failed', code: '131050' },
  { to: '15550131053', what: 'taken, failed later', ending: 'failed', code: '131053' },
  { to: '15550000201', what: 'held, then released', ending: 'read', course: { held_ms: 6_000 } },
  { to: '15550132015', what: 'held, then dropped', ending: 'failed', code: '132015', course: { held_ms: 6_000 } },
  { to: '15550000202', what: 'held to the end', ending: 'held', code: 'paused' },
  { to: lostRecipient, what: 'the answer lost', ending: 'read', course: { late_ms: 8_000 } },
];

export async function arrange({ platformUrl }: DemoStack, signal: AbortSignal): Promise<void> {
  for (const { to, course } of specialRecipients) {
    if (course === undefined) continue;
    const body = { match: { to }, course, times: 1 };
    await call({ baseUrl: platformUrl, route: 'POST /_control/receipts', body, signal });
  }
}
