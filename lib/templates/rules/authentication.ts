import { jsonExcerpt } from '../../http/json-excerpt.ts';
import { enumOf, isPart, type Part } from '../../http/json-part.ts';
import { checkLabelForm } from './buttons.ts';
import { at, type CheckedValue, fault, onlyKeys, type TemplateDraft } from './draft.ts';

const otpTypes = ['COPY_CODE', 'ONE_TAP', 'ZERO_TAP'] as const;
const labelMaxLength = 25;
const maxApps = 5;
const packageMaxLength = 224;
const minMinutes = 0.5;
const maxMinutes = 15;

/** Checks the body of an AUTHENTICATION template, whose text is the platform's own (platform reference, 3.9). */
export function checkAuthenticationBody(body: Part, judged: CheckedValue, draft: TemplateDraft): void {
  onlyKeys(body, ['type', 'add_security_recommendation'], judged);
  const inside = body['add_security_recommendation'];
  const place = at(judged, 'add_security_recommendation');
  if (inside !== undefined && typeof inside !== 'boolean')
    fault(place, `true or false, received ${jsonExcerpt(inside)}`);
  else if (
    inside !== undefined &&
    draft.addSecurityRecommendation !== undefined &&
    inside !== draft.addSecurityRecommendation
  ) {
    fault(place, 'differs from add_security_recommendation of the request');
  }
}

export function checkAuthenticationFooter(footer: Part, judged: CheckedValue, draft: TemplateDraft): void {
  onlyKeys(footer, ['type', 'code_expiration_minutes'], judged);
  const inside = footer['code_expiration_minutes'];
  const place = at(judged, 'code_expiration_minutes');
  if (inside === undefined) return;
  checkMinutes(inside, place);
  if (draft.codeExpirationMinutes !== undefined && inside !== draft.codeExpirationMinutes) {
    fault(place, 'differs from code_expiration_minutes of the request');
  }
}

/** Checks minutes: they are from 30 seconds to 15 minutes (contract, Limits; D18). */
export function checkMinutes(value: unknown, judged: CheckedValue): void {
  if (typeof value !== 'number' || !(value >= minMinutes && value <= maxMinutes)) {
    fault(judged, `a number from ${minMinutes} to ${maxMinutes}, received ${jsonExcerpt(value)}`);
  }
}

export function checkOtpButtons(list: unknown, judged: CheckedValue): void {
  const button: unknown = Array.isArray(list) ? list[0] : undefined;
  if (!Array.isArray(list) || list.length !== 1 || !isPart(button) || enumOf(button['type']) !== 'OTP') {
    fault(judged, `exactly one OTP button, received ${jsonExcerpt(list)}`);
    return;
  }
  const place = at(judged, 0);
  onlyKeys(button, ['type', 'otp_type', 'text', 'autofill_text', 'supported_apps', 'zero_tap_terms_accepted'], place);
  for (const key of ['text', 'autofill_text']) checkLabel(button[key], at(place, key));
  const otpType = otpTypes.find((known) => known === enumOf(button['otp_type']));
  if (otpType === undefined) {
    fault(at(place, 'otp_type'), `one of ${otpTypes.join(', ')}, received ${jsonExcerpt(button['otp_type'])}`);
    return;
  }
  if (otpType === 'ZERO_TAP' && button['zero_tap_terms_accepted'] !== true) {
    fault(
      at(place, 'zero_tap_terms_accepted'),
      `true is required, received ${jsonExcerpt(button['zero_tap_terms_accepted'])}`,
    );
  }
  if (otpType !== 'COPY_CODE') checkApps(button['supported_apps'], at(place, 'supported_apps'));
  else if (button['supported_apps'] !== undefined) fault(at(place, 'supported_apps'), 'COPY_CODE takes no apps');
}

function checkLabel(value: unknown, judged: CheckedValue): void {
  if (value === undefined) return;
  if (typeof value !== 'string' || value.trim() === '' || [...value].length > labelMaxLength) {
    fault(judged, `a text of at most ${labelMaxLength} characters, received ${jsonExcerpt(value)}`);
  } else checkLabelForm(value, judged);
}

function checkApps(apps: unknown, judged: CheckedValue): void {
  if (!Array.isArray(apps) || apps.length === 0 || apps.length > maxApps) {
    fault(judged, `1 to ${maxApps} apps, received ${Array.isArray(apps) ? apps.length : jsonExcerpt(apps)}`);
    return;
  }
  for (const [index, app] of apps.entries()) checkApp(app, at(judged, index));
}

function checkApp(app: unknown, judged: CheckedValue): void {
  if (!isPart(app)) {
    fault(judged, `an object, received ${jsonExcerpt(app)}`);
    return;
  }
  onlyKeys(app, ['package_name', 'signature_hash'], judged);
  const { package_name: packageName, signature_hash: hash } = app;
  const wellFormed = typeof packageName === 'string' && packageName.length <= packageMaxLength;
  if (!wellFormed || !/^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/.test(packageName)) {
    fault(at(judged, 'package_name'), `a package name such as com.example.app, received ${jsonExcerpt(packageName)}`);
  }
  if (typeof hash !== 'string' || !/^[A-Za-z0-9+/=]{11}$/.test(hash)) {
    fault(at(judged, 'signature_hash'), `11 characters of A-Z, a-z, 0-9, +, / and =, received ${jsonExcerpt(hash)}`);
  }
}
