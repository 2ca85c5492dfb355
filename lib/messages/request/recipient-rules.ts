import type { FaultList } from '../../http/fault-list.ts';
import { jsonExcerpt } from '../../http/json-excerpt.ts';
import { publicHttpsUrlFault } from '../../http/public-url.ts';
import { canonicalNumber } from '../../opt-outs/canonical-number.ts';
import { isUserId } from '../../platform/user-id.ts';
import type { HeaderInput, Recipient } from '../dispatch/head.ts';
import {
  type DynamicButton,
  type HeaderNeed,
  lengthOf,
  type ParameterContract,
  type TextNeed,
} from './parameter-contract.ts';
import { urlSuffix } from './url-suffix.ts';

export const codeMaxLength = 15;
export const maxSections = 10;
export const maxProducts = 30;
export const sectionTitleMaxLength = 24;

type Params = NonNullable<Recipient['params']>;
type Product = NonNullable<Params['products']>[number];

/**
 * Adds a fault for each deviation of a recipient from the template's needs (D24). No faults means that every recipient
 * can be composed.
 */
export function checkRecipients(
  contract: ParameterContract,
  recipients: readonly Recipient[],
  faults: FaultList,
): void {
  for (const [index, recipient] of recipients.entries()) {
    if (contract.phoneNumbersOnly !== undefined && isUserId(recipient.to)) {
      const what =
        contract.phoneNumbersOnly === 'code' ? 'an AUTHENTICATION template' : 'a template with optimization_spec';
      faults.add({
        path: `recipients[${index}].to`,
        message: `${what} can only be sent to phone numbers, received ${recipient.to}`,
      });
    }
    checkParams(contract, recipient.params ?? {}, new Report(faults, () => `recipients[${index}].params`));
  }
}

/** Adds a fault for each recipient that is the sending number itself, in any spelling (D24; platform code 131021). */
export function checkNotSender(did: string, recipients: readonly Recipient[], faults: FaultList): void {
  const sender = canonicalNumber(did);
  for (const [index, { to }] of recipients.entries()) {
    if (canonicalNumber(to) !== sender) continue;
    const message = `expected another number than the did, which cannot write to itself, received ${to}`;
    faults.add({ path: `recipients[${index}].to`, message });
  }
}

/** A place in the request, spelled only for a fault: most of ten thousand recipients have none. */
class Report {
  readonly faults: FaultList;
  readonly #path: () => string;

  constructor(faults: FaultList, path: () => string) {
    this.faults = faults;
    this.#path = path;
  }

  get path(): string {
    return this.#path();
  }

  at(step: string | number): Report {
    return new Report(this.faults, () => `${this.path}${typeof step === 'number' ? `[${step}]` : `.${step}`}`);
  }
}

function checkParams(contract: ParameterContract, params: Params, report: Report): void {
  const header = contract.header.kind === 'text' ? contract.header.text : undefined;
  checkText(header, params.header ?? [], report.at('header'));
  checkText(contract.body, params.body ?? [], report.at('body'));
  if (contract.codeButton === undefined) checkButtons(contract.buttons, params.buttons ?? [], report.at('buttons'));
  else checkCode(params, report.at('body'), report.at('buttons'));
  checkProducts(contract, params.products ?? [], report.at('products'));

  const cards = params.cards ?? [];
  if (!hasCount(contract.cards.length, cards.length, report.at('cards'), 'card')) return;
  for (const [index, need] of contract.cards.entries()) {
    const card = report.at('cards').at(index);
    checkText(need.body, cards[index]?.body ?? [], card.at('body'));
    checkButtons(need.buttons, cards[index]?.buttons ?? [], card.at('buttons'));
  }
}

function checkText(need: TextNeed | undefined, values: readonly string[], report: Report): void {
  const appearances = need?.appearances ?? [];
  if (!hasCount(appearances.length, values.length, report)) return;
  let length = need?.fixedLength ?? 0;
  for (const [index, value] of values.entries()) {
    checkValue(value, report.at(index));
    length += lengthOf(value) * (appearances[index] ?? 0);
  }
  if (need !== undefined && values.length > 0 && length > need.maxLength) {
    add(report, `expected at most ${need.maxLength} characters after filling, received ${length}`);
  }
}

function checkButtons(buttons: readonly DynamicButton[], values: readonly string[], report: Report): void {
  if (!hasCount(buttons.length, values.length, report)) return;
  for (const [index, button] of buttons.entries()) {
    const value = values[index] ?? '';
    const here = report.at(index);
    if (button.kind === 'copy_code') {
      const isCode = /^[0-9A-Za-z]+$/.test(value) && value.length <= button.maxLength;
      if (!isCode) add(here, `expected 1 to ${button.maxLength} letters or digits, received ${jsonExcerpt(value)}`);
    } else if (checkValue(value, here)) {
      const length = button.fixedLength + urlSuffix(value).length;
      if (length > button.maxLength) {
        add(here, `expected a URL of at most ${button.maxLength} characters, received ${length}`);
      }
    }
  }
}

