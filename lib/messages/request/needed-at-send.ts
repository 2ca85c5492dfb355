import { Refusal } from '../../http/refusal.ts';
import { present } from '../../keys/present.ts';
import type { PlatformTemplate, TemplateButton, TemplateComponent } from '../../templates/model/template.ts';
import {
  type CardNeed,
  type DynamicButton,
  type ParameterContract,
  parameterContract,
  parameterNeeds,
  type TextNeed,
} from './parameter-contract.ts';
import {
  codeMaxLength,
  headerInputType,
  maxProducts,
  maxSections,
  sectionTitleMaxLength,
  urlMaxLength,
} from './recipient-rules.ts';
import { refuseDirectMessages } from './sendable-kinds.ts';

/** A list of values for a text: how many, and the length of the text once they are filled in. */
interface TextView {
  readonly count: number;
  /** Characters of the text without its variables, and of the whole at most. */
  readonly fixed_length: number;
  readonly max_length: number;
  /** In order: how often each value is printed, and what the platform was shown for it. */
  readonly values: readonly { readonly appears: number; readonly example?: string }[];
}

/** One value of `buttons`, in order; `index` is the button's place in the template. */
type ButtonView =
  | {
      readonly index: number;
      readonly kind: 'url';
      /** Characters of the URL without the value, and of the whole at most. */
      readonly fixed_length: number;
      readonly max_length: number;
      readonly example?: string;
    }
  | { readonly index: number; readonly kind: 'copy_code'; readonly max_length: number; readonly example?: string };

interface PartsView {
  readonly body?: TextView;
  readonly buttons?: readonly ButtonView[];
}

/** What the `params` of one recipient and the `component` of the request must carry; what is not needed is absent (D49). */
export interface ParametersView {
  readonly params: PartsView & {
    readonly header?: TextView;
    readonly products?: Readonly<Record<string, string | number>>;
    readonly cards?: readonly PartsView[];
  };
  readonly component: { readonly header?: { readonly type: string; readonly example?: string } };
  readonly phone_numbers_only?: true;
}

export interface NeededAtSend {
  /** Absent for a template that cannot be sent whatever its status is. */
  readonly parameters?: ParametersView;
  readonly sendable: { readonly can: boolean; readonly reason?: string };
}

/** What sending a template takes, and whether it can be sent now: from what a send itself is judged by. */
export function neededAtSend(template: PlatformTemplate, client: { readonly isDirectMessage: boolean }): NeededAtSend {
  const needs = refusedOr(() => parameterNeeds(template));
  const sendable = refusedOr(() => {
    refuseDirectMessages(client);
    return parameterContract(template);
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

function parametersView(template: PlatformTemplate, needs: ParameterContract): ParametersView {
  const component = componentOf(template.components);
  const header = component('HEADER');
  const headerText = needs.header.kind === 'text' ? needs.header.text : undefined;
  const headerType = headerInputType(needs.header);
  const cards = component('CAROUSEL')?.cards ?? [];
  return {
    params: {
      ...present({ header: headerText && textView(headerText, examplesOf(header, 'header_text')) }),
      ...partsView(needs, template.components, needs.codeButton !== undefined),
      ...present({ products: productsView(needs) }),
      ...(needs.cards.length === 0
        ? {}
        : { cards: needs.cards.map((card, index) => partsView(card, cards[index]?.components ?? [], false)) }),
    },
    component:
      headerType === undefined
        ? {}
        : { header: { type: headerType, ...present({ example: examplesOf(header, 'header_handle')[0] }) } },
    ...(needs.phoneNumbersOnly ? { phone_numbers_only: true } : {}),
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
    values: appearances.map((appears, index) => ({ appears, ...present({ example: examples[index] }) })),
  };
}

function buttonView({ index, kind, fixedLength }: DynamicButton, shown: TemplateButton | undefined): ButtonView {
  const example = present({ example: textsOf(shown?.['example'])[0] });
  if (kind === 'copy_code') return { index, kind, max_length: codeMaxLength, ...example };
  return { index, kind, fixed_length: fixedLength, max_length: urlMaxLength, ...example };
}

function productsView({ header, productList }: ParameterContract): Record<string, string | number> | undefined {
  if (header.kind === 'product') return { count: 1, kind: 'single' };
  if (productList === undefined) return undefined;
  const limits = { max_sections: maxSections, max_products: maxProducts, max_title_length: sectionTitleMaxLength };
  return { count: 1, kind: 'list', ...limits };
}

type ExampleComponent = Pick<TemplateComponent, 'type' | 'example' | 'buttons'>;

function componentOf<Component extends ExampleComponent>(components: readonly Component[]) {
  return (type: string): Component | undefined => components.find((each) => each.type.toUpperCase() === type);
}

/** The platform's examples of a component: `body_text` is a list of lists, the others are lists. */
function examplesOf(component: ExampleComponent | undefined, name: string): readonly string[] {
  return textsOf(component?.example?.[name]);
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return [];
  const [first] = value;
  return (Array.isArray(first) ? first : value).filter((each) => typeof each === 'string');
}
