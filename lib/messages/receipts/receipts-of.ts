import { idOf, listOf, objectOf, type PlatformUpdate, timeOf } from '../../platform/webhook/envelope.ts';
import { contactsIn, type Person, personOf } from '../../platform/webhook/person.ts';
import type { NumberReceipts, Pricing, Receipt } from './receipt.ts';

/** A webhook has receipts by number, and statuses that gave none. */
export interface WebhookReceipts {
  readonly numbers: readonly NumberReceipts[];
  readonly total: number;
  /** Other software sent these from the same numbers, which is normal. */
  readonly foreign: number;
  /** These statuses lack id, status or number. */
  readonly unreadable: number;
}

/** The form is exactly what `messageIdOf` writes. */
const dispatchIdForm = /^([0-9A-Z]{26})-(0|[1-9]\d{0,4})$/;

const maxReasonLength = 1_000;
const maxMessageIdLength = 256;
const maxWordLength = 32;

type ContactOf = (named: Person) => Person | undefined;

/**
 * Returns the receipts in a webhook's updates (D38; platform reference, 10.2). Never throws. Cuts long texts, keeps
 * unknown statuses, replaces unreadable times. The contact beside a status completes its person.
 */
export function receiptsOf(updates: readonly PlatformUpdate[], arrivedAtMs: number): WebhookReceipts {
  const numbers = new Map<string, { readonly of: NumberReceipts; readonly receipts: Receipt[] }>();
  let [total, foreign, unreadable] = [0, 0, 0];
  for (const { wabaId, field, value } of updates) {
    const statuses = field === 'messages' ? listOf(value['statuses']) : undefined;
    if (statuses === undefined) continue;
    const phoneNumberId = idOf(objectOf(value['metadata'])?.['phone_number_id']);
    const contactOf = contactsIn(value, statuses.length);
    for (const status of statuses) {
      const receipt = phoneNumberId === undefined ? undefined : receiptOf(status, arrivedAtMs, contactOf);
      if (receipt === 'foreign') foreign += 1;
      else if (receipt === undefined || phoneNumberId === undefined) unreadable += 1;
      else {
        receiptsOfNumber(numbers, wabaId, phoneNumberId).push(receipt);
        total += 1;
      }
    }
  }
  return { numbers: [...numbers.values()].map(({ of }) => of), total, foreign, unreadable };
}

function receiptsOfNumber(
  numbers: Map<string, { readonly of: NumberReceipts; readonly receipts: Receipt[] }>,
  wabaId: string,
  phoneNumberId: string,
): Receipt[] {
  const key = `${wabaId} ${phoneNumberId}`;
  const known = numbers.get(key);
  if (known !== undefined) return known.receipts;
  const receipts: Receipt[] = [];
  numbers.set(key, { of: { wabaId, phoneNumberId, receipts }, receipts });
  return receipts;
}

function receiptOf(value: unknown, arrivedAtMs: number, contactOf: ContactOf): Receipt | 'foreign' | undefined {
  const status = objectOf(value);
  const word = textOf(status?.['status'], maxWordLength);
  const platformMessageId = textOf(status?.['id'], maxMessageIdLength);
  if (status === undefined || word === undefined || platformMessageId === undefined) return undefined;
  const ours = status['biz_opaque_callback_data'];
  const [, dispatchId, index] = (typeof ours === 'string' && dispatchIdForm.exec(ours)) || [];
  if (dispatchId === undefined) return 'foreign';
  return {
    dispatchId,
    index: Number(index),
    status: word,
    atMs: timeOf(status['timestamp']) ?? arrivedAtMs,
    platformMessageId,
    ...failureOf(status['errors']),
    ...pricingOf(status['pricing']),
    ...recipientOf(status, contactOf),
  };
}

/** A message to a group has no single recipient. */
function recipientOf(
  status: Readonly<Record<string, unknown>>,
  contactOf: ContactOf,
): Pick<Receipt, 'userId' | 'waId'> {
  if (status['recipient_type'] === 'group') return {};
  const named = personOf({ waId: status['recipient_id'], userId: status['recipient_user_id'] });
  const { userId, waId } = { ...contactOf(named), ...named };
  return { userId, waId };
}

/** Takes the first error: the platform lists one. */
function failureOf(value: unknown): Pick<Receipt, 'code' | 'reason'> {
  const error = objectOf(listOf(value)?.[0]);
  if (error === undefined) return {};
  const { code } = error;
  const codeText = textOf(typeof code === 'number' ? String(code) : code, maxWordLength);
  const reason =
    textOf(objectOf(error['error_data'])?.['details'], maxReasonLength) ??
    textOf(error['message'], maxReasonLength) ??
    textOf(error['title'], maxReasonLength);
  return { code: codeText, reason };
}

const pricingWords = ['pricing_model', 'type', 'category', 'subtype'] as const;

function pricingOf(value: unknown): Pick<Receipt, 'pricing'> {
  const given = objectOf(value);
  if (given === undefined) return {};
  const pricing: Pricing = {};
  if (typeof given['billable'] === 'boolean') pricing.billable = given['billable'];
  for (const name of pricingWords) {
    const word = textOf(given[name], maxWordLength);
    if (word !== undefined) pricing[name] = word;
  }
  return { pricing };
}

function textOf(value: unknown, maxLength: number): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, maxLength).toWellFormed() : undefined;
}
