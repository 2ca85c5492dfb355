import { managementError, type PlatformError, unnumberedManagementError } from '../../errors.ts';

/** The format of components has these subcodes (6.3). */
export const headerFormat = 2388047;
export const bodyFormat = 2388072;
export const footerFormat = 2388073;

/** Builds a refusal without a subcode. */
export function invalid(userMessage: string): PlatformError {
  return unnumberedManagementError('Invalid parameter', userMessage);
}

export function missingExample(where: string): PlatformError {
  return managementError(2388043, `${where}: every variable and every medium needs exactly one example`);
}

/** Counts Unicode code points. */
export function checkCharacters(where: string, text: string, most: number): void {
  if ([...text].length > most) throw managementError(2388040, `${where}: at most ${most} characters`);
}

/** Refuses keys of another kind of component, such as a text in a LOCATION header. */
export function checkKeys(where: string, part: object, allowed: readonly string[]): void {
  const stray = Object.entries(part).find(([key, value]) => value !== undefined && !allowed.includes(key));
  if (stray !== undefined) throw invalid(`${where}: ${stray[0]} does not belong here`);
}

/** Checks the label of any button (3.6). The platform does not publish what counts as formatting; a slash does not. */
export function checkLabel(label: string): void {
  if (/\{\{|\}\}|[\n\r*_~`]|\p{RGI_Emoji}/v.test(label)) {
    throw managementError(2388060, "Buttons can't have any variables, newlines, emojis or formatting characters.");
  }
}
