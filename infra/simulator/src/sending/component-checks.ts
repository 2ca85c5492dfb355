import { messagingError } from '../errors.ts';
import type { Template } from '../templates/template.ts';
import { checkButtons } from './button-checks.ts';
import { checkCarousel } from './carousel-checks.ts';
import { checkHeader } from './header-checks.ts';
import type { SentPart } from './message-body.ts';
import { singleComponent } from './single-component.ts';
import { checkTexts } from './text-checks.ts';

export interface SendContext {
  readonly template: Template;
  readonly catalogIds: readonly string[];
  readonly nowMs: number;
}

/** Checks the sent components against the template's; throws at the first fault. */
export function checkComponents(context: SendContext, parts: readonly SentPart[]): void {
  const { components, fields } = context.template;
  const only = (type: SentPart['type']) => singleComponent(parts, type);
  const defined = (type: string) => components.find((component) => component.type === type);
  const buttons = defined('BUTTONS')?.buttons ?? [];
  const place = { where: '', named: fields.parameter_format === 'NAMED', catalogIds: context.catalogIds };

  checkHeader(place, defined('HEADER'), only('header')?.parameters ?? []);
  checkTexts(
    { ...place, where: 'body', mostCharacters: bodyLimit(context.template) },
    defined('BODY')?.text,
    only('body')?.parameters ?? [],
  );
  checkOffer(context, only('limited_time_offer'));
  checkButtons(
    { ...place, code: fields.category === 'AUTHENTICATION', offer: defined('LIMITED_TIME_OFFER') !== undefined },
    buttons,
    parts.filter((part) => part.type === 'button'),
  );
  checkCarousel(place, defined('CAROUSEL')?.cards, only('carousel')?.cards ?? []);
}

/** A filled body has the same limit as a written one (platform reference, 3.4). */
function bodyLimit(template: Template): number {
  if (template.components.some((component) => component.type === 'LIMITED_TIME_OFFER')) return 600;
  const single = template.components.some((component) => component.buttons?.some((button) => button.type === 'SPM'));
  return single ? 160 : 1_024;
}

function checkOffer(context: SendContext, part: SentPart | undefined): void {
  const offer = context.template.components.find((component) => component.type === 'LIMITED_TIME_OFFER');
  const [parameter] = part?.parameters ?? [];
  if (offer?.limited_time_offer?.has_expiration !== true) {
    if (parameter === undefined) return;
    throw messagingError(132000, 'limited_time_offer: the template has no offer that expires');
  }
  if (parameter === undefined) throw messagingError(131008, 'limited_time_offer: expiration_time_ms is required');
  if (parameter.type !== 'limited_time_offer') {
    throw messagingError(132012, `limited_time_offer: Format mismatch, received ${parameter.type.toUpperCase()}`);
  }
  if (parameter.limited_time_offer.expiration_time_ms <= context.nowMs) {
    throw messagingError(131009, 'limited_time_offer: expiration_time_ms is not in the future');
  }
}
