import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ParametersView } from '../../../../lib/messages/request/needed-at-send.ts';

/** The template can be sent (D49). */
export interface TypedTemplate {
  readonly name: string;
  readonly language: string;
  readonly parameters: ParametersView;
}

const prelude = readFileSync(join(import.meta.dirname, 'prelude.ts'), 'utf8').replace(/^\/\/.*\n+/, '');

/**
 * Returns a TypeScript module with the types of a client's sends: the values of each part, by name and language.
 * Templates with the same name and language on two WABAs form a union. The text is deterministic.
 */
export function templateTypes(clientId: number, templates: readonly TypedTemplate[]): string {
  return [
    `// The templates that client ${clientId} can send. Made by \`infra/ops template-types\`; do not edit.`,
    '',
    prelude.trimEnd(),
    '',
    '/** What sending takes, by name and language. */',
    `export interface Templates ${byName(templates)}`,
    '',
    'export type TemplateName = keyof Templates;',
    '',
    '/** A send of this template. */',
    'export type SendOf<Name extends TemplateName, Language extends keyof Templates[Name]> = SendFor<',
    '  Name,',
    '  Language,',
    '  Templates[Name][Language]',
    '>;',
    '',
    '/** The send as it is, checked by the template that it names: name and language are inferred. */',
    'export function sendOf<const Name extends TemplateName, const Language extends keyof Templates[Name]>(',
    '  send: SendOf<Name, Language>,',
    '): SendOf<Name, Language> {',
    '  return send;',
    '}',
    '',
    '/** A recipient of this template. */',
    'export type RecipientOf<Name extends TemplateName, Language extends keyof Templates[Name]> = RecipientFor<',
    '  Templates[Name][Language]',
    '>;',
    '',
    '/** A send of any of the templates; of a wrong one the compiler may speak as of another template, so prefer `sendOf`. */',
    'export type Send = SendForAny<Templates>;',
    '',
  ].join('\n');
}

function byName(templates: readonly TypedTemplate[]): string {
  const names = [...Map.groupBy(templates, ({ name }) => name)].sort(byText);
  if (names.length === 0) return '{}';
  const lines = names.map(([name, ofName]) => {
    const languages = [...Map.groupBy(ofName, ({ language }) => language)].sort(byText);
    const needs = languages.map(([language, either]) => {
      const kinds = new Set(either.map(({ parameters }) => needsOf(parameters, `${name} ${language}`)));
      return `    readonly ${JSON.stringify(language)}: ${[...kinds].sort().join(' | ')};\n`;
    });
    return `  readonly ${JSON.stringify(name)}: {\n${needs.join('')}  };\n`;
  });
  return `{\n${lines.join('')}}`;
}

function byText([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

const mediaHeader = (type: string) =>
  `{ readonly type: '${type}'; readonly value: string; readonly filename?: string }`;
const locationHeader =
  "{ readonly type: 'location'; readonly location: { readonly latitude: string; readonly longitude: string; readonly name: string; readonly address: string } }";

function needsOf({ params, component }: ParametersView, template: string): string {
  const { header } = component;
  return object({
    params: paramsOf(params, template),
    header: header && (header.type === 'location' ? locationHeader : mediaHeader(header.type)),
  });
}

/** Returns undefined when nothing is variable: `params` can be left out. */
function paramsOf(
  { header, products, cards, ...parts }: ParametersView['params'],
  template: string,
): string | undefined {
  const params = {
    header: header && texts(header.count, template),
    ...partsOf(parts, template),
    products: products && `readonly [${productOf(products)}]`,
    cards: cards && `readonly [${cards.map((card) => exactly(partsOf(card, template))).join(', ')}]`,
  };
  return Object.values(params).some((type) => type !== undefined) ? object(params) : undefined;
}

type Parts = Pick<ParametersView['params'], 'body' | 'buttons'>;

function partsOf({ body, buttons }: Parts, template: string) {
  return { body: body && texts(body.count, template), buttons: buttons && texts(buttons.length, template) };
}

/** A card also lists only what it needs. */
function exactly(parts: ReturnType<typeof partsOf>): string {
  return `Exactly<${object(parts)}, 'body' | 'buttons'>`;
}

function texts(count: number, template: string): string {
  return `ValuesOf<${JSON.stringify(template)}, readonly [${Array(count).fill('string').join(', ')}]>`;
}

function productOf({ kind }: { readonly kind?: unknown }): string {
  const sections =
    'readonly sections: readonly { readonly title: string; readonly product_items: readonly { readonly product_retailer_id: string }[] }[]';
  const action = `{ readonly thumbnailProductRetailerId: string${kind === 'list' ? `; ${sections}` : ''} }`;
  return `{ readonly type: 'action'; readonly action: ${action} }`;
}

/** Lists only needed fields; `object` is for a template without variables. */
function object(fields: Readonly<Record<string, string | undefined>>): string {
  const needed = Object.entries(fields).flatMap(([name, type]) =>
    type === undefined ? [] : `readonly ${name}: ${type}`,
  );
  return needed.length === 0 ? 'object' : `{ ${needed.join('; ')} }`;
}
