import { hashKey } from '../keys/hash-key.ts';

const nameCharacters = 24;
const checkCharacters = 8;
const shape = /^[a-z2-7]{32}$/;

/**
 * Returns the code of one button's URL (D19). 24 characters hash button and URL, so retries make the same code. An
 * 8-character checksum shows which buttons are redirects. It is no secret: a forged code leads nowhere.
 */
export function redirectCode(button: {
  readonly templateKey: string;
  readonly place: string;
  readonly url: string;
}): string {
  const name = hashKey(['redirect', button.templateKey, button.place, button.url], nameCharacters);
  return `${name}${checkOf(name)}`;
}

export function isRedirectCode(text: string): boolean {
  return shape.test(text) && checkOf(text.slice(0, nameCharacters)) === text.slice(nameCharacters);
}

function checkOf(name: string): string {
  return hashKey(['redirect check', name], checkCharacters);
}
