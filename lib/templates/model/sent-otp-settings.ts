import { createHash } from 'node:crypto';
import { enumOf, isPart, type Part } from '../../http/json-part.ts';

/**
 * No reading shows these last sent settings of a one-time-code button (D20); an edit compares them. A synchronization
 * leaves them alone.
 */
export interface SentOtpSettings {
  /** The platform's id counts, because a recreated template has other settings. */
  readonly platformId: string;
  readonly hidden: string;
  /** The button had its own label, not the platform's. */
  readonly ownLabel: boolean;
}

export function sentOtpSettings(platformId: string, components: unknown): SentOtpSettings | undefined {
  const button = otpButtonOf(components);
  if (button === undefined || enumOf(button['type']) !== 'OTP') return undefined;
  return { platformId, hidden: hiddenHash(button), ownLabel: button['text'] !== undefined };
}

/** In an AUTHENTICATION template it is the only button. */
export function otpButtonOf(components: unknown): Part | undefined {
  const list: readonly unknown[] = Array.isArray(components) ? components : [];
  const buttons = list.filter(isPart).find(({ type }) => enumOf(type) === 'BUTTONS')?.['buttons'];
  return Array.isArray(buttons) ? buttons.find(isPart) : undefined;
}

/** Returns the settings that a reading may hide, independent of key order. */
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

export function hiddenHash(button: Part): string {
  const { otpType, autofill, apps } = otpSettings(button);
  return createHash('sha256')
    .update(JSON.stringify([otpType ?? null, autofill ?? null, apps ?? null]))
    .digest('base64url');
}
