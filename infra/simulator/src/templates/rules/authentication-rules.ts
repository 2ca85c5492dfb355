import { managementError } from '../../errors.ts';
import type { GivenButton, GivenComponent } from '../definition.ts';
import { bodyFormat, checkCharacters, checkKeys, checkLabel, footerFormat, invalid } from './refusals.ts';

const longestText = 25;
const longestPackageName = 224;
const mostApps = 5;
const mostMinutes = 90;

/** AUTHENTICATION templates have fixed texts, an optional expiry and exactly one OTP button (3.9). */
export function checkAuthentication(components: readonly GivenComponent[]): void {
  const only = (type: GivenComponent['type']) => components.find((component) => component.type === type);
  const body = only('BODY');
  if (body?.text !== undefined || body?.example !== undefined) {
    throw managementError(bodyFormat, "body: the text of AUTHENTICATION templates is fixed and can't be given");
  }
  checkKeys('body', body ?? {}, ['type', 'add_security_recommendation']);
  const footer = only('FOOTER');
  if (footer !== undefined) checkExpiry(footer);
  const buttons = only('BUTTONS')?.buttons ?? [];
  const [button] = buttons;
  if (button?.type !== 'OTP' || buttons.length > 1) {
    throw invalid('buttons: AUTHENTICATION templates need exactly one button, of type OTP');
  }
  checkOtp(button);
}

function checkExpiry(footer: GivenComponent): void {
  if (footer.text !== undefined) {
    throw managementError(footerFormat, "footer: the text of AUTHENTICATION templates is fixed and can't be given");
  }
  checkKeys('footer', footer, ['type', 'code_expiration_minutes']);
  const minutes = footer.code_expiration_minutes ?? 0;
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > mostMinutes) {
    throw managementError(footerFormat, `footer: code_expiration_minutes must be 1 to ${mostMinutes} whole minutes`);
  }
}

function checkOtp(button: GivenButton): void {
  const common = ['type', 'otp_type', 'text'];
  const taps = [...common, 'autofill_text', 'supported_apps'];
  if (button.otp_type === undefined) throw invalid('buttons: otp_type is required');
  checkCharacters('buttons: text', button.text ?? '', longestText);
  checkLabel(button.text ?? '');
  if (button.otp_type === 'COPY_CODE') {
    checkKeys('buttons: COPY_CODE', button, common);
    return;
  }
  checkKeys(`buttons: ${button.otp_type}`, button, [...taps, 'zero_tap_terms_accepted']);
  checkCharacters('buttons: autofill_text', button.autofill_text ?? '', longestText);
  checkLabel(button.autofill_text ?? '');
  if (button.otp_type === 'ZERO_TAP' && button.zero_tap_terms_accepted !== true) {
    throw invalid('buttons: zero_tap_terms_accepted must be true');
  }
  const apps = button.supported_apps ?? [];
  if (apps.length < 1 || apps.length > mostApps) throw invalid(`buttons: supported_apps needs 1 to ${mostApps} apps`);
  for (const { package_name: name, signature_hash: hash } of apps) {
    checkCharacters('buttons: package_name', name, longestPackageName);
    if (!/^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/.test(name)) throw invalid('buttons: package_name is not one');
    if (!/^[A-Za-z0-9+/=]{11}$/.test(hash)) throw invalid('buttons: signature_hash must be 11 characters of base64');
  }
}
