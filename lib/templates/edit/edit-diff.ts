import { isDeepStrictEqual } from 'node:util';
import { enumOf, isPart, type Part } from '../../http/json-part.ts';
import { hiddenHash, otpButtonOf, otpSettings, type SentOtpSettings } from '../model/sent-otp-settings.ts';
import { mediaName } from '../model/stored-fact.ts';
import type { PlatformTemplate } from '../model/template.ts';
import type { Category } from '../rules/draft.ts';
import { headersOf } from '../rules/headers.ts';
import { bodyExamples } from '../rules/variables.ts';

export interface RequestedTemplate {
  readonly category: Category;
  /** The components have the platform's spelling (upstream-components.ts), and are absent when they stay. */
  readonly components?: readonly Part[];
  readonly optimizationSpec?: Part;
  readonly timeToLiveSeconds?: number;
  readonly newMedia?: boolean;
}

/**
 * Returns the fields that really differ, for the platform (D20). Order, enum case, `example.header_handle`, defaults
 * and the platform's additions do not count. Hidden settings of a code button are compared with `sentCode`, or count as
 * different.
 */
export function editChanges(
  stored: PlatformTemplate,
  wanted: RequestedTemplate,
  sentCode?: SentOtpSettings,
): Record<string, unknown> {
  const { category, components, optimizationSpec, timeToLiveSeconds, newMedia = false } = wanted;
  const sent = sentCode?.platformId === stored.id ? sentCode : undefined;
  const compared = (before: readonly Part[], now: readonly Part[]) =>
    category === 'AUTHENTICATION' ? sameCode(before, now, sent) : sameMessage(before, now);
  const sameSpec = optimizationSpec === undefined || isDeepStrictEqual(stored.optimization_spec, optimizationSpec);
  return {
    ...(enumOf(stored.category) === category ? {} : { category }),
    ...(components === undefined || (compared(stored.components, components) && !newMedia) ? {} : { components }),
    ...(sameSpec ? {} : { optimization_spec: optimizationSpec }),
    ...(sameTimeToLive(stored, wanted) ? {} : { message_send_ttl_seconds: timeToLiveSeconds }),
  };
}

const thirtyDaysSeconds = 2_592_000;

/**
 * -1 means 30 days, and so does absence, except for one-time codes, where absence has two meanings (platform reference,
 * 2.9).
 */
function sameTimeToLive(
  { message_send_ttl_seconds: before }: PlatformTemplate,
  { category, timeToLiveSeconds: now }: RequestedTemplate,
): boolean {
  if (now === undefined) return true;
  const seconds = (given: number) => (given === -1 ? thirtyDaysSeconds : given);
  if (before === undefined) return category !== 'AUTHENTICATION' && seconds(now) === thirtyDaysSeconds;
  return seconds(before) === seconds(now);
}

/**
 * Tells whether an edit brings a header new media (D20): the request's file, another `header_source` or another
 * `header_handle`. `example.header_handle` does not count, because clients send back what they read.
 */
export function hasNewMedia(stored: readonly Part[], given: readonly unknown[], fileAttached: boolean): boolean {
  const names = new Map(headersOf(stored, '').map(({ header, card }) => [card, exampleName(header)]));
  return headersOf(given, '').some(({ header, card }) => {
    if (fileAttached && card === undefined) return true;
    const media = header['header_source'] ?? header['header_handle'];
    return typeof media === 'string' && mediaName(media) !== names.get(card);
  });
}

function exampleName(header: Part): string | undefined {
  const handles = isPart(header['example']) ? header['example']['header_handle'] : undefined;
  const handle: unknown = Array.isArray(handles) ? handles[0] : undefined;
  return typeof handle === 'string' ? mediaName(handle) : undefined;
}

function sameMessage(stored: readonly Part[], wanted: readonly Part[]): boolean {
  return isDeepStrictEqual(comparable(stored), comparable(wanted));
}

function comparable(components: readonly Part[]): unknown[] {
  return components.map(comparableComponent).sort((a, b) => (String(a['type']) < String(b['type']) ? -1 : 1));
}

