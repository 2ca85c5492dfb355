import * as v from 'valibot';
import { wholeNumber } from '../../http/documented.ts';
import { Refusal } from '../../http/refusal.ts';
import type { PlatformTemplate, TemplateButton, TemplateComponent } from '../../templates/model/template.ts';
import { mediaHeaderTypes } from '../dispatch/head.ts';
import {
  type CardNeed,
  type DynamicButton,
  type ParameterNeeds,
  parameterContract,
  parameterNeeds,
  type TextNeed,
} from './parameter-contract.ts';
import { codeMaxLength, headerInputType, maxProducts, maxSections, sectionTitleMaxLength } from './recipient-rules.ts';
import { notSendable } from './sendable-kinds.ts';

/** A view of a text has the number of its values, and the lengths of the text without and with them. */
const TextViewSchema = v.object({
  count: wholeNumber,
  fixed_length: v.pipe(wholeNumber, v.description('Characters of the text without its variables.')),
  max_length: v.pipe(wholeNumber, v.description('Characters of the whole at most.')),
  values: v.pipe(
    v.array(v.object({ appears: wholeNumber, example: v.optional(v.string()) })),
    v.description('In order: how often each value is printed, and what the platform was shown for it.'),
  ),
});

const ButtonViewSchema = v.variant('kind', [
  v.object({
    index: v.pipe(wholeNumber, v.description('The place of the button in the template.')),
    kind: v.literal('url'),
    fixed_length: v.pipe(wholeNumber, v.description('Characters of the URL without the value.')),
    max_length: wholeNumber,
    example: v.optional(v.pipe(v.string(), v.description('A value, from the URL that the platform was shown.'))),
  }),
  v.object({
    index: wholeNumber,
    kind: v.literal('copy_code'),
    max_length: wholeNumber,
    example: v.optional(v.string()),
  }),
]);

const PartsViewSchema = v.object({
  body: v.optional(TextViewSchema),
  buttons: v.optional(v.array(ButtonViewSchema)),
});

const ProductsViewSchema = v.object({
  count: v.literal(1),
  kind: v.picklist(['single', 'list']),
  max_sections: v.optional(wholeNumber),
  max_products: v.optional(wholeNumber),
  max_title_length: v.optional(wholeNumber),
});

const ParametersSchema = v.object({
  params: v.object({
    header: v.optional(TextViewSchema),
    ...PartsViewSchema.entries,
    products: v.optional(ProductsViewSchema),
    cards: v.optional(v.array(PartsViewSchema)),
  }),
  component: v.object({
    header: v.optional(
      v.object({
        type: v.picklist([...mediaHeaderTypes, 'location']),
        example: v.optional(v.string()),
      }),
    ),
  }),
  phone_numbers_only: v.optional(v.literal(true)),
});

/** `neededAtSend` returns this; absent fields are not needed (D49). */
export const NeededAtSendSchema = v.object({
  parameters: v.optional(
    v.pipe(
      ParametersSchema,
      v.description(
        'What the params of a recipient and the component of a send must carry; absent for a template that can never be sent.',
      ),
    ),
  ),
  sendable: v.object({ can: v.boolean(), reason: v.optional(v.string()) }),
});

type TextView = v.InferOutput<typeof TextViewSchema>;
type ButtonView = v.InferOutput<typeof ButtonViewSchema>;
type PartsView = v.InferOutput<typeof PartsViewSchema>;
type ProductsView = v.InferOutput<typeof ProductsViewSchema>;
export type ParametersView = v.InferOutput<typeof ParametersSchema>;
export type NeededAtSend = v.InferOutput<typeof NeededAtSendSchema>;

/**
 * Returns what a send of the template needs, and whether it can be sent now. `switchedOff` says why its client has
 * switched it off.
 */
