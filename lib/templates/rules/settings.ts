import { checkMinutes } from './authentication.ts';
import { at, type Category, fault, type Judged, type TemplateDraft } from './draft.ts';

/** Seconds by category (contract, Limits). */
const timeToLiveRange: Readonly<
  Record<Category, { readonly min: number; readonly max: number; readonly thirtyDays: boolean }>
> = {
  AUTHENTICATION: { min: 30, max: 900, thirtyDays: true },
  UTILITY: { min: 30, max: 43_200, thirtyDays: true },
  MARKETING: { min: 43_200, max: 2_592_000, thirtyDays: false },
};

/** Checks what a creation or an edit says beside the components: `root` is the request. */
export function checkSettings(draft: TemplateDraft, timeToLiveSeconds: number | undefined, root: Judged): void {
  if (timeToLiveSeconds !== undefined) {
    checkTimeToLive(draft.category, timeToLiveSeconds, at(root, 'message_send_ttl_seconds'));
  }
  checkCodeFields(draft, root);
}

function checkTimeToLive(category: Category, seconds: number, judged: Judged): void {
  const { min, max, thirtyDays } = timeToLiveRange[category];
  if ((seconds >= min && seconds <= max) || (thirtyDays && seconds === -1)) return;
  fault(judged, `${min} to ${max} seconds in ${category}${thirtyDays ? ', or -1' : ''}, received ${seconds}`);
}

function checkCodeFields(draft: TemplateDraft, root: Judged): void {
  const minutes = at(root, 'code_expiration_minutes');
  if (draft.category === 'AUTHENTICATION') {
    if (draft.codeExpirationMinutes !== undefined) checkMinutes(draft.codeExpirationMinutes, minutes);
    return;
  }
  if (draft.codeExpirationMinutes !== undefined) fault(minutes, 'is for AUTHENTICATION templates only');
  if (draft.addSecurityRecommendation === true) {
    fault(at(root, 'add_security_recommendation'), 'is for AUTHENTICATION templates only');
  }
}