/** An authentication code is given once, in the body; the button may repeat it. */
function checkCode(params: Params, body: Report, button: Report): void {
  const code = params.body?.[0] ?? '';
  if (lengthOf(code) > codeMaxLength) {
    add(body, `expected a code of at most ${codeMaxLength} characters, received ${lengthOf(code)}`);
  }
  const buttons = params.buttons ?? [];
  if (buttons.length > 1) add(button, `expected at most 1 value, received ${buttons.length}`);
  else if (buttons.length === 1 && buttons[0] !== code) add(button, 'expected the same code as in body');
}

function checkProducts(contract: ParameterContract, products: readonly Product[], report: Report): void {
  const single = contract.header.kind === 'product';
  const expected = single || contract.productList !== undefined ? 1 : 0;
  if (!hasCount(expected, products.length, report, 'item')) return;
  const [product] = products;
  if (product === undefined) return;
  const action = report.at(0).at('action');
  checkValue(product.action.thumbnailProductRetailerId, action.at('thumbnailProductRetailerId'));
  const sections = action.at('sections');
  if (!single) checkSections(product.action.sections ?? [], sections);
  else if (product.action.sections !== undefined) add(sections, 'expected no sections for a single product');
}

function checkSections(sections: NonNullable<Product['action']['sections']>, report: Report): void {
  if (sections.length < 1 || sections.length > maxSections) {
    add(report, `expected 1 to ${maxSections} sections, received ${sections.length}`);
  }
  let items = 0;
  for (const [index, section] of sections.entries()) {
    const here = report.at(index);
    const title = here.at('title');
    if (checkValue(section.title, title) && lengthOf(section.title) > sectionTitleMaxLength) {
      add(title, `expected at most ${sectionTitleMaxLength} characters, received ${lengthOf(section.title)}`);
    }
    if (section.product_items.length === 0) add(here.at('product_items'), 'expected at least 1 item, received 0');
    for (const [item, { product_retailer_id }] of section.product_items.entries()) {
      checkValue(product_retailer_id, here.at('product_items').at(item).at('product_retailer_id'));
    }
    items += section.product_items.length;
  }
  if (items > maxProducts) add(report, `expected at most ${maxProducts} products, received ${items}`);
}

/** Tells whether the platform takes the value into a text (platform reference, 3.10). */
function checkValue(value: string, report: Report): boolean {
  if (value.trim() === '') return add(report, 'expected a value, received an empty one');
  if (!value.isWellFormed()) return add(report, 'expected well-formed text, received half of a surrogate pair');
  if (/[\p{Cc}\u2028\u2029]/u.test(value))
    return add(report, 'expected no line breaks, tabs or other control characters');
  if (value.includes('     ')) return add(report, 'expected at most 4 spaces in a row');
  return true;
}

function hasCount(expected: number, received: number, report: Report, noun = 'value'): boolean {
  if (expected === received) return true;
  return add(report, `expected ${expected} ${noun}${expected === 1 ? '' : 's'}, received ${received}`);
}

function add(report: Report, message: string): false {
  report.faults.add({ path: report.path, message });
  return false;
}

/**
 * Checks `component.header` against the template's header (contract, component.header): required exactly for image,
 * video, document and location, of that type, with an https URL of a public host.
 */
export function checkHeaderInput(need: HeaderNeed, input: HeaderInput | undefined, faults: FaultList): void {
  const report = new Report(faults, () => 'component.header');
  const expected = headerInputType(need);
  if (expected === undefined) {
    if (input !== undefined) add(report, `expected none for this template, received ${input.type}`);
  } else if (input === undefined) {
    add(report, `component.header is required: expected ${expected}, received none`);
  } else if (input.type !== expected) {
    add(report.at('type'), `expected ${expected}, received ${input.type}`);
  } else if (input.type !== 'location') {
    const fault = publicHttpsUrlFault(input.value);
    if (fault !== undefined) add(report.at('value'), fault);
    if (input.filename !== undefined) checkValue(input.filename, report.at('filename'));
  } else {
    checkValue(input.location.name, report.at('location.name'));
    checkValue(input.location.address, report.at('location.address'));
  }
}

/** Returns the `type` of `component.header` that the template's header needs, if any. */
export function headerInputType(need: HeaderNeed): HeaderInput['type'] | undefined {
  return need.kind === 'input' ? need.type : undefined;
}
