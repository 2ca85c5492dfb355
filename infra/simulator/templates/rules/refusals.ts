import { managementError, type PlatformError, unnumberedManagementError } from '../../errors.ts';

/** The subcodes of the components' formats (6.3). */
export const headerFormat = 2388047;
export const bodyFormat = 2388072;
export const footerFormat = 2388073;

/** What is wrong has no subcode of its own. */
export function invalid(userMessage: string): PlatformError {
  return unnumberedManagementError('Invalid parameter', userMessage);
}

export function missingExample(where: string): PlatformError {
  return managementError(2388043, `${where}: every variable and every medium needs exactly one example`);
}

/** A character is a Unicode code point. */
export function checkCharacters(where: string, text: string, most: number): void {
  if ([...text].length > most) throw managementError(2388040, `${where}: at most ${most} characters`);
}

/** Refuses keys that do not belong to this kind of part, such as a text in a LOCATION header. */
export function checkKeys(where: string, part: object, allowed: readonly string[]): void {
  const stray = Object.entries(part).find(([key, value]) => value !== undefined && !allowed.includes(key));
  if (stray !== undefined) throw invalid(`${where}: ${stray[0]} does not belong here`);
}

/** A label of any button (3.6). What counts as formatting is not published; a slash is none. */
export function checkLabel(label: string): void {
  if (/\{\{|\}\}|[\n\r*_~`]|\p{RGI_Emoji}/v.test(label)) {
    throw managementError(2388060, "Buttons can't have any variables, newlines, emojis or formatting characters.");
  }
}
