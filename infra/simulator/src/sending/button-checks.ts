import { graphError, messagingError } from '../errors.ts';
import { type TemplateButton, variablesOf } from '../templates/template.ts';
import type { SentCardPart, SentParameter, SentPart } from './message-body.ts';
import { checkProductList } from './product-list-check.ts';
import { checkLength, countMismatch, formatMismatch, textValueOf } from './text-checks.ts';

export interface ButtonPlace {
  /** `buttons` has this prefix in the details: none, or `carousel card 1 `. */
  readonly where: string;
  readonly code: boolean;
  readonly offer?: boolean;
}

/** The value of a URL button must percent-encode these (platform reference, 4.2). */
const unencoded = /[^!-~]|[:|]/;

const longestUrl = 2_000;
const longestCode = 15;
const longestCoupon = 20;
const longestOfferCode = 15;
/** The limit is a provider's: the platform publishes none, nor a code for it (platform reference, 4.2). */
const longestPayload = 128;

/** The details of 131008 spell buttons that need a parameter so. */
const needy: Readonly<Record<string, string>> = { URL: 'Url', COPY_CODE: 'CopyCode', MPM: 'Mpm' };

/**
 * Checks index, kind, count and value of sent buttons. A flow button needs a component even without a parameter
 * (platform reference, 4.2).
 */
export function checkButtons(
  place: ButtonPlace,
  buttons: readonly TemplateButton[],
  parts: readonly (SentPart | SentCardPart)[],
): void {
  const where = `${place.where}buttons`;
  const byIndex = new Map<number, SentPart | SentCardPart>();
  for (const part of parts) {
    if (part.sub_type === undefined) throw graphError(100, '(#100) The parameter sub_type of a button is required.');
    if (part.index === undefined) throw graphError(100, '(#100) The parameter index of a button is required.');
    if (byIndex.has(part.index)) throw graphError(100, `(#100) Two buttons have the index ${part.index}.`);
    byIndex.set(part.index, part);
    const button = buttons[part.index];
    if (button === undefined)
      throw messagingError(132012, `${where}: the template has no button at index ${part.index}`);
    if (part.sub_type.toUpperCase() !== button.type) throw formatMismatch(where, button.type, part.sub_type);
  }
  buttons.forEach((button, index) => {
    if (button.type === 'FLOW' && !byIndex.has(index)) {
      throw messagingError(131009, `${where}: Button at index ${index} of type Flow requires a component`);
    }
    checkButton({ ...place, where, index }, button, byIndex.get(index)?.parameters ?? []);
  });
}

interface OneButton extends ButtonPlace {
  readonly index: number;
}

function checkButton(place: OneButton, button: TemplateButton, parameters: readonly SentParameter[]): void {
  const [parameter] = parameters;
  const most = mostParameters(button);
  if (parameter === undefined) {
    const kind = most === 0 ? undefined : needy[button.type];
    if (kind === undefined) return;
    throw messagingError(131008, `${place.where}: Button at index ${place.index} of type ${kind} requires a parameter`);
  }
  if (parameters.length > most)
    throw countMismatch(`${place.where}: button at index ${place.index}`, parameters.length, most);
  checkParameter(place, button, parameter);
}

function mostParameters(button: TemplateButton): number {
  if (button.type === 'URL') return variablesOf(button.url).length;
  return ['QUICK_REPLY', 'COPY_CODE', 'FLOW', 'CATALOG', 'MPM'].includes(button.type) ? 1 : 0;
}

const parameterTypes: Readonly<Record<string, SentParameter['type']>> = {
  URL: 'text',
  QUICK_REPLY: 'payload',
  COPY_CODE: 'coupon_code',
  FLOW: 'action',
  CATALOG: 'action',
  MPM: 'action',
};

function checkParameter(place: OneButton, button: TemplateButton, parameter: SentParameter): void {
  const expected = parameterTypes[button.type] ?? 'none';
  if (parameter.type !== expected) throw formatMismatch(place.where, expected, parameter.type);
  if (parameter.type === 'text') checkUrlSuffix(place, button, textValueOf(place.where, parameter));
  if (parameter.type === 'payload') checkPayload(place, parameter.payload);
  if (parameter.type === 'coupon_code') checkCoupon(place, parameter.coupon_code);
  if (parameter.type === 'action') {
    if (button.type === 'MPM') checkProductList(place.where, parameter.action);
    // The platform's pages show an object or omit it (5).
    if (parameter.action.flow_action_data === null) {
      throw messagingError(131009, `${place.where}: flow_action_data is not an object`);
    }
  }
}

function checkUrlSuffix(place: OneButton, button: TemplateButton, suffix: string): void {
  const where = `${place.where}: button at index ${place.index}`;
  if (place.code) checkLength(where, suffix, longestCode);
  else if (unencoded.test(suffix)) throw messagingError(131009, `${where}: special characters are not percent-encoded`);
  checkLength(
    where,
    (button.url ?? '').replace(/\{\{[^{}]*\}\}/, () => suffix),
    longestUrl,
  );
}

function checkPayload({ where }: OneButton, payload: string): void {
  if (payload === '') throw messagingError(131008, `${where}: payload is empty`);
  if ([...payload].length > longestPayload) {
    throw messagingError(131009, `${where}: payload exceeds ${longestPayload} characters`);
  }
}

function checkCoupon({ where, offer }: OneButton, code: string): void {
  const most = offer === true ? longestOfferCode : longestCoupon;
  if (code === '') throw messagingError(131008, `${where}: coupon_code is empty`);
  if (!/^[0-9A-Za-z]+$/.test(code)) throw messagingError(131009, `${where}: coupon_code must be alphanumeric`);
  if (code.length > most) throw messagingError(132005, `${where}: coupon_code exceeds ${most} characters`);
}
