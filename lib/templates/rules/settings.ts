import { checkMinutes } from './authentication.ts';
import { at, type Category, type CheckedValue, fault, type TemplateDraft } from './draft.ts';

/** Seconds depend on the category (contract, Limits). */
const timeToLiveRange: Readonly<
  Record<Category, { readonly min: number; readonly max: number; readonly thirtyDays: boolean }>
> = {
  AUTHENTICATION: { min: 30, max: 900, thirtyDays: true },
  UTILITY: { min: 30, max: 43_200, thirtyDays: true },
  MARKETING: { min: 43_200, max: 2_592_000, thirtyDays: false },
};

/** For an unknown category, only a value that no category accepts is a fault. */
const anyTimeToLive = { min: 30, max: 2_592_000, thirtyDays: true };

/** The rules need these settings; `category` is absent when the given one is unknown. */
export interface Settings extends Pick<TemplateDraft, 'codeExpirationMinutes' | 'addSecurityRecommendation'> {
  readonly category?: Category | undefined;
}

/** Checks the fields beside the components; `root` is the request. */
export function checkSettings(settings: Settings, timeToLiveSeconds: number | undefined, root: CheckedValue): void {
  if (timeToLiveSeconds !== undefined) {
    checkTimeToLive(settings.category, timeToLiveSeconds, at(root, 'message_send_ttl_seconds'));
  }
  checkCodeFields(settings, root);
}

function checkTimeToLive(category: Category | undefined, seconds: number, judged: CheckedValue): void {
  const { min, max, thirtyDays } = category === undefined ? anyTimeToLive : timeToLiveRange[category];
  if ((seconds >= min && seconds <= max) || (thirtyDays && seconds === -1)) return;
  const where = `in ${category ?? 'any category'}${thirtyDays ? ', or -1' : ''}`;
  fault(judged, `${min} to ${max} seconds ${where}, received ${seconds}`);
}

function checkCodeFields(draft: Settings, root: CheckedValue): void {
  const minutes = at(root, 'code_expiration_minutes');
  if (draft.category === undefined || draft.category === 'AUTHENTICATION') {
    if (draft.codeExpirationMinutes !== undefined) checkMinutes(draft.codeExpirationMinutes, minutes);
    return;
  }
  if (draft.codeExpirationMinutes !== undefined) fault(minutes, 'is for AUTHENTICATION templates only');
  if (draft.addSecurityRecommendation === true) {
    fault(at(root, 'add_security_recommendation'), 'is for AUTHENTICATION templates only');
  }
}
