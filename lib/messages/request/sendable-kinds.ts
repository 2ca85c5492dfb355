import { Refusal } from '../../http/refusal.ts';
import {
  isDirectMessage,
  type PlatformTemplate,
  type TemplateButton,
  type TemplateComponent,
} from '../../templates/model/template.ts';

/**
 * These kinds need no input, or one that a send or the service has (platform reference, 3 and 4.2). Others are refused
 * (D23): a missing input would cost a refusal for each recipient.
 */
const ofMessage = {
  components: new Set([
    'HEADER',
    'BODY',
    'FOOTER',
    'BUTTONS',
    'CAROUSEL',
    'LIMITED_TIME_OFFER',
    'CALL_PERMISSION_REQUEST',
  ]),
  buttons: new Set([
    'QUICK_REPLY',
    'URL',
    'PHONE_NUMBER',
    'COPY_CODE',
    'VOICE_CALL',
    'FLOW',
    'CATALOG',
    'MPM',
    'SPM',
    'OTP',
    'REQUEST_CONTACT_INFO',
  ]),
};
const ofCard = {
  components: new Set(['HEADER', 'BODY', 'BUTTONS']),
  buttons: new Set(['QUICK_REPLY', 'URL', 'PHONE_NUMBER']),
};

export function notSendable(message: string): Refusal {
  return new Refusal('template_not_sendable', message);
}

/** Refuses direct-message templates with 422; they are in no listing. */
export function refuseDirectMessages(template: Pick<PlatformTemplate, 'source'>): void {
  if (isDirectMessage(template)) throw notSendable('direct-message templates cannot be sent through this interface');
}

/** Refuses with 422 an unlisted kind of component or button, also on cards, and names it. */
export function refuseUnlistedKinds({ components }: Pick<PlatformTemplate, 'components'>): void {
  refuseUnlisted('', components, ofMessage);
  for (const { cards } of components) {
    for (const [index, card] of (cards ?? []).entries()) refuseUnlisted(` on card ${index}`, card.components, ofCard);
  }
}

function refuseUnlisted(
  where: string,
  components: readonly Pick<TemplateComponent, 'type' | 'buttons'>[],
  listed: typeof ofMessage,
): void {
  for (const { type, buttons } of components) {
    if (!listed.components.has(type.toUpperCase())) throw unlisted(`component of type ${type}${where}`);
    for (const [index, button] of (buttons ?? []).entries())
      refuseButton(button, `${where} (buttons[${index}])`, listed);
  }
}

function refuseButton({ type }: TemplateButton, where: string, { buttons }: typeof ofMessage): void {
  if (!buttons.has(type.toUpperCase())) throw unlisted(`button of type ${type}${where}`);
}

function unlisted(what: string): Refusal {
  return notSendable(`templates with a ${what} cannot be sent through this interface`);
}
