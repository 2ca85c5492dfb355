import { type RefusalCode, refusalCodes, statusOf } from '../../../lib/http/refusal.ts';
import outcomes from '../../../lib/messages/report/outcome-codes.json' with { type: 'json' };
import advice from '../../../lib/platform/error-advice.json' with { type: 'json' };
import platformCodes from '../../../lib/platform/error-codes.json' with { type: 'json' };
import { type Concern, type HoldKind, PlatformFailure, type RetryAdvice } from '../../../lib/platform/failure.ts';
import type { StatusReason } from '../../../lib/templates/status/bulk-status.ts';
import reasons from '../../../lib/templates/status/status-reasons.json' with { type: 'json' };
import { events } from '../../openapi/events.ts';
import { refusalTexts } from '../../openapi/refusals.ts';
import states from './state-texts.json' with { type: 'json' };

interface Text {
  readonly cause: string;
  readonly remedy: string;
}

/**
 * An explanation gives a word's meaning in one place where it occurs. States of messages and kinds of events have no
 * cause and no fault.
 */
export interface Explanation extends Partial<Text> {
  readonly code: string;
  readonly where: string;
  readonly title: string;
  readonly remedy: string;
  readonly fault?: string;
  /** A platform code says who is affected; `lifted` says what ends it. */
  readonly concerns?: string;
  readonly lifted?: string;
  /** The affected messages wait and continue by themselves (D46). */
  readonly waits?: true;
  /** A retry of the dispatch does this with a code in reports (D57). */
  readonly retry?: string;
  readonly page?: string;
}

/** The status does not tell who must act on these: 4xx means the request, 5xx the service. */
const faultOfRefusal: { readonly [code in RefusalCode]?: string } = {
  sync_in_progress: 'nobody',
  request_in_progress: 'nobody',
  template_disabled: 'the template',
  template_not_sendable: 'the template',
  verification_refused: 'the deployment',
  platform_rate_limited: 'nobody: the platform has limits',
  platform_unreachable: 'the platform',
};

function ofRefusal(code: RefusalCode): Explanation {
  const status = statusOf(code);
  const fault = faultOfRefusal[code] ?? (status < 500 ? 'the request' : 'the service');
  const page = 'functions/README.md#errors';
  return { code, where: `an answer of the service, HTTP ${status}`, fault, ...refusalTexts[code], page };
}

const retries: Readonly<Record<RetryAdvice, string>> = {
  yes: 'sends to these once more',
  after_a_day: 'sends to these once more when a day has passed',
  named: 'sends to these once more only where its codes name this one',
  never: 'leaves these out, whatever its codes name',
};

/** A retry never sends an unknown message, whatever the advice on its code. */
function retryOf(advice: RetryAdvice, mayBe: { readonly unknown: boolean; readonly over: boolean }): string {
  if (!mayBe.unknown) return retries[advice];
  return mayBe.over ? `never while unknown; failed or expired: ${retries[advice]}` : 'never while unknown';
}

const outcomePage = 'functions/README.md#get-v1templatemessagesdiddispatchid';
const ofOutcomes: readonly Explanation[] = Object.entries(outcomes).map(([code, { states, retry, ...text }]) => ({
  code,
  where: `code of a message that is ${states.join(' or ')}`,
  ...text,
  retry: retryOf(retry as RetryAdvice, {
    unknown: states.includes('unknown'),
    over: states.some((state) => state === 'failed' || state === 'expired'),
  }),
  page: outcomePage,
}));

const statusReasons: Readonly<Record<StatusReason, Text & { readonly title: string; readonly fault: string }>> =
  reasons;
const ofReasons: readonly Explanation[] = Object.entries(statusReasons).map(([code, text]) => ({
  code,
  where: 'reason of an item of PATCH /v1/templates/status',
  ...text,
  page: 'functions/README.md#patch-v1templatesstatus',
}));

type PlatformCode = {
  readonly code: number | string;
  readonly subcode?: number;
  readonly title: string;
  readonly status: number;
  readonly kind: string;
  readonly advice: string;
  readonly retry?: RetryAdvice;
  readonly holdsWhenDropped?: HoldKind;
} & ({ readonly holds: HoldKind } | { readonly holds?: never; readonly concerns: Concern });

type Advice = Text & { readonly fault: string; readonly lifted: string };
const ofKinds: Readonly<Record<string, Advice>> = advice.kinds;
const ofCodes: Readonly<Record<string, Advice>> = advice.codes;
const ofHolds: Readonly<Record<HoldKind, string>> = advice.holds;
const ofConcerns: Readonly<Record<Concern, string>> = advice.concerns;

/** Returns the advice on the code itself, else on its kind. Throws for a kind without advice. */
function adviceOn({ code, subcode, kind, advice: treatment }: PlatformCode): Advice {
  const own = ofCodes[subcode === undefined ? code : `${code}/${subcode}`];
  const found = own ?? ofKinds[`${kind}, ${treatment}`] ?? ofKinds[treatment === 'backoff' ? 'other, backoff' : kind];
  if (found === undefined) throw new Error(`lib/platform/error-advice.json has no advice on the kind ${kind}`);
  return found;
}

