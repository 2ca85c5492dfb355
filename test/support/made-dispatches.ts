import { createHash } from 'node:crypto';
import type { DispatchHead, Recipient } from '../../lib/messages/dispatch/head.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';

export function makeDispatchHead(overrides: Partial<DispatchHead> = {}): DispatchHead {
  return {
    dispatchId: '01JD0000000000000000000000',
    clientId: 1001,
    did: '5491100000001',
    wabaId: '200000000000001',
    phoneNumberId: '300000000000001',
    credential: 'main',
    throughputPerSecond: 1_000,
    path: 'messages',
    category: 'MARKETING',
    templateName: 'order_update',
    templateLanguage: 'en_US',
    acceptedAtMs: 1_700_000_000_000,
    total: 1,
    ...overrides,
  };
}

export function makeDispatch(recipients: Recipient[], head: Partial<DispatchHead> = {}): WholeDispatch {
  return {
    head: makeDispatchHead({ total: recipients.length, ...head }),
    plan: { templateName: 'order_update', languageCode: 'en_US', buttons: [{ index: 0, kind: 'url' }], cards: [] },
    recipients,
  };
}

/** Makes distinct recipients; each has `textBytes` of text that compresses badly, and all share `text`. */
export function makeRecipients(count: number, textBytes = 40, text = ''): Recipient[] {
  return Array.from({ length: count }, (_, index) => ({
    to: String(5_491_155_000_000 + index),
    params: { body: [`Ana ${index}`, noise(index, textBytes) + text], buttons: [`order-${index}`] },
  }));
}

/** Makes a parent user id of 135 characters that looks random, different for each name. */
export function longestId(name: string): string {
  const digits = [0, 1, 2, 3].map((part) => createHash('sha256').update(`${name} ${part}`).digest('base64'));
  return `US.ENT.${digits
    .join('')
    .replace(/[^0-9A-Za-z]/g, 'x')
    .slice(0, 128)}`;
}

/** Makes letters that look random and are the same in every run. */
function noise(seed: number, length: number): string {
  let state = seed * 2_654_435_761 + 1;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += state.toString(36);
  }
  return text.slice(0, length);
}
