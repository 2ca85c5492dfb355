import type { UploadedMedium } from '../../uploads/upload-store.ts';
import type { Category, GivenComponent } from '../definition.ts';
import { checkAuthentication } from './authentication-rules.ts';
import { checkButtons, checkOfferCode } from './button-rules.ts';
import { checkCarousel } from './carousel-rules.ts';
import { checkHeader, headerFormatsOf } from './header-rules.ts';
import { checkCharacters, checkKeys, invalid } from './refusals.ts';
import { checkBody, checkFooter } from './text-rules.ts';

export interface ComponentRules {
  readonly category: Category;
  readonly named: boolean;
  readonly mediumOf: (handle: string) => UploadedMedium | undefined;
}

const longestBody = 1_024;
const longestOfferBody = 600;
const longestProductBody = 160;
const longestOffer = 16;

const allowedTypes: Readonly<Record<Category, readonly string[]>> = {
  AUTHENTICATION: ['BODY', 'FOOTER', 'BUTTONS'],
  UTILITY: ['HEADER', 'BODY', 'FOOTER', 'BUTTONS'],
  MARKETING: ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER'],
};

/** Checks components of a created or edited template (platform reference, 3); throws at the first fault. */
export function checkComponents(rules: ComponentRules, components: readonly GivenComponent[]): void {
  const types = components.map((component) => component.type);
  const stray = types.find((type) => !allowedTypes[rules.category].includes(type));
  if (stray !== undefined) throw invalid(`${stray} is not for ${rules.category} templates`);
  if (new Set(types).size < types.length) throw invalid('At most one component of each type is allowed');
  if (!types.includes('BODY')) throw invalid('A component of type BODY is required');
  if (rules.category === 'AUTHENTICATION') {
    checkAuthentication(components);
    return;
  }
  const parts = partsOf(components);
  checkCombination(parts);
  if (parts.HEADER !== undefined) {
    checkHeader({ ...rules, where: 'header', formats: headerFormatsOf(rules.category) }, parts.HEADER);
  }
  if (parts.LIMITED_TIME_OFFER !== undefined) {
    checkOffer(parts.LIMITED_TIME_OFFER);
    checkOfferCode('buttons', parts.BUTTONS?.buttons);
  }
  if (parts.BODY !== undefined) {
    checkBody({ where: 'body', named: rules.named, mostCharacters: bodyLimit(parts) }, parts.BODY);
  }
  if (parts.FOOTER !== undefined) checkFooter(parts.FOOTER);
  if (parts.BUTTONS !== undefined) {
    checkKeys('buttons', parts.BUTTONS, ['type', 'buttons']);
    checkButtons('buttons', parts.BUTTONS.buttons);
  }
  if (parts.CAROUSEL !== undefined) checkCarousel(rules, parts.CAROUSEL);
}

type Parts = { readonly [T in GivenComponent['type']]?: GivenComponent };

function partsOf(components: readonly GivenComponent[]): Parts {
  return Object.fromEntries(components.map((component) => [component.type, component]));
}

function kindsOf(parts: Parts): readonly string[] {
  return (parts.BUTTONS?.buttons ?? []).map((button) => button.type);
}

function bodyLimit(parts: Parts): number {
  if (parts.LIMITED_TIME_OFFER !== undefined) return longestOfferBody;
  return kindsOf(parts).includes('SPM') ? longestProductBody : longestBody;
}

/** Checks that the components go together (3.6 to 3.8). */
function checkCombination(parts: Parts): void {
  const kinds = kindsOf(parts);
  const format = parts.HEADER?.format;
  if (parts.CAROUSEL !== undefined && (parts.HEADER ?? parts.FOOTER ?? parts.BUTTONS ?? parts.LIMITED_TIME_OFFER)) {
    throw invalid('Beside a CAROUSEL only a BODY is allowed');
  }
  if (kinds.includes('CATALOG') && parts.HEADER !== undefined) throw invalid('No HEADER beside a CATALOG button');
  if (kinds.includes('MPM') && format !== 'TEXT') throw invalid('An MPM button needs a HEADER of format TEXT');
  if (kinds.includes('SPM') !== (format === 'PRODUCT')) {
    throw invalid('An SPM button and a HEADER of format PRODUCT need each other');
  }
  const offer = parts.LIMITED_TIME_OFFER;
  if (offer === undefined) return;
  if (parts.FOOTER !== undefined) throw invalid('No FOOTER beside a LIMITED_TIME_OFFER');
  if (format !== undefined && format !== 'IMAGE' && format !== 'VIDEO') {
    throw invalid('Beside a LIMITED_TIME_OFFER the HEADER must show an IMAGE or VIDEO');
  }
  const expires = offer.limited_time_offer?.has_expiration === true;
  const order = kinds.join();
  if (order !== 'COPY_CODE,URL' && (expires || order !== 'URL')) {
    throw invalid('A LIMITED_TIME_OFFER needs the buttons COPY_CODE and URL; without an expiration URL alone will do');
  }
}

function checkOffer(component: GivenComponent): void {
  checkKeys('limited_time_offer', component, ['type', 'limited_time_offer']);
  const text = component.limited_time_offer?.text ?? '';
  if (text.trim() === '') throw invalid('limited_time_offer: a text is required');
  checkCharacters('limited_time_offer', text, longestOffer);
}
