import { hashKey } from '../keys/hash-key.ts';

const nameCharacters = 24;
const checkCharacters = 8;
const shape = /^[a-z2-7]{32}$/;

/**
 * The code under which one button of one template leads to one URL (D19). The first 24 characters name button and URL,
 * so a request repeated makes the same code; the last 8 are a checksum, so a template read back says which of its
 * buttons are redirects. No secret: who forges one gets a link that leads nowhere.
 */
export function redirectCode(button: {
  readonly templateKey: string;
  /** Where the button stands in the template. */
  readonly place: string;
  readonly url: string;
}): string {
  const name = hashKey(['redirect', button.templateKey, button.place, button.url], nameCharacters);
  return `${name}${checkOf(name)}`;
}

/** Whether a text is a code that `redirectCode` can have made. */
export function isRedirectCode(text: string): boolean {
  return shape.test(text) && checkOf(text.slice(0, nameCharacters)) === text.slice(nameCharacters);
}

function checkOf(name: string): string {
  return hashKey(['redirect check', name], checkCharacters);
}
