import { createHash } from 'node:crypto';
import { errorTitle } from '../errors.ts';
import type { Person } from '../people.ts';
import type { Contact, StatusUpdate } from './update.ts';

/** Times count from the start of the delivery. */
export interface Course {
  /** The status never comes when its time is null. */
  readonly sent_after_ms: number | null;
  readonly delivered_after_ms: number | null;
  readonly read_after_ms: number | null;
  /** The message fails with this code; no other status comes. */
  readonly fail: number | null;
  readonly failed_after_ms: number;
  /** The message is held this long before its delivery starts. */
  readonly held_ms: number;
  /** Statuses are told this long after their time. */
  readonly late_ms: number;
  readonly copies: number;
  readonly order: 'right' | 'reversed' | 'shuffled';
  readonly lost: boolean;
}

export const usualCourse: Course = {
  sent_after_ms: 0,
  delivered_after_ms: 1_000,
  read_after_ms: 3_000,
  fail: null,
  failed_after_ms: 1_000,
  held_ms: 0,
  late_ms: 0,
  copies: 1,
  order: 'right',
  lost: false,
};

export interface AcceptedMessage {
  readonly id: string;
  readonly wabaId: string;
  readonly metadata: { readonly display_phone_number: string; readonly phone_number_id: string };
  readonly recipient: Person & { readonly scopedUser: boolean };
  readonly pricing: PricingView;
  readonly callbackData: string | undefined;
  readonly acceptedMs: number;
  /** A direct send generated this template. */
  readonly templateId?: string | undefined;
  readonly countedFor?: string | undefined;
}

/** Statuses tell the price of a message like this (platform reference, 10.2). */
export interface PricingView {
  readonly billable: boolean;
  readonly pricing_model: 'PMP';
  readonly type: 'regular' | 'free_customer_service';
  readonly category: string;
}

export interface StatusView {
  readonly status: string;
  readonly at_ms: number;
  readonly code?: number;
}

interface Step {
  readonly status: string;
  readonly atMs: number;
  readonly more: Readonly<Record<string, unknown>>;
}

/** Returns each status with the time of its webhook (platform reference, 10.2). */
export function receiptsOf(
  message: AcceptedMessage,
  course: Course,
): readonly { readonly update: StatusUpdate; readonly atMs: number; readonly told: StatusView }[] {
  if (course.lost) return [];
  const steps = stepsOf(message, course);
  const arrivals = arrivalsOf(message.id, steps, course);
  return steps.flatMap((step, index) => {
    const update = updateOf(message, step);
    const atMs = (arrivals[index] ?? step.atMs) + course.late_ms;
    const told = { status: step.status, at_ms: atMs, ...(course.fail === null ? {} : { code: course.fail }) };
    return Array.from({ length: course.copies }, () => ({ update, atMs, told }));
  });
}

/** Returns when the message reaches the person; undefined means never. */
export function deliveryOf({ acceptedMs }: AcceptedMessage, course: Course): number | undefined {
  const afterMs = course.delivered_after_ms ?? course.read_after_ms;
  return course.fail !== null || afterMs === null ? undefined : acceptedMs + course.held_ms + afterMs;
}

/** Returns one more status, whatever the course; only `failed` has a code. */
export function laterStatus(message: AcceptedMessage, { status, at_ms: atMs, code }: StatusView): StatusUpdate {
  const more = code === undefined ? {} : { errors: [failureOf(code)] };
  return updateOf(message, { status, atMs, more });
}

function stepsOf(message: AcceptedMessage, course: Course): readonly Step[] {
  const startMs = message.acceptedMs + course.held_ms;
  if (course.fail !== null) {
    return [{ status: 'failed', atMs: startMs + course.failed_after_ms, more: { errors: [failureOf(course.fail)] } }];
  }
  const pricing = { pricing: message.pricing };
  // The price comes with `sent` and with the first proof of delivery.
  const skipped = course.delivered_after_ms === null;
  const steps = [
    { status: 'sent', afterMs: course.sent_after_ms, more: pricing },
    { status: 'delivered', afterMs: course.delivered_after_ms, more: pricing },
    { status: 'read', afterMs: course.read_after_ms, more: skipped ? pricing : {} },
  ];
  return steps.flatMap(({ status, afterMs, more }) =>
    afterMs === null ? [] : { status, atMs: startMs + afterMs, more },
  );
}

/** Returns the times of the steps in the requested order; the shuffle is deterministic, by a hash. */
function arrivalsOf(id: string, steps: readonly Step[], { order }: Course): readonly number[] {
  const times = steps.map(({ atMs }) => atMs).sort((one, other) => one - other);
  if (order === 'right') return steps.map(({ atMs }) => atMs);
  if (order === 'reversed') return times.reverse();
  const places = steps
    .map((_, index) => ({ index, key: createHash('sha256').update(`${id} ${index}`).digest('hex') }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ index }) => index);
  return places.map((place) => times[place] ?? 0);
}

function updateOf(message: AcceptedMessage, { status, atMs, more }: Step): StatusUpdate {
  const { id, wabaId, metadata, recipient, callbackData, templateId } = message;
  const contact = contactOf(recipient);
  const failed = status === 'failed';
  const isSeen = status === 'delivered' || status === 'read';
  const profile = isSeen && recipient.username !== undefined ? { profile: { username: recipient.username } } : {};
  const ids = { recipient_user_id: contact.user_id, recipient_parent_user_id: contact.parent_user_id };
  return {
    kind: 'status',
    wabaId,
    metadata,
    // A failure has no `contacts`, and user ids only when it was sent to one.
    ...(failed ? {} : { contacts: [{ ...profile, ...contact }] }),
    status: {
      id,
      status,
      timestamp: String(Math.floor(atMs / 1_000)),
      recipient_id: contact.wa_id,
      ...(failed && !recipient.scopedUser ? {} : ids),
      biz_opaque_callback_data: callbackData,
      template_id: templateId,
      ...more,
    },
  };
}

/** Returns the person as webhooks name them: a hidden number is left out. */
export function contactOf({ key, userId, parentId, hidesNumber }: Person): Contact {
  const hasNumber = key !== userId && hidesNumber !== true;
  return { ...(hasNumber ? { wa_id: key } : {}), user_id: userId, parent_user_id: parentId };
}

function failureOf(code: number) {
  const title = errorTitle(code);
  return {
    code,
    title,
    message: title,
    error_data: { details: title },
    href: 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/',
  };
}
