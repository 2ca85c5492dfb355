import { messagingError } from '../errors.ts';
import { variablesOf } from '../templates/template.ts';
import type { SentParameter } from './message-body.ts';

export interface TextPlace {
  /** The details name the part `body` or `carousel card 1 body`. */
  readonly where: string;
  readonly named: boolean;
  readonly mostCharacters: number;
}

/** Checks kind, count, names and values, and the length of the filled text. */
export function checkTexts(place: TextPlace, text: string | undefined, parameters: readonly SentParameter[]): void {
  const variables = variablesOf(text);
  const values = parameters.map((parameter) => textValueOf(place.where, parameter));
  if (parameters.length !== variables.length) throw countMismatch(place.where, parameters.length, variables.length);
  const names = place.named ? namesOf(parameters, variables) : parameters.map((_, index) => String(index + 1));
  const filled = new Map(names.map((name, index) => [name, values[index] ?? '']));
  const whole = (text ?? '').replaceAll(/\{\{\s*([^{}\s]+)\s*\}\}/g, (_, name: string) => filled.get(name) ?? '');
  checkLength(place.where, whole, place.mostCharacters);
}

export function countMismatch(where: string, received: number, expected: number) {
  return messagingError(
    132000,
    `${where}: number of localizable_params (${received}) does not match the expected number of params (${expected})`,
  );
}

export function formatMismatch(where: string, expected: string, received: string) {
  return messagingError(
    132012,
    `${where}: Format mismatch, expected ${expected.toUpperCase()}, received ${received.toUpperCase()}`,
  );
}

/** Returns the value of a variable. Refuses other kinds, empty values and forbidden white space. */
export function textValueOf(where: string, parameter: SentParameter): string {
  if (parameter.type === 'currency') return checkedText(parameter.currency.fallback_value);
  if (parameter.type === 'date_time') return checkedText(parameter.date_time.fallback_value);
  if (parameter.type !== 'text') throw formatMismatch(where, 'TEXT', parameter.type);
  return checkedText(parameter.text ?? '');
}

export function checkLength(where: string, text: string, most: number): void {
  if ([...text].length > most) throw messagingError(132005, `${where}: the filled text exceeds ${most} characters`);
}

function checkedText(text: string): string {
  if (text.trim() === '') throw messagingError(131008, 'Parameter of type text is missing text value');
  if (/[\n\r\t]| {5}/.test(text)) {
    throw messagingError(100, 'Param text cannot have new-line/tab characters or more than 4 consecutive spaces');
  }
  return text;
}

function namesOf(parameters: readonly SentParameter[], variables: readonly string[]): readonly string[] {
  const names = parameters.map((parameter) => ('parameter_name' in parameter ? parameter.parameter_name : undefined));
  return names.map((name, index) => {
    if (name === undefined || name === '') throw messagingError(100, 'Parameter name is missing or empty');
    if (!variables.includes(name) || names.indexOf(name) !== index) {
      throw messagingError(100, `Parameter name (${name}) does not match the template's parameter names`);
    }
    return name;
  });
}