export function neededAtSend(template: PlatformTemplate, switchedOff?: string): NeededAtSend {
  const needs = refusedOr(() => parameterNeeds(template));
  const sendable = refusedOr(() => {
    const contract = parameterContract(template);
    if (switchedOff !== undefined) throw notSendable(switchedOff);
    return contract;
  });
  return {
    ...(needs instanceof Refusal ? {} : { parameters: parametersView(template, needs) }),
    sendable: sendable instanceof Refusal ? { can: false, reason: sendable.message } : { can: true },
  };
}

function refusedOr<Result>(ask: () => Result): Result | Refusal {
  try {
    return ask();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function parametersView(template: PlatformTemplate, needs: ParameterNeeds): ParametersView {
  const component = componentOf(template.components);
  const header = component('HEADER');
  const headerText = needs.header.kind === 'text' ? needs.header.text : undefined;
  const headerType = headerInputType(needs.header);
  const cards = component('CAROUSEL')?.cards ?? [];
  return {
    params: {
      header: headerText && textView(headerText, examplesOf(header, 'header_text')),
      ...partsView(needs, template.components, needs.codeButton !== undefined),
      products: productsView(needs),
      ...(needs.cards.length === 0
        ? {}
        : { cards: needs.cards.map((card, index) => partsView(card, cards[index]?.components ?? [], false)) }),
    },
    component:
      headerType === undefined ? {} : { header: { type: headerType, example: examplesOf(header, 'header_handle')[0] } },
    phone_numbers_only: needs.phoneNumbersOnly && true,
  };
}

function partsView(
  { body, buttons }: Pick<CardNeed, 'body' | 'buttons'>,
  components: readonly ExampleComponent[],
  isCode: boolean,
): PartsView {
  const component = componentOf(components);
  const need = isCode ? { ...body, maxLength: codeMaxLength } : body;
  const shown = component('BUTTONS')?.buttons ?? [];
  return {
    ...(need.appearances.length === 0 ? {} : { body: textView(need, examplesOf(component('BODY'), 'body_text')) }),
    ...(buttons.length === 0 ? {} : { buttons: buttons.map((button) => buttonView(button, shown[button.index])) }),
  };
}

function textView({ appearances, fixedLength, maxLength }: TextNeed, examples: readonly string[]): TextView {
  return {
    count: appearances.length,
    fixed_length: fixedLength,
    max_length: maxLength,
    values: appearances.map((appears, index) => ({ appears, example: examples[index] })),
  };
}

function buttonView(
  { index, kind, fixedLength, maxLength }: DynamicButton,
  shown: TemplateButton | undefined,
): ButtonView {
  const [example] = textsOf(shown?.['example']);
  if (kind === 'copy_code') return { index, kind, max_length: maxLength, example };
  const value = { example: example && valueIn(example, String(shown?.['url'])) };
  return { index, kind, fixed_length: fixedLength, max_length: maxLength, ...value };
}

/** Returns the value that a send gives for the platform's example URL. */
function valueIn(example: string, url: string): string {
  const [fixed = ''] = url.split('{{');
  return example.startsWith(fixed) ? example.slice(fixed.length) : example;
}

function productsView({ header, productList }: ParameterNeeds): ProductsView | undefined {
  if (header.kind === 'product') return { count: 1, kind: 'single' };
  if (productList === undefined) return undefined;
  const limits = { max_sections: maxSections, max_products: maxProducts, max_title_length: sectionTitleMaxLength };
  return { count: 1, kind: 'list', ...limits };
}

type ExampleComponent = Pick<TemplateComponent, 'type' | 'example' | 'buttons'>;

function componentOf<Component extends ExampleComponent>(components: readonly Component[]) {
  return (type: string): Component | undefined => components.find((each) => each.type.toUpperCase() === type);
}

/** Returns the platform's examples of a component: `body_text` is a list of lists, others are lists. */
function examplesOf(component: ExampleComponent | undefined, name: string): readonly string[] {
  return textsOf(component?.example?.[name]);
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return [];
  const [first] = value;
  return (Array.isArray(first) ? first : value).filter((each) => typeof each === 'string');
}