const ofPlatform: readonly Explanation[] = (platformCodes as readonly PlatformCode[]).map((row) => ({
  code: row.subcode === undefined ? String(row.code) : `${row.code}/${row.subcode}`,
  where: `a code of the platform, HTTP ${row.status} there`,
  title: row.title,
  ...withSettling(row, adviceOn(row)),
  ...(row.holds === undefined ? { concerns: concernsOf(row) } : { concerns: ofHolds[row.holds], waits: true }),
  retry: row.retry && retryOf(row.retry, { unknown: leavesUnknown(row), over: true }),
  page: `lib/platform/FACTS.md#${sectionOf(row)}`,
}));

/** Tells whether a message may be unknown with this code at its documented status. */
function leavesUnknown({ code, status }: PlatformCode): boolean {
  const facts = { httpStatus: status, code: Number.parseInt(String(code), 10) };
  return !new PlatformFailure(status < 500 ? 'refused' : 'ambiguous', facts).provesNothingDone;
}

function withSettling(row: PlatformCode, found: Advice): Advice {
  if (row.retry === undefined || !leavesUnknown(row)) return found;
  const settling = 'While it is unknown, an operator may settle it by hand (infra/ops outcomes --resolve).';
  return { ...found, remedy: `${found.remedy} ${settling}` };
}

function sectionOf(code: PlatformCode): string {
  if (code.holds !== undefined || code.holdsWhenDropped !== undefined) return '64-codes-of-holds';
  if (code.subcode !== undefined) return '63-subcodes-of-templates';
  const ofPerson = code.concerns === 'recipient' || code.concerns === 'country';
  return ofPerson ? '65-codes-that-hold-nothing' : '62-codes';
}

function concernsOf({ concerns, holdsWhenDropped }: Extract<PlatformCode, { readonly concerns: Concern }>): string {
  const alone = ofConcerns[concerns];
  return holdsWhenDropped === undefined
    ? alone
    : `${alone}; by receipt, of a message that the platform held: ${ofHolds[holdsWhenDropped]}`;
}

/** Explains a documented code of the platform; undefined for any other. */
export function explainedOfPlatform(code: string): Explanation | undefined {
  return ofPlatform.find((each) => each.code === code);
}

/** This is no code: it explains an answer that says too little by itself. */
const ofEmptyListings: Explanation = {
  code: 'unassigned',
  where: 'the campaign of templates that have none, in GET /v1/templates',
  title: 'The listing is empty although there are templates',
  fault: 'nobody',
  cause:
    'Templates start without a campaign, and without BSP_CN the listing shows only what is in the campaigns of the user.',
  remedy:
    'List them with campaign_name=Unassigned, and assign them: POST /v1/templates/{messageTemplateId}/channel-campaigns.',
  page: 'functions/README.md#get-v1templates',
};

const ofStates: readonly Explanation[] = Object.entries(states).map(([code, text]) => ({
  code,
  where: 'state of a message',
  ...text,
  page: outcomePage,
}));

const ofEvents: readonly Explanation[] = events.map(({ type, summary }) => ({
  code: type,
  where: "kind of an event to the client's webhook",
  title: summary,
  remedy: type.startsWith('message.')
    ? 'Look at its code and reason, if it has them: infra/ops outcomes --dispatch ID with its message_id, then infra/ops explain CODE.'
    : 'Read its fields in the page below.',
  page: 'lib/webhooks/README.md#events',
}));

export const explanations: readonly Explanation[] = [
  ...refusalCodes.map(ofRefusal),
  ...ofOutcomes,
  ...ofReasons,
  ...ofPlatform,
  ...ofStates,
  ...ofEvents,
  ofEmptyListings,
];

/**
 * Returns a code's meanings in all places; none for an unknown code. It accepts a subcode with or without its code,
 * `http_502`, 2xx codes, `empty` for a listing, the platform's spelling `(#131026)`, and any letter case.
 */
export function explained(given: string): readonly Explanation[] {
  const code = spelled(given);
  const names = [
    code,
    ...(/^http_\d{3}$/.test(code) ? ['http_<status>'] : []),
    ...(/^2\d\d$/.test(code) ? ['200-299'] : []),
    ...(/^empty\b|^empty_/.test(code) ? [ofEmptyListings.code] : []),
  ];
  return explanations.filter((each) => names.includes(each.code) || each.code.split('/')[1] === code);
}

function spelled(given: string): string {
  return given
    .trim()
    .toLowerCase()
    .replace(/^\(?#?(\d+)\)?$/, '$1')
    .replace(/^(\d+)[:., ]+(\d+)$/, '$1/$2');
}

/** Returns the service's codes with this HTTP status. */
export function codesOfStatus(status: string): readonly RefusalCode[] {
  return refusalCodes.filter((code) => String(statusOf(code)) === status);
}
