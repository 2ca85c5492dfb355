import { managementError } from '../../errors.ts';
import type { GivenPart } from '../definition.ts';
import { bodyFormat, checkCharacters, checkKeys, footerFormat, invalid, missingExample } from './refusals.ts';

export interface TextPlace {
  /** User texts name the part `body` or `card 1 body`. */
  readonly where: string;
  readonly named: boolean;
  readonly mostCharacters: number;
  readonly subcode: number;
}

type Example = GivenPart['example'];

const variable = /\{\{([^{}]*)\}\}/g;
const mostEmoji = 10;

/** Checks length, variables and their places (3.10); returns each variable once. */
export function checkText(place: TextPlace, text: string): readonly string[] {
  const { where, subcode } = place;
  if (text.trim() === '') throw managementError(subcode, `${where}: a text is required`);
  checkCharacters(where, text, place.mostCharacters);
  const names = [...text.matchAll(variable)].map((match) => match[1] ?? '');
  const rest = text.replaceAll(variable, '');
  if (/\{\{|\}\}/.test(rest)) throw managementError(subcode, `${where}: a variable is not closed or not opened`);
  const variables = place.named ? namedVariables(place, names) : positionalVariables(place, names);
  if (names.length === 0) return [];
  if (rest.trim() === '') throw invalid(`${where}: it consists of variables only`);
  // Headers may end with a variable: such templates are in use. No source tells about the beginning.
  if (subcode === bodyFormat && /^\s*\{\{|\}\}\s*$/.test(text)) {
    throw managementError(2388299, `${where}: variables can't be at the start or end`);
  }
  if (!/[\p{L}\p{N}]/u.test(rest)) {
    throw managementError(2388293, `${where}: too many variables for its length`);
  }
  return variables;
}

function positionalVariables(place: TextPlace, names: readonly string[]): readonly string[] {
  const distinct = [...new Set(names)];
  const expected = distinct.map((_, index) => String(index + 1));
  if (expected.some((number) => !distinct.includes(number))) {
    throw managementError(place.subcode, `${place.where}: variables must be {{1}}, {{2}} and so on without a gap`);
  }
  return expected;
}

function namedVariables(place: TextPlace, names: readonly string[]): readonly string[] {
  if (names.some((name) => !/^[a-z][a-z0-9_]*$/.test(name))) {
    throw managementError(place.subcode, `${place.where}: names of variables are lower-case letters, digits and _`);
  }
  if (new Set(names).size < names.length) {
    throw managementError(place.subcode, `${place.where}: a variable's name may stand only once`);
  }
  return names;
}

/** Every variable needs exactly one example. */
export function checkExamples(
  place: TextPlace,
  variables: readonly string[],
  given: {
    readonly positional: readonly string[] | undefined;
    readonly named: NonNullable<Example>['body_text_named_params'];
  },
): void {
  const values = place.named ? given.named?.map((one) => one.example) : given.positional;
  const names = given.named?.map((one) => one.param_name) ?? [];
  const complete =
    (values?.length ?? 0) === variables.length &&
    (values ?? []).every((value) => value.trim() !== '') &&
    (!place.named || variables.every((name) => names.includes(name)));
  if (!complete) throw missingExample(place.where);
}

/** Checks a body outside of AUTHENTICATION (3.4). */
export function checkBody(place: Omit<TextPlace, 'subcode'>, body: GivenPart): void {
  const { where } = place;
  checkKeys(where, body, ['type', 'text', 'example']);
  const whole = { ...place, subcode: bodyFormat };
  const text = body.text ?? '';
  const variables = checkText(whole, text);
  if (/\n\s*\n\s*\n/.test(text)) throw invalid(`${where}: at most two line breaks in a row`);
  if ([...text.matchAll(/\p{RGI_Emoji}/gv)].length > mostEmoji) throw invalid(`${where}: at most ${mostEmoji} emoji`);
  const lists = body.example?.body_text ?? [];
  if (lists.length > 1) throw missingExample(where);
  checkExamples(whole, variables, { positional: lists[0], named: body.example?.body_text_named_params });
}

/** Checks a footer outside of AUTHENTICATION (3.5). */
export function checkFooter(footer: GivenPart): void {
  checkKeys('footer', footer, ['type', 'text']);
  const text = footer.text ?? '';
  if (text.trim() === '') throw managementError(footerFormat, 'footer: a text is required');
  if (/\{\{|\}\}/.test(text)) throw managementError(footerFormat, "footer: variables aren't supported");
  checkCharacters('footer', text, 60);
}
