import { enumOf, isPart, type Part } from '../../http/json-part.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import type { Category, TemplateDraft } from './draft.ts';
import { bodyExamples } from './variables.ts';

/** The platform prefers this order (platform reference, 3.2). */
const order = ['HEADER', 'LIMITED_TIME_OFFER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL'];
const defaultMinutes = 10;

/**
 * Returns checked components in the platform's spelling. An AUTHENTICATION template gets its minutes (10 by default) in
 * FOOTER and its advice in BODY (D18); an edit without FOOTER and minutes gets none (D20).
 */
export function upstreamComponents(draft: TemplateDraft): Part[] {
  const written = draft.components.filter(isPart).map(writtenComponent);
  const complete =
    draft.category === ('AUTHENTICATION' satisfies Category) ? withCodeSettings(written, draft) : written;
  return complete.sort((a, b) => order.indexOf(typeOf(a)) - order.indexOf(typeOf(b)));
}

function typeOf(component: Part): string {
  return enumOf(component['type']) ?? '';
}

function writtenComponent(component: Part): Part {
  const type = typeOf(component);
  if (type === 'HEADER') return writtenHeader(component);
  if (type === 'BODY') return writtenBody(component);
  if (type === 'BUTTONS') return { ...component, type, buttons: partsOf(component['buttons']).map(writtenButton) };
  if (type === 'CAROUSEL') return { ...component, type, cards: partsOf(component['cards']).map(writtenCard) };
  return { ...component, type };
}

function writtenHeader({ header_handle: handle, ...header }: Part): Part {
  const written = { ...header, type: 'HEADER', format: enumOf(header['format']) };
  return handle === undefined ? written : { ...written, example: { header_handle: [handle] } };
}

/** Clients may give one list of examples; the platform wants a list of one list. */
function writtenBody(body: Part): Part {
  const values = bodyExamples(body['example']);
  return {
    ...body,
    type: 'BODY',
    ...(values === undefined ? {} : { example: { body_text: [values] } }),
  };
}

/** The platform documents a list of one example for a URL. */
function writtenButton(button: Part): Part {
  const type = enumOf(button['type']);
  const { example } = button;
  const listed = type === 'URL' && typeof example === 'string' ? [example] : undefined;
  return { ...button, type, ...omitUndefined({ otp_type: enumOf(button['otp_type']), example: listed }) };
}

function writtenCard(card: Part): Part {
  return { components: partsOf(card['components']).map(writtenComponent) };
}

function partsOf(list: unknown): Part[] {
  return Array.isArray(list) ? list.filter(isPart) : [];
}

function withCodeSettings(components: readonly Part[], draft: TemplateDraft): Part[] {
  const footer = components.find((component) => component['type'] === 'FOOTER');
  const byDefault = draft.editing && footer === undefined ? undefined : defaultMinutes;
  const minutes = footer?.['code_expiration_minutes'] ?? draft.codeExpirationMinutes ?? byDefault;
  const advice = draft.addSecurityRecommendation;
  return [
    ...components
      .filter((component) => component !== footer)
      .map((component) =>
        component['type'] === 'BODY' && advice !== undefined
          ? { ...component, add_security_recommendation: advice }
          : component,
      ),
    ...(minutes === undefined ? [] : [{ type: 'FOOTER', code_expiration_minutes: Math.ceil(Number(minutes)) }]),
  ];
}
