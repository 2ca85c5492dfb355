import { Refusal } from '../../http/refusal.ts';
import {
  isDirectMessage,
  type PlatformTemplate,
  type TemplateButton,
  type TemplateComponent,
} from '../../templates/model/template.ts';

/**
 * The kinds that can be sent: those proven to need nothing at send, and those whose input a send request has or the
 * service makes (platform reference, 3 and 4.2). What is not listed is refused (D23), above all what the platform has yet
 * to invent: a message that lacks an input is paid for with a refusal to every recipient.
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

/** Refuses with 422 a template of the kind that is in no listing. */
export function refuseDirectMessages(template: Pick<PlatformTemplate, 'source'>): void {
  if (isDirectMessage(template)) throw notSendable('direct-message templates cannot be sent through this interface');
}

/** Refuses with 422 a template with a component or button, of a card too, of a kind that is not listed; says which. */
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
