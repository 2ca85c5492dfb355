import { jsonExcerpt } from '../../http/json-excerpt.ts';
import { enumOf, isPart, type Part } from '../../http/json-part.ts';
import { clip } from '../../http/parse.ts';
import { checkAuthenticationBody, checkAuthenticationFooter, checkOtpButtons } from './authentication.ts';
import { checkButtons, checkOfferCode } from './buttons.ts';
import { checkCarousel } from './carousel.ts';
import { at, type Category, type CheckedValue, fault, onlyKeys, requiredText, type TemplateDraft } from './draft.ts';
import { headerFormatsOf } from './header-formats.ts';
import { checkBody, checkFooter, checkHeader } from './texts.ts';

const bodyMaxLength = 1_024;
const offerBodyMaxLength = 600;
const productBodyMaxLength = 160;
const offerTextMaxLength = 16;

/** A category may have these components (platform reference, 3.2). */
const componentsOf: Readonly<Record<Category, readonly string[]>> = {
  MARKETING: ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER'],
  UTILITY: ['HEADER', 'BODY', 'FOOTER', 'BUTTONS'],
  AUTHENTICATION: ['BODY', 'FOOTER', 'BUTTONS'],
};

interface Placed {
  readonly component: Part;
  readonly place: CheckedValue;
}
type Found = ReadonlyMap<string, Placed>;

/**
 * Checks components against all rules of the platform reference, section 3, and notes every fault with its path (D18).
 * The platform's review checks the rest (wording, variables to words).
 */
export function checkComponents(draft: TemplateDraft, judged: CheckedValue): void {
  const found = placedComponents(draft, judged);
  if (!found.has('BODY')) fault(judged, 'a BODY component is required');
  if (draft.category === 'AUTHENTICATION') checkAuthentication(draft, found, judged);
  else checkMessage(draft, found, judged);
}

function placedComponents(draft: TemplateDraft, judged: CheckedValue): Found {
  const allowed = componentsOf[draft.category];
  const found = new Map<string, Placed>();
  draft.components.forEach((component, index) => {
    const place = at(judged, index);
    const type = isPart(component) ? enumOf(component['type']) : undefined;
    if (!isPart(component) || type === undefined || !allowed.includes(type)) {
      const received = jsonExcerpt(isPart(component) ? component['type'] : component);
      fault(at(place, 'type'), `one of ${allowed.join(', ')} in ${draft.category}, received ${received}`);
    } else if (found.has(type)) fault(place, `only one ${type} component`);
    else found.set(type, { component, place });
  });
  return found;
}

function checkAuthentication(draft: TemplateDraft, found: Found, judged: CheckedValue): void {
  const [body, footer, buttons] = ['BODY', 'FOOTER', 'BUTTONS'].map((type) => found.get(type));
  if (body !== undefined) checkAuthenticationBody(body.component, body.place, draft);
  if (footer !== undefined) checkAuthenticationFooter(footer.component, footer.place, draft);
  if (buttons === undefined) {
    fault(judged, 'an AUTHENTICATION template needs BUTTONS with one OTP button');
    return;
  }
  onlyKeys(buttons.component, ['type', 'buttons'], buttons.place);
  checkOtpButtons(buttons.component['buttons'], at(buttons.place, 'buttons'));
}

function checkMessage(draft: TemplateDraft, found: Found, judged: CheckedValue): void {
  const header = found.get('HEADER');
  const body = found.get('BODY');
  const footer = found.get('FOOTER');
  const buttons = found.get('BUTTONS');
  const carousel = found.get('CAROUSEL');
  const offer = found.get('LIMITED_TIME_OFFER');
  const kinds = checkMessageButtons(buttons);
  if (header !== undefined) checkHeader(header.component, headerFormatsOf(draft.category), header.place, draft);
  else if (draft.fileAttached) fault(judged, 'a file came with the request and there is no media HEADER for it');
  if (body !== undefined) checkBody(body.component, bodyLimit(kinds, offer), body.place);
  if (footer !== undefined) checkFooter(footer.component, footer.place);
  if (carousel !== undefined) {
    checkCarousel(carousel.component, carousel.place);
    for (const beside of [header, footer, buttons]) {
      if (beside !== undefined) fault(beside.place, 'beside a CAROUSEL there is only a BODY');
    }
  }
  if (offer !== undefined) {
    checkOffer(offer, { header, footer, kinds });
    if (buttons !== undefined) checkOfferCode(buttons.component['buttons'], at(buttons.place, 'buttons'));
  }
  checkProductButtons(kinds, header, buttons?.place ?? judged);
}

function checkMessageButtons(buttons: Placed | undefined): string[] {
  if (buttons === undefined) return [];
  onlyKeys(buttons.component, ['type', 'buttons'], buttons.place);
  return checkButtons(buttons.component['buttons'], undefined, at(buttons.place, 'buttons'));
}

function bodyLimit(kinds: readonly string[], offer: Placed | undefined): number {
  if (kinds.includes('SPM')) return productBodyMaxLength;
  return offer === undefined ? bodyMaxLength : offerBodyMaxLength;
}

/** Product buttons need their header (platform reference, 3.3 and 3.6). */
function checkProductButtons(kinds: readonly string[], header: Placed | undefined, judged: CheckedValue): void {
  const format = enumOf(header?.component['format']);
  if (kinds.includes('MPM') && format !== 'TEXT') fault(judged, 'an MPM button needs a TEXT header');
  if (kinds.includes('SPM') && format !== 'PRODUCT') fault(judged, 'an SPM button needs a PRODUCT header');
  if (format === 'PRODUCT' && !kinds.includes('SPM')) fault(judged, 'a PRODUCT header needs an SPM button');
  if (kinds.includes('CATALOG') && header !== undefined) fault(header.place, 'no HEADER with a CATALOG button');
}

interface BesideOffer {
  readonly header: Placed | undefined;
  readonly footer: Placed | undefined;
  readonly kinds: readonly string[];
}

/** Checks a limited-time offer and the components beside it (platform reference, 3.8). */
function checkOffer({ component, place }: Placed, { header, footer, kinds }: BesideOffer): void {
  onlyKeys(component, ['type', 'limited_time_offer'], place);
  const offer = component['limited_time_offer'];
  const inside = at(place, 'limited_time_offer');
  if (!isPart(offer)) {
    fault(inside, `an object, received ${jsonExcerpt(offer)}`);
    return;
  }
  onlyKeys(offer, ['text', 'has_expiration'], inside);
  requiredText(offer, 'text', offerTextMaxLength, inside);
  const expires = offer['has_expiration'];
  if (expires !== undefined && typeof expires !== 'boolean') {
    fault(at(inside, 'has_expiration'), `true or false, received ${jsonExcerpt(expires)}`);
  }
  const format = enumOf(header?.component['format']);
  if (header !== undefined && format !== 'IMAGE' && format !== 'VIDEO') {
    fault(header.place, 'beside a limited-time offer the HEADER is an IMAGE or a VIDEO');
  }
  if (footer !== undefined) fault(footer.place, 'no FOOTER beside a limited-time offer');
  const shape = kinds.join(' ');
  const allowed = expires === true ? ['COPY_CODE URL'] : ['COPY_CODE URL', 'URL'];
  if (!allowed.includes(shape))
    fault(place, `the buttons must be ${allowed.join(' or ')}, received ${clip(shape) || 'none'}`);
}