/** Keeps only what a client can write; the platform's own additions do not count. */
function comparableComponent(component: Part): Part {
  const type = enumOf(component['type']);
  const { text } = component;
  switch (type) {
    case 'HEADER': {
      const examples = isPart(component['example']) ? component['example']['header_text'] : undefined;
      return { type, format: enumOf(component['format']), text: text ?? undefined, ...examplesFor(text, examples) };
    }
    case 'BODY':
      return { type, text, ...examplesFor(text, bodyExamples(component['example'])) };
    case 'BUTTONS':
      return { type, buttons: partsOf(component['buttons']).map(comparableButton) };
    case 'CAROUSEL':
      return { type, cards: partsOf(component['cards']).map((card) => comparable(partsOf(card['components']))) };
    case 'LIMITED_TIME_OFFER': {
      const offer = isPart(component['limited_time_offer']) ? component['limited_time_offer'] : {};
      return { type, text: offer['text'], expires: offer['has_expiration'] === true };
    }
    default:
      return { type, text };
  }
}

function examplesFor(text: unknown, examples: unknown): Part {
  return typeof text === 'string' && text.includes('{{') ? { examples } : {};
}

function comparableButton(button: Part): Part {
  const type = enumOf(button['type']);
  const { text } = button;
  switch (type) {
    case 'URL':
      return { type, text, ...comparableUrl(button) };
    case 'PHONE_NUMBER':
      return { type, text, phone: String(button['phone_number']).replace(/^\+/, '') };
    case 'COPY_CODE':
      return { type, code: [button['example']].flat()[0] };
    case 'FLOW': {
      const { flow_id, flow_name, flow_json, navigate_screen, icon } = button;
      const action = enumOf(button['flow_action']) ?? 'NAVIGATE';
      return { type, text, action, flow_id, flow_name, flow_json, navigate_screen, icon };
    }
    // The platform writes their labels.
    case 'CATALOG':
    case 'MPM':
    case 'SPM':
      return { type };
    default:
      return { type, text };
  }
}

/** An example may be the variable's value or the whole URL; both become the whole URL. */
function comparableUrl({ url, example }: Part): Part {
  if (typeof url !== 'string' || !url.endsWith('{{1}}')) return { url };
  const fixed = url.slice(0, -'{{1}}'.length);
  const value = String([example].flat()[0]);
  return { url, example: value.startsWith(fixed) ? value : `${fixed}${value}` };
}

interface CodeSettings {
  readonly advice: boolean;
  /** The minutes are absent without a FOOTER: the platform shows no line then (D20). */
  readonly minutes: unknown;
}

function sameCode(stored: readonly Part[], wanted: readonly Part[], sent: SentOtpSettings | undefined): boolean {
  const [before, now] = [otpButtonOf(stored) ?? {}, otpButtonOf(wanted) ?? {}];
  return isDeepStrictEqual(codeSettings(stored), codeSettings(wanted)) && sameOtpButton(before, now, sent);
}

/** Returns the settings of an AUTHENTICATION template beside its button. */
export function codeSettings(components: readonly Part[]): CodeSettings {
  const of = (type: string) => components.find((component) => enumOf(component['type']) === type) ?? {};
  return {
    advice: of('BODY')['add_security_recommendation'] === true,
    minutes: of('FOOTER')['code_expiration_minutes'],
  };
}

function sameOtpButton(stored: Part, wanted: Part, sent: SentOtpSettings | undefined): boolean {
  const { text: labelBefore, ...before } = otpSettings(stored);
  const { text: label, ...now } = otpSettings(wanted);
  const sameLabel = label === undefined ? sent?.ownLabel !== true : label === labelBefore;
  const keys = Object.keys(now);
  const shown = keys.filter((key) => before[key] !== undefined);
  const hidden = keys.filter((key) => before[key] === undefined);
  const sameHidden =
    sent === undefined ? hidden.every((key) => now[key] === undefined) : sent.hidden === hiddenHash(wanted);
  return (
    sameLabel && shown.every((key) => isDeepStrictEqual(before[key], now[key])) && (hidden.length === 0 || sameHidden)
  );
}

function partsOf(list: unknown): Part[] {
  return Array.isArray(list) ? list.filter(isPart) : [];
}
