import { isDeepStrictEqual } from 'node:util';
import { enumOf, isPart, type Part } from '../../http/json-part.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import { mediaName } from '../model/stored-fact.ts';
import type { Category } from '../rules/draft.ts';
import { urlOfMedia, withHeaders } from '../rules/headers.ts';

/* An editing client sends back what the platform showed: more than it may write, and some of it in other words. */

/**
 * Tells whether the components are the stored ones as listed. Signatures of media URLs change on every read, and do not
 * count.
 */
export function isAsRead(stored: readonly Part[], given: readonly unknown[]): boolean {
  return isDeepStrictEqual(withoutSignatures(stored), withoutSignatures(given));
}

function withoutSignatures(components: readonly unknown[]): unknown[] {
  return withHeaders(components, '', ({ header }) => {
    const shown = urlOfMedia(header);
    if (shown === undefined || shown.key === 'header_source') return header;
    return { ...header, example: { header_handle: [mediaName(shown.url)] } };
  });
}

/**
 * Removes from an AUTHENTICATION template what only the platform writes, and gives its OTP button as a client writes it
 * (D20).
 */
export function writtenByClient(components: readonly unknown[], category: Category): unknown[] {
  if (category !== 'AUTHENTICATION') return [...components];
  return components.map((component) => {
    if (!isPart(component)) return component;
    const { text: _, example: __, ...rest } = component;
    const { buttons } = component;
    return Array.isArray(buttons) ? { ...rest, buttons: buttons.map(otpButton) } : rest;
  });
}

/** The platform shows an OTP button as a URL whose query names its kind. */
function otpButton(button: unknown): unknown {
  if (!isPart(button) || enumOf(button['type']) !== 'URL' || typeof button['url'] !== 'string') return button;
  const kind = URL.parse(button['url'])?.searchParams.get('otp_type');
  if (kind === undefined || kind === null) return button;
  const { text } = button;
  return { type: 'OTP', otp_type: kind, ...omitUndefined({ text }) };
}

export function keysOf(components: readonly unknown[]): ReadonlySet<string> {
  const keys = new Set<string>();
  const note = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(note);
    if (!isPart(value)) return;
    for (const [key, item] of Object.entries(value)) {
      keys.add(key);
      note(item);
    }
  };
  components.forEach(note);
  return keys;
}

/** Returns the components without unknown keys; the map is by object identity. */
export function withoutKeys(value: unknown, unknown: ReadonlyMap<unknown, ReadonlySet<string>>): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutKeys(item, unknown));
  if (!isPart(value)) return value;
  const out = unknown.get(value);
  const kept = Object.entries(value).filter(([key]) => out?.has(key) !== true);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutKeys(item, unknown)]));
}
