import { isDeepStrictEqual } from 'node:util';
import { mediaName } from './fact.ts';
import { type Category, enumOf, isPart, type Part } from './rules/draft.ts';
import { headersOf } from './rules/headers.ts';
import { bodyExamples } from './rules/variables.ts';
import type { PlatformTemplate } from './template.ts';

/** What a client wants a template to be. */
export interface WantedTemplate {
  readonly category: Category;
  /** As the platform writes them (upstream-components.ts); absent when they are to stay. */
  readonly components?: readonly Part[];
  readonly optimizationSpec?: Part;
  /** Media are given that the template does not have (`hasNewMedia`). */
  readonly newMedia?: boolean;
}

/**
 * What an edit has to tell the platform: only what really differs, nothing when nothing does (D20). Order of keys and of
 * components, letter case of enums, `example.header_handle`, defaults, the platform's own additions and its rewriting of OTP buttons
 * are no difference.
 */
export function editChanges(stored: PlatformTemplate, wanted: WantedTemplate): Record<string, unknown> {
  const { category, components, optimizationSpec, newMedia = false } = wanted;
  const compared = category === 'AUTHENTICATION' ? sameCode : sameMessage;
  const sameSpec = optimizationSpec === undefined || isDeepStrictEqual(stored.optimization_spec, optimizationSpec);
  return {
    ...(enumOf(stored.category) === category ? {} : { category }),
    ...(components === undefined || (compared(stored.components, components) && !newMedia) ? {} : { components }),
    ...(sameSpec ? {} : { optimization_spec: optimizationSpec }),
  };
}

/**
 * Whether an edit gives a header media that it does not have (D20): the request's file, a `header_source` that is not the
 * stored example's URL, or a `header_handle` that is not the stored one. `example.header_handle` is no such wish: clients
 * send back what they have read there.
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

/** Only what a client can write: what the platform adds on its own is in nobody's hand. */
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
    // Labels of these are the platform's own.
    case 'CATALOG':
    case 'MPM':
    case 'SPM':
      return { type };
    default:
      return { type, text };
  }
}

/** An example may be the variable's value or the whole URL: both become the whole URL. */
function comparableUrl({ url, example }: Part): Part {
  if (typeof url !== 'string' || !url.endsWith('{{1}}')) return { url };
  const fixed = url.slice(0, -'{{1}}'.length);
  const value = String([example].flat()[0]);
  return { url, example: value.startsWith(fixed) ? value : `${fixed}${value}` };
}

interface CodeSettings {
  readonly advice: boolean;
  readonly minutes: number;
  readonly button: Part;
}

/** The platform shows an OTP button as a URL that names only a part of it: what it does not show cannot differ. */
function sameCode(stored: readonly Part[], wanted: readonly Part[]): boolean {
  const [before, now] = [codeSettings(stored), codeSettings(wanted)];
  const known = Object.keys(now.button).filter((key) => before.button[key] !== undefined);
  return (
    before.advice === now.advice &&
    before.minutes === now.minutes &&
    known.every((key) => now.button[key] === undefined || isDeepStrictEqual(before.button[key], now.button[key]))
  );
}

const defaultMinutes = 10;

function codeSettings(components: readonly Part[]): CodeSettings {
  const of = (type: string) => components.find((component) => enumOf(component['type']) === type) ?? {};
  const minutes = of('FOOTER')['code_expiration_minutes'];
  return {
    advice: of('BODY')['add_security_recommendation'] === true,
    minutes: typeof minutes === 'number' ? minutes : defaultMinutes,
    button: otpSettings(partsOf(of('BUTTONS')['buttons'])[0] ?? {}),
  };
}

function otpSettings(button: Part): Part {
  const { text, autofill_text, supported_apps, url } = button;
  const fromUrl = typeof url === 'string' ? URL.parse(url)?.searchParams.get('otp_type') : undefined;
  const apps = Array.isArray(supported_apps) ? partsOf(supported_apps) : undefined;
  return {
    otpType: enumOf(button['otp_type'] ?? fromUrl),
    text,
    autofill_text,
    apps: apps?.map(({ package_name, signature_hash }) => [package_name, signature_hash]),
  };
}

function partsOf(list: unknown): Part[] {
  return Array.isArray(list) ? list.filter(isPart) : [];
}
