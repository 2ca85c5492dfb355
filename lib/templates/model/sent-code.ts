import { createHash } from 'node:crypto';
import { enumOf, isPart, type Part } from '../../http/json-part.ts';

/**
 * What was last sent from here of a one-time-code button and is shown by no reading of the platform (D20), so that an edit
 * can be compared with it. Kept beside the fact; a synchronization does not touch it.
 */
export interface SentCode {
  /** The platform's id of the template: one that was made anew under the name has nothing of it. */
  readonly platformId: string;
  /** Hash of what is hidden. */
  readonly hidden: string;
  /** The button had a label of its own and not the platform's. */
  readonly ownLabel: boolean;
}

/** What a creation or an edit with these components, as the platform writes them, leaves behind; undefined without such a button. */
export function sentCodeOf(platformId: string, components: unknown): SentCode | undefined {
  const button = otpButtonOf(components);
  if (button === undefined || enumOf(button['type']) !== 'OTP') return undefined;
  return { platformId, hidden: hiddenHash(button), ownLabel: button['text'] !== undefined };
}

/** The first button of the BUTTONS component, which in an AUTHENTICATION template is the only one. */
export function otpButtonOf(components: unknown): Part | undefined {
  const list: readonly unknown[] = Array.isArray(components) ? components : [];
  const buttons = list.filter(isPart).find(({ type }) => enumOf(type) === 'BUTTONS')?.['buttons'];
  return Array.isArray(buttons) ? buttons.find(isPart) : undefined;
}

/** What a reading may show in part or not at all; equal settings are equal whatever the order of keys. */
export function otpSettings(button: Part): Part {
  const { text, autofill_text, supported_apps, url } = button;
  const fromUrl = typeof url === 'string' ? URL.parse(url)?.searchParams.get('otp_type') : undefined;
  const apps = Array.isArray(supported_apps) ? supported_apps.filter(isPart) : undefined;
  return {
    text,
    otpType: enumOf(button['otp_type'] ?? fromUrl),
    autofill: autofill_text,
    apps: apps?.map(({ package_name, signature_hash }) => [package_name, signature_hash]),
  };
}

/** The hash that `SentCode` keeps of a button's settings. */
export function hiddenHash(button: Part): string {
  const { otpType, autofill, apps } = otpSettings(button);
  return createHash('sha256')
    .update(JSON.stringify([otpType ?? null, autofill ?? null, apps ?? null]))
    .digest('base64url');
}
