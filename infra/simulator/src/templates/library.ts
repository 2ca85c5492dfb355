import { graphError, notSimulated, unnumberedManagementError } from '../errors.ts';
import type { NodeFields } from '../fields.ts';
import { omitUndefined } from '../omit-undefined.ts';
import { pageOf } from '../paging.ts';
import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { Creation, GivenButton, GivenComponent, LibraryCreation } from './definition.ts';
import library from './library.json' with { type: 'json' };

/** The template is ready-made (platform reference, 2.11). */
interface LibraryTemplate {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly category: string;
  readonly topic: string;
  readonly usecase: string;
  readonly industry: readonly string[];
  readonly header?: string;
  readonly body: string;
  readonly body_params: readonly string[];
  readonly body_param_types: readonly string[];
  readonly buttons: readonly GivenButton[];
}

const offered = library as readonly LibraryTemplate[];
const largestPage = 100;
const filters = ['language', 'category', 'topic', 'usecase', 'industry'] as const;

/**
 * Answers `GET /message_template_library`: an excerpt of the platform's library. Returns undefined for another request.
 */
export function answerLibrary(
  { nodeId, operation }: { readonly nodeId: string; readonly operation: string },
  request: PlatformRequest,
): Reply | undefined {
  if (nodeId !== 'message_template_library') return undefined;
  if (operation !== 'GET') throw notSimulated(nodeId, operation);
  const search = request.query.get('search')?.toLowerCase() ?? '';
  const found = offered
    .map((fields, place) => ({ fields, place }))
    .filter(
      ({ fields }) =>
        `${fields.name} ${fields.header ?? ''} ${fields.body}`.toLowerCase().includes(search) &&
        filters.every((name) => isWanted(request.query.get(name), fields[name])),
    );
  const page = pageOf(found, { query: request.query, self: request.self, maximum: largestPage });
  return json({
    data: page.items.map(({ fields }): NodeFields => ({ ...fields })),
    paging: page.paging,
  });
}

/** A filter is a word or a JSON array of words, in any letter case. */
function isWanted(filter: string | null, value: string | readonly string[]): boolean {
  if (filter === null || filter === '') return true;
  const wanted: readonly string[] = filter.toUpperCase().match(/[A-Z_]+/g) ?? [];
  const values = typeof value === 'string' ? [value] : value;
  return values.some((one) => wanted.includes(one.toUpperCase()));
}

export function creationFromLibrary(given: LibraryCreation): Creation {
  const { library_template_name: name, library_template_body_inputs: body = {}, ...rest } = given;
  const { library_template_button_inputs: buttons = [], ...fields } = rest;
  const named = offered.filter((template) => template.name === name);
  const chosen = named.find((template) => template.language === given.language);
  if (chosen === undefined) {
    const where = named.length === 0 ? '' : ` in ${given.language}`;
    throw invalidChoice(`The library has no template ${name}${where}; GET /message_template_library lists all`);
  }
  if (chosen.category !== given.category) throw invalidChoice(`The library's ${name} is ${chosen.category}`);
  const components = chosen.category === 'AUTHENTICATION' ? codeComponents(body) : textComponents(chosen);
  const withInputs = buttonsWith(chosen.buttons, buttons);
  return {
    ...fields,
    parameter_format: 'POSITIONAL',
    library_template_name: name,
    components: [...components, { type: 'BUTTONS', buttons: withInputs }],
  };
}

function codeComponents(inputs: NonNullable<LibraryCreation['library_template_body_inputs']>): GivenComponent[] {
  const { add_security_recommendation, code_expiration_minutes: minutes } = inputs;
  return [
    { type: 'BODY', ...omitUndefined({ add_security_recommendation }) },
    ...(minutes === undefined ? [] : [{ type: 'FOOTER' as const, code_expiration_minutes: minutes }]),
  ];
}

function textComponents({ header, body, body_params: examples }: LibraryTemplate): GivenComponent[] {
  return [
    ...(header === undefined ? [] : [{ type: 'HEADER' as const, format: 'TEXT', text: header }]),
    { type: 'BODY', text: body, example: { body_text: [[...examples]] } },
  ];
}

/** Matches inputs to buttons by type, in order; buttons without an input stay unchanged. */
function buttonsWith(
  buttons: readonly GivenButton[],
  inputs: NonNullable<LibraryCreation['library_template_button_inputs']>,
): GivenButton[] {
  const left = [...inputs];
  const filled = buttons.map((button): GivenButton => {
    const at = left.findIndex((input) => input.type === button.type);
    const [input] = at === -1 ? [] : left.splice(at, 1);
    if (input === undefined) return button;
    const { url, ...rest } = input;
    if (url === undefined) return { ...button, ...rest };
    const example = url.url_suffix_example === undefined ? {} : { example: [url.url_suffix_example] };
    return { ...button, url: url.base_url, ...example };
  });
  const [stray] = left;
  if (stray === undefined) return filled;
  throw graphError(100, `(#100) Param library_template_button_inputs names a ${stray.type} button too many.`);
}

function invalidChoice(userMessage: string) {
  return unnumberedManagementError('Invalid library template', userMessage);
}
