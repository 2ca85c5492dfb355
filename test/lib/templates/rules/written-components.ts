import { FaultList } from '../../../../lib/http/fault-list.ts';
import { checkComponents } from '../../../../lib/templates/rules/components.ts';
import type { TemplateDraft } from '../../../../lib/templates/rules/draft.ts';

/** Lists the faults that the rule finds, as `path: message`. */
export function faultsOf(components: readonly unknown[], draft: Partial<TemplateDraft> = {}): string[] {
  const faults = new FaultList();
  const { category = 'MARKETING', fileAttached = false } = draft;
  checkComponents({ ...draft, category, fileAttached, components }, { path: 'components', faults });
  return faults.listed().map(({ path, message }) => `${path}: ${message}`);
}

export const body = (text = 'Hello there, good news.', examples?: unknown) => ({
  type: 'BODY',
  text,
  ...(examples === undefined ? {} : { example: { body_text: [examples] } }),
});
export const header = (more: object) => ({ type: 'HEADER', ...more });
export const buttons = (...list: unknown[]) => ({ type: 'BUTTONS', buttons: list });
export const reply = (text = 'Yes') => ({ type: 'QUICK_REPLY', text });
export const link = (url = 'https://a.example.com/x') => ({ type: 'URL', text: 'Open', url });
export const phone = { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+5491100000001' };
export const handle = { header_handle: '4::aW1h' };
export const image = header({ format: 'IMAGE', ...handle });
export const card = (...more: unknown[]) => ({ components: [image, body('A card.'), buttons(reply(), ...more)] });
export const productCard = { components: [header({ format: 'PRODUCT' }), buttons({ type: 'SPM', text: 'View' })] };
export const carousel = (...cards: unknown[]) => ({ type: 'CAROUSEL', cards });
export const offer = (more: object = {}) => ({
  type: 'LIMITED_TIME_OFFER',
  limited_time_offer: { text: 'Ends soon', ...more },
});
export const coupon = { type: 'COPY_CODE', example: 'SAVE20' };
export const otp = (more: object = {}) => buttons({ type: 'OTP', otp_type: 'COPY_CODE', ...more });
export const apps = [{ package_name: 'com.example.app', signature_hash: 'K8a/AINcGX7' }];
